"""Readers of single objects while packs go: they hold none that is deleted, answer all the same, and are warm after."""

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import psutil
import pytest

from gitdash.gitcmd.git_program import GitProgram
from gitdash.maintenance.running import run_task
from gitdash.model.ledger import Outcome
from gitdash.model.lookup import ObjectAnswer
from gitdash.model.task import Task
from gitdash.survey.readers import Readers
from tests.support.repositories import GIT, GitRepository
from tests.support.task_runs import planned, program, report_of

LIMIT_S = 30.0
REPLACING = (Task.FULL_REPACK, Task.GEOMETRIC_REPACK, Task.MULTI_PACK_INDEX, Task.INCREMENTAL_REPACK)


def grow(repository: GitRepository, round_number: int, *, pack_count: int = 4) -> str:
    """Add commits, each in a pack of its own; return the last one."""
    tip = ""
    for number in range(pack_count):
        reference = f"refs/heads/r{round_number}-{number}"
        tip = repository.commit({"a": os.urandom(20_000), "b": str(number)}, reference=reference)
        repository.git("repack", "-d", "-q")
    return tip


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "one.git")
    made.commit({"a": "1"})
    grow(made, 0)
    return made


@contextmanager
def open_readers(**options: object) -> Iterator[Readers]:
    readers = Readers(**({"program": program()} | options))  # type: ignore[arg-type]
    try:
        yield readers
    finally:
        readers.close_all()


def store_dir(repository: GitRepository) -> bytes:
    return os.fsencode(repository.git_dir)


def run(repository: GitRepository, task: Task, readers: Readers, *, borrowers: Sequence[GitRepository] = ()) -> None:
    """Run a task as the dashboard does: readers are held off while packs go, and opened again after."""
    known = [repository, *borrowers]

    def warm() -> None:
        for path in readers.allow(store_dir(repository)):
            (ended,) = (one for one in known if os.fsencode(one.path) == path)
            readers.times(report_of(ended))

    report = report_of(repository, borrowers=borrowers)
    result = run_task(
        report,
        planned(task, report),
        look=lambda: report_of(repository, borrowers=borrowers),
        program=program(),
        cancel=threading.Event(),
        on_step=lambda *_: None,
        close_readers=lambda: readers.hold_off(store_dir(repository)),
        warm_readers=warm,
        now_s=time.time(),
    )
    assert result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}, result.sentence


def reading_processes() -> list[psutil.Process]:
    """Children of this process that answer for single objects; those that only begin or end, not."""
    found = []
    for child in psutil.Process().children():
        try:
            if child.name() == "git" and "cat-file" in child.cmdline():
                found.append(child)
        except psutil.Error:
            continue
    return found


def deleted_packs(process: psutil.Process) -> set[str]:
    """What a process has open or mapped of packs that are deleted, after proc(5)."""
    folder = Path("/proc", str(process.pid))
    try:
        texts = [os.readlink(link) for link in (folder / "fd").iterdir()]
        texts += (folder / "maps").read_text().splitlines()
    except OSError:
        return set()
    return {text for text in texts if "/objects/pack/" in text and text.endswith(" (deleted)")}


@dataclass
class Watch:
    """Looks at our readers again and again, until it is told that all is over."""

    over: threading.Event = field(default_factory=threading.Event)
    held_by: dict[int, set[str]] = field(default_factory=dict)
    look_count: int = 0

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self.over.is_set():
            self.look_count += 1
            for process in reading_processes():
                if found := deleted_packs(process):
                    self.held_by.setdefault(process.pid, set()).update(found)
            time.sleep(0.001)


