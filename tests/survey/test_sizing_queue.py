"""The queue of heavy measurements."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Role, Unreadable
from gitdash.model.sizes import Question, SizeMeasurement, Sizes, Strategy
from gitdash.survey.measure import SizingQueue

WAIT_S = 20.0


def report(name: str) -> RepositoryReport:
    path = os.fsencode(Path("/fleet") / name)
    return RepositoryReport(
        repository=Repository(path=path, git_dir=path, common_dir=path, kind=RepositoryKind.BARE, root=b"/fleet"),
        roles=(Role.PLAIN,),
        borrowers=(),
        inspection=Unreadable("not looked at"),
        sizes=Sizes(),
        findings=(),
        state=State.OK,
    )


class Gate:
    """Stands in for git: each measurement waits until the gate is open, and is written down."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.running: list[str] = []
        self.together: list[tuple[str, ...]] = []
        self.answers: list[tuple[str, SizeMeasurement | Unreadable]] = []
        self.is_open = threading.Event()
        self.begun = threading.Semaphore(0)
        self.lock = threading.Lock()

    def __call__(
        self, report: RepositoryReport, question: Question, *, cancel: threading.Event
    ) -> SizeMeasurement | Unreadable:
        name = os.path.basename(os.fsdecode(report.repository.path))
        with self.lock:
            self.started.append(name)
            self.running.append(name)
            self.together.append(tuple(self.running))
        self.begun.release()
        while not self.is_open.wait(0.01) and not cancel.is_set():
            pass
        with self.lock:
            self.running.remove(name)
        if name == "bad":
            raise GitError("git said no", kind=GitFailure.FAILED)
        if name == "worse":
            raise RuntimeError("not foreseen")
        return SizeMeasurement(
            question=question,
            bytes=1,
            strategy=Strategy.WALK,
            exact=True,
            elapsed_s=0.0,
            measured_at_s=0.0,
            argv=(),
            git_version="2",
        )

    def keep(self, report: RepositoryReport, _: Question, answer: SizeMeasurement | Unreadable) -> None:
        self.answers.append((os.path.basename(os.fsdecode(report.repository.path)), answer))


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def queue(gate: Gate) -> Iterator[SizingQueue]:
    with SizingQueue(gate, on_measured=gate.keep, thread_count=1) as opened:
        yield opened


def test_what_is_prioritised_comes_first(gate: Gate, queue: SizingQueue) -> None:
    for name in ("a", "b", "c", "d"):
        queue.submit(report(name), [Question.REACHABLE])
    assert gate.begun.acquire(timeout=WAIT_S)
    queue.prioritise([b"/fleet/d", b"/fleet/c", b"/fleet/unknown"])
    gate.is_open.set()
    assert queue.wait_until_done(WAIT_S)
    assert gate.started == ["a", "d", "c", "b"]


def test_a_failure_is_an_unreadable_answer_and_the_next_is_measured(gate: Gate, queue: SizingQueue) -> None:
    gate.is_open.set()
    queue.submit(report("bad"), [Question.REACHABLE])
    queue.submit(report("worse"), [Question.REACHABLE])
    queue.submit(report("good"), [Question.REACHABLE])
    assert queue.wait_until_done(WAIT_S)
    answers = dict(gate.answers)
    assert answers["bad"] == Unreadable("git said no")
    assert answers["worse"] == Unreadable("gitdash failed: RuntimeError: not foreseen")
    assert isinstance(answers["good"], SizeMeasurement)


def test_a_repository_is_measured_by_one_thread_at_a_time(gate: Gate) -> None:
    with SizingQueue(gate, on_measured=gate.keep, thread_count=3) as queue:
        queue.submit(report("a"), [Question.REACHABLE])
        assert gate.begun.acquire(timeout=WAIT_S)
        queue.submit(report("a"), [Question.REACHABLE_OWN])
        queue.submit(report("b"), [Question.REACHABLE])
        assert gate.begun.acquire(timeout=WAIT_S)
        gate.is_open.set()
        assert queue.wait_until_done(WAIT_S)
    assert sorted(gate.started) == ["a", "a", "b"]
    assert all(names.count("a") <= 1 for names in gate.together)


def test_no_more_are_measured_at_once_than_there_are_threads(gate: Gate) -> None:
    with SizingQueue(gate, on_measured=gate.keep, thread_count=2) as queue:
        for name in "abcdef":
            queue.submit(report(name), [Question.REACHABLE])
        assert gate.begun.acquire(timeout=WAIT_S)
        assert gate.begun.acquire(timeout=WAIT_S)
        gate.is_open.set()
        assert queue.wait_until_done(WAIT_S)
    assert max(map(len, gate.together)) == 2


def test_closing_cancels_what_runs_and_drops_what_waits(gate: Gate) -> None:
    queue = SizingQueue(gate, on_measured=gate.keep, thread_count=1)
    queue.submit(report("a"), list(Question))
    queue.submit(report("b"), list(Question))
    assert gate.begun.acquire(timeout=WAIT_S)
    queue.close()
    assert queue.wait_until_done(0)
    assert gate.started == ["a"]
    assert gate.answers == []
