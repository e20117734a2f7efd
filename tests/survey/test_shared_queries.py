"""How often git is asked for sizes: once for each query, whoever wants its answer."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from gitdash.config.settings import Settings
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.installed import find_git
from gitdash.model.sizes import Question, SizeMeasurement, Strategy
from gitdash.survey.shared_queries import SharedQueries
from gitdash.survey.single import find_repository, report_single
from gitdash.survey.sizing import Sizing
from tests.support.repositories import GIT, GitRepository

NOW_S = 1_900_000_000.0
LIMIT_S = 20.0
NEVER = threading.Event()


class CountingGit:
    """A git that writes down its size queries."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "queries"
        program = folder / "counting-git"
        program.write_text(
            f'#!/bin/sh\ncase "$*" in *--disk-usage*) echo "$*" >> "{self._log}";; esac\nexec {GIT} "$@"\n'
        )
        program.chmod(0o755)
        self.program = find_git(os.fspath(program))

    def query_count(self) -> int:
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0

    def sizes(self, repository: GitRepository) -> tuple[int, int]:
        """Ask for both sizes, without a state file."""
        found = find_repository(os.fsencode(repository.path), settings=Settings(), effective_uid=os.geteuid())
        report = report_single(
            found, settings=Settings(), history=None, program=self.program, effective_uid=os.geteuid(), now_s=NOW_S
        ).facts
        sizing = Sizing(self.program, history=None, clock=lambda: NOW_S, time_limit_s=60.0)
        answers = [sizing(report, question, cancel=NEVER) for question in Question]
        sizes = [answer for answer in answers if isinstance(answer, SizeMeasurement)]
        assert [size.question for size in sizes] == [*Question]
        return sizes[0].bytes, sizes[1].bytes


@pytest.fixture
def git(tmp_path: Path) -> CountingGit:
    return CountingGit(tmp_path)


def packed(path: Path) -> GitRepository:
    repository = GitRepository.init(path)
    repository.commit({"a": "one\n" * 50})
    repository.repack()
    return repository


@pytest.mark.oracle
def test_both_sizes_are_one_query_where_there_is_no_lender(tmp_path: Path, git: CountingGit) -> None:
    repository = packed(tmp_path / "r.git")
    said = int(repository.git("rev-list", "--all", "--objects", "--disk-usage"))
    assert git.sizes(repository) == (said, said)
    assert git.query_count() == 1
    git.sizes(repository)
    assert git.query_count() == 2


def test_each_size_is_a_query_where_there_is_a_lender(tmp_path: Path, git: CountingGit) -> None:
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(packed(tmp_path / "pool.git"))
    member.commit({"b": "two\n"})
    member.repack("-l")
    git.sizes(member)
    assert git.query_count() >= 2


def until_true(is_reached: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not is_reached():
        assert time.monotonic() < deadline_s
        threading.Event().wait(0.005)


class Asked:
    """Questions that are asked side by side, and a git that answers when it is let go."""

    def __init__(self) -> None:
        self.queries = SharedQueries()
        self.pool = ThreadPoolExecutor(8)
        self.go = threading.Event()
        self.begun: list[threading.Event] = []
        self.ends_with: Callable[[], SizeMeasurement] = lambda: SIZE

    def ask(self, question: Question, cancel: threading.Event = NEVER) -> "Future[SizeMeasurement]":
        def query() -> SizeMeasurement:
            self.begun.append(cancel)
            while not self.go.wait(0.005):
                if cancel.is_set():
                    raise GitError("cancelled", kind=GitFailure.CANCELLED)
            return self.ends_with()

        return self.pool.submit(self.queries.answer, b"key", question, query, cancel)


SIZE = SizeMeasurement(
    question=Question.REACHABLE,
    bytes=1,
    strategy=Strategy.WALK,
    exact=True,
    elapsed_s=0.0,
    measured_at_s=0.0,
    argv=(),
    git_version="2",
)


def test_who_asks_meanwhile_waits_and_both_get_both_answers_of_one_query() -> None:
    asked = Asked()
    first = asked.ask(Question.REACHABLE)
    until_true(lambda: len(asked.begun) == 1)
    second = asked.ask(Question.REACHABLE)
    until_true(lambda: asked.queries._queries[b"key"].owed[Question.REACHABLE_OWN] == 2)
    asked.go.set()
    answers = [first.result(LIMIT_S), second.result(LIMIT_S)]
    answers += [asked.ask(Question.REACHABLE_OWN).result(LIMIT_S) for _ in range(2)]
    assert answers == [SIZE] * 4
    assert len(asked.begun) == 1
    asked.ask(Question.REACHABLE_OWN).result(LIMIT_S)
    assert len(asked.begun) == 2


def test_failure_is_the_answer_to_both_questions_and_is_asked_for_again_after_that() -> None:
    asked = Asked()
    asked.go.set()

    def fail() -> SizeMeasurement:
        raise GitError("did not end within 600 s", kind=GitFailure.TIMED_OUT)

    asked.ends_with = fail
    for question in Question:
        with pytest.raises(GitError, match="600 s"):
            asked.ask(question).result(LIMIT_S)
    assert len(asked.begun) == 1
    asked.ends_with = lambda: SIZE
    assert asked.ask(Question.REACHABLE).result(LIMIT_S) == SIZE


def test_cancelling_one_leaves_the_answer_to_the_other() -> None:
    asked = Asked()
    cancel, other_cancel = threading.Event(), threading.Event()
    first = asked.ask(Question.REACHABLE, cancel)
    until_true(lambda: asked.begun == [cancel])
    second = asked.ask(Question.REACHABLE)
    third = asked.ask(Question.REACHABLE, other_cancel)
    until_true(lambda: asked.queries._queries[b"key"].owed[Question.REACHABLE_OWN] == 3)
    other_cancel.set()
    with pytest.raises(GitError):
        third.result(LIMIT_S)
    cancel.set()
    with pytest.raises(GitError):
        first.result(LIMIT_S)
    until_true(lambda: len(asked.begun) == 2)
    asked.go.set()
    assert second.result(LIMIT_S) == SIZE