def wait_until(is_reached: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not is_reached():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


def test_a_reader_that_is_left_open_holds_what_a_repack_deletes(repository: GitRepository) -> None:
    """What all of this is about, and that these tests would see it."""
    report = report_of(repository)
    with open_readers() as readers:
        for tip in repository.git("for-each-ref", "--format=%(objectname)").split():
            assert readers.look_up(report, tip).type == "commit"
        repository.repack()
        (reader,) = reading_processes()
        assert deleted_packs(reader)


@pytest.mark.parametrize("task", REPLACING)
def test_no_reader_holds_a_deleted_pack_during_or_after(repository: GitRepository, task: Task) -> None:
    member = GitRepository.init(repository.path.parent / "member.git")
    member.borrow_from(repository)
    tips = repository.git("for-each-ref", "--format=%(objectname)").split()
    with open_readers() as readers:
        # a multi-pack-index, so that there is something to expire, and loose objects, so that it has to change
        run(repository, Task.MULTI_PACK_INDEX, readers)
        grow(repository, 1)
        for one in (repository, member):
            assert {readers.look_up(report_of(one), tip).type for tip in tips} == {"commit"}
        before = {process.pid for process in reading_processes()}
        assert len(before) == 2
        with Watch() as watch:
            run(repository, task, readers, borrowers=[member])
        after = {process.pid for process in reading_processes()}
        assert watch.look_count > 3
        assert watch.held_by == {}
        assert len(after) == 2
        assert not after & before
        for one in (repository, member):
            assert {readers.look_up(report_of(one), tip).type for tip in tips} == {"commit"}
        assert {process.pid for process in reading_processes()} == after
        assert not any(map(deleted_packs, reading_processes()))


@pytest.mark.oracle
def test_look_ups_in_parallel_with_repacks_all_succeed(repository: GitRepository) -> None:
    member = GitRepository.init(repository.path.parent / "member.git")
    member.borrow_from(repository)
    reports = {one.path: report_of(one) for one in (repository, member)}
    listed = repository.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    over = threading.Event()
    answered: dict[Path, int] = {}
    wrong: list[ObjectAnswer] = []

    def ask(path: Path) -> None:
        while not over.is_set():
            for line in listed:
                answer = readers.look_up(reports[path], line.split()[0])
                if f"{answer.object_id} {answer.type} {answer.bytes}" != line:
                    wrong.append(answer)
                answered[path] = answered.get(path, 0) + 1

    with open_readers() as readers:
        threads = [threading.Thread(target=ask, args=(path,)) for path in reports]
        for thread in threads:
            thread.start()
        try:
            for number, task in enumerate(REPLACING, 1):
                before = dict(answered)
                run(repository, task, readers, borrowers=[member])
                assert {path for path in reports if answered.get(path, 0) > before.get(path, 0)} == set(reports), task
                grow(repository, number, pack_count=2)
        finally:
            over.set()
            for thread in threads:
                thread.join()
        assert wrong == []
        assert len(reading_processes()) == 2
        assert not any(map(deleted_packs, reading_processes()))


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="no processor times in nanoseconds")
def test_first_look_up_after_a_repack_is_as_fast_as_a_warm_one(repository: GitRepository) -> None:
    """As processor time, of this thread and of git: on a busy machine a clock would say how busy it is."""
    first_s, warm_s = [], []
    with open_readers() as readers:
        readers.times(report_of(repository))
        for number in range(1, 8):
            tip = grow(repository, number, pack_count=2)
            run(repository, Task.FULL_REPACK, readers)
            first_s.append(_look_up_s(readers, repository, tip))
            warm_s += [_look_up_s(readers, repository, tip) for _ in range(5)]
    assert statistics.median(first_s) <= 5 * statistics.median(warm_s)


def _look_up_s(readers: Readers, repository: GitRepository, object_id: str) -> float:
    report = report_of(repository)
    git_s = _readers_cpu_s()
    started_s = time.thread_time()
    assert readers.look_up(report, object_id).type == "commit"
    elapsed_s = time.thread_time() - started_s
    return elapsed_s + _readers_cpu_s() - git_s


def _readers_cpu_s() -> float:
    """After proc_pid_schedstat in the kernel's documentation: nanoseconds on a processor come first."""
    texts = [Path(f"/proc/{process.pid}/schedstat").read_text() for process in reading_processes()]
    return sum(int(text.split()[0]) for text in texts) / 1e9


def test_a_question_that_is_being_answered_is_asked_again_of_another_reader(
    repository: GitRepository, tmp_path: Path
) -> None:
    """The first git hangs with the question; it is killed before packs go, and nobody hears of it."""
    tip = repository.git("rev-parse", "main")
    hanging = tmp_path / "git"
    hanging.write_text(
        f"#!/bin/sh\nif mkdir {tmp_path}/once 2>/dev/null; then read -r x; >{tmp_path}/asked; exec sleep 1000; fi\n"
        f'exec {GIT} "$@"\n'
    )
    hanging.chmod(0o755)
    slow = GitProgram(path=os.fspath(hanging), version=program().version, version_text="test")
    report = report_of(repository)
    answers: list[ObjectAnswer] = []
    with open_readers(program=slow, time_limit_s=60.0) as readers:
        thread = threading.Thread(target=lambda: answers.append(readers.look_up(report, tip)))
        thread.start()
        wait_until((tmp_path / "asked").exists)
        readers.hold_off(store_dir(repository))
        assert not [child for child in psutil.Process().children() if child.name() == "sleep"]
        thread.join(LIMIT_S)
        assert [answer.type for answer in answers] == ["commit"]
        assert reading_processes() == []
        assert readers.allow(store_dir(repository)) == {os.fsencode(repository.path)}


def test_while_packs_go_a_reader_ends_with_its_question(repository: GitRepository) -> None:
    tip = repository.git("rev-parse", "main")
    report = report_of(repository)
    with open_readers() as readers:
        readers.hold_off(store_dir(repository))
        readers.hold_off(store_dir(repository))
        assert readers.look_up(report, tip).type == "commit"
        assert reading_processes() == []
        readers.times(report)
        assert reading_processes() == []
        assert readers.allow(store_dir(repository)) == frozenset()
        assert readers.look_up(report, tip).type == "commit"
        assert reading_processes() == []
        assert readers.allow(store_dir(repository)) == {os.fsencode(repository.path)}
        assert readers.look_up(report, tip).type == "commit"
        assert len(reading_processes()) == 1


def test_one_that_is_opened_while_packs_go_ends_even_if_its_question_ends_later(
    repository: GitRepository, tmp_path: Path
) -> None:
    """It may have opened what was deleted meanwhile. It is asked only once it is known to be open."""
    os.mkfifo(tmp_path / "gate")
    slow = tmp_path / "git"
    slow.write_text(
        f"#!/bin/sh\nread -r question; >{tmp_path}/asked; cat {tmp_path}/gate\n"
        f"""{{ printf '%s\\n' "$question"; exec cat; }} | {GIT} "$@"\n"""
    )
    slow.chmod(0o755)
    tip = repository.git("rev-parse", "main")
    report = report_of(repository)
    answers: list[ObjectAnswer] = []
    waiting = GitProgram(path=os.fspath(slow), version=program().version, version_text="test")
    with open_readers(program=waiting, time_limit_s=60.0) as readers:
        readers.hold_off(store_dir(repository))
        thread = threading.Thread(target=lambda: answers.append(readers.look_up(report, tip)))
        thread.start()
        wait_until((tmp_path / "asked").exists)
        assert readers.allow(store_dir(repository)) == {os.fsencode(repository.path)}
        (tmp_path / "gate").open("wb").close()
        thread.join(LIMIT_S)
        assert [answer.type for answer in answers] == ["commit"]
        assert reading_processes() == []


def test_a_repository_that_nobody_asked_about_is_not_opened_after(repository: GitRepository) -> None:
    with open_readers() as readers:
        run(repository, Task.FULL_REPACK, readers)
        assert reading_processes() == []


@pytest.mark.parametrize("called_by", ["link to the repository", "link to its objects"])
def test_borrowers_that_know_a_lender_by_another_name_let_go_of_its_packs(
    repository: GitRepository, tmp_path: Path, called_by: str
) -> None:
    member = GitRepository.init(tmp_path / "member.git")
    link = tmp_path / "link"
    target = repository.path if called_by == "link to the repository" else repository.path / "objects"
    link.symlink_to(target)
    named = link / "objects" if called_by == "link to the repository" else link
    (member.git_dir / "objects" / "info").mkdir(exist_ok=True)
    (member.git_dir / "objects" / "info" / "alternates").write_text(f"{named}\n")
    tip = repository.git("rev-parse", "main")
    with open_readers() as readers:
        assert readers.look_up(report_of(member), tip).type == "commit"
        assert len(reading_processes()) == 1
        readers.hold_off(store_dir(repository))
        assert reading_processes() == []
        assert readers.allow(store_dir(repository)) == {os.fsencode(member.path)}


def test_readers_of_other_repositories_stay_open(repository: GitRepository, tmp_path: Path) -> None:
    other = GitRepository.init(tmp_path / "other.git")
    tip = other.commit({"a": "1"})
    with open_readers() as readers:
        readers.look_up(report_of(other), tip)
        before = {process.pid for process in reading_processes()}
        readers.hold_off(store_dir(repository))
        assert readers.look_up(report_of(other), tip).type == "commit"
        assert {process.pid for process in reading_processes()} == before
        assert readers.allow(store_dir(repository)) == frozenset()
