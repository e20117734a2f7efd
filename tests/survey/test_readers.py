"""Readers of single objects: what they answer, how many there are, and that nothing of them stays."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil
import pytest

from gitdash.config.settings import Settings
from gitdash.gitcmd.command_log import COMMAND_LOG
from gitdash.gitcmd.git_program import GitProgram
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.survey.readers import Readers
from gitdash.survey.single import find_repository, report_single
from tests.support.repositories import GIT, GitRepository, git_version

PROGRAM = GitProgram(path=GIT, version=git_version(), version_text="test")


def report_of(path: Path) -> RepositoryReport:
    settings, uid = Settings(), os.geteuid()
    repository = find_repository(os.fsencode(path), settings=settings, effective_uid=uid)
    return report_single(
        repository, settings=settings, history=None, program=PROGRAM, effective_uid=uid, now_s=2_000_000_000.0
    ).facts


def packed(path: Path, **options: str) -> tuple[GitRepository, str]:
    repository = GitRepository.init(path, **options)  # type: ignore[arg-type]
    tip = repository.commit({"a": b"1", "b": b"2"})
    repository.repack()
    return repository, tip


@contextmanager
def readers(**options: object) -> Iterator[Readers]:
    opened = Readers(**({"program": PROGRAM} | options))  # type: ignore[arg-type]
    try:
        yield opened
    finally:
        opened.close_all()


def script(folder: Path, body: str) -> GitProgram:
    fake = folder / "fake-git"
    fake.write_text(f"#!/bin/sh\n{body}\n")
    fake.chmod(0o755)
    return GitProgram(path=os.fspath(fake), version=(2, 39, 5), version_text="2.39.5")


def running_gits() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.name() == "git"]


def commands_of(report: RepositoryReport) -> int:
    return len(COMMAND_LOG.records_of(report.repository.path))


def wait_until(is_true: Callable[[], bool], *, at_most_s: float = 10.0) -> None:
    deadline_s = time.monotonic() + at_most_s
    while not is_true():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def holds(process: psutil.Process, path: Path) -> bool:
    """Whether a process has a file open or mapped, deleted or not."""
    folder = Path("/proc", str(process.pid))
    try:
        links = [os.readlink(link) for link in (folder / "fd").iterdir()]
        return any(os.fspath(path) in text for text in (*links, (folder / "maps").read_text()))
    except OSError:
        return False


def holders(path: Path) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if holds(process, path)]


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_look_up_answers_as_git_does(tmp_path: Path, object_format: str) -> None:
    repository, _ = packed(tmp_path / "r.git", object_format=object_format)
    repository.blob(b"loose")
    report = report_of(repository.path)
    listed = repository.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    with readers() as opened:
        answers = [opened.look_up(report, line.split()[0]) for line in listed]
    assert [f"{one.object_id} {one.type} {one.bytes}" for one in answers] == listed


@pytest.mark.skipif(git_version() < (2, 45), reason="no reftable")
def test_how_references_are_stored_does_not_matter(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git", reference_backend="reftable")
    with readers() as opened:
        report = report_of(repository.path)
        assert opened.look_up(report, tip).type == "commit"
        assert isinstance(opened.times(report), LookupTimes)


def test_the_same_process_answers_again_and_knows_what_came_meanwhile(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    report = report_of(repository.path)
    with readers() as opened:
        assert opened.look_up(report, tip).object_id == tip
        newer = repository.blob(b"newer")
        assert opened.look_up(report, newer[:8]).object_id == newer
        assert commands_of(report) == len(running_gits()) == 1


@pytest.mark.safety
def test_what_is_no_id_starts_no_git(tmp_path: Path) -> None:
    repository, _ = packed(tmp_path / "r.git")
    report = report_of(repository.path)
    with readers() as opened:
        answer = opened.look_up(report, "HEAD\n\x1b[2J")
    assert answer.problem == "an object id is 4 to 40 hexadecimal digits"
    assert answer.asked == "HEAD\\x0a\\x1b[2J"
    assert commands_of(report) == 0


def test_the_reader_that_was_used_longest_ago_makes_room(tmp_path: Path) -> None:
    made = [packed(tmp_path / f"{number}.git") for number in range(3)]
    reports = [report_of(repository.path) for repository, _ in made]
    with readers(limit=2) as opened:
        for number in (0, 1, 0, 2, 0):
            assert opened.look_up(reports[number], made[number][1]).type == "commit"
            assert len(running_gits()) <= 2
        assert [commands_of(report) for report in reports] == [1, 1, 1]
        opened.look_up(reports[1], made[1][1])
        assert [commands_of(report) for report in reports] == [1, 2, 1]


def test_an_idle_reader_ends_by_itself(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    report = report_of(repository.path)
    with readers(idle_s=0.2) as opened:
        opened.look_up(report, tip)
        assert len(running_gits()) == 1
        wait_until(lambda: not running_gits())
        wait_until(lambda: all(not isinstance(thread, threading.Timer) for thread in threading.enumerate()))
        assert opened.look_up(report, tip).type == "commit"


def test_a_reader_that_died_is_opened_again(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    report = report_of(repository.path)
    with readers() as opened:
        opened.look_up(report, tip)
        (process,) = running_gits()
        process.kill()
        assert opened.look_up(report, tip).type == "commit"
        assert commands_of(report) == 2


def test_a_git_that_always_dies_is_an_answer(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    report = report_of(repository.path)
    with readers(program=script(tmp_path, "exit 1")) as opened:
        assert opened.look_up(report, tip).problem == "git cat-file ended without an answer"
        assert opened.times(report) == Unreadable("git cat-file ended without an answer")
        assert commands_of(report) == 2


@pytest.mark.safety
def test_a_git_that_hangs_ends_at_the_time_limit_and_is_opened_again_for_the_next_question(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    report = report_of(repository.path)
    hang = tmp_path / "hang"
    hang.touch()
    program = script(tmp_path, f'[ -e {hang} ] && exec sleep 1000; exec {GIT} "$@"')
    with readers(program=program, time_limit_s=0.5) as opened:
        started_s = time.monotonic()
        assert opened.look_up(report, tip).problem == "git cat-file did not answer in time"
        assert opened.times(report) == Unreadable("git cat-file did not answer in time")
        assert time.monotonic() - started_s < 5
        assert not [child for child in psutil.Process().children() if child.name() == "sleep"]
        hang.unlink()
        assert opened.look_up(report, tip).type == "commit"


def test_nothing_holds_a_pack_after_close(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    other, other_tip = packed(tmp_path / "other.git")
    report, other_report = report_of(repository.path), report_of(other.path)
    (pack,) = repository.packs()
    with readers() as opened:
        # the first git of this process starts the watchdog
        opened.look_up(report, tip)
    before = len(os.listdir("/proc/self/fd"))
    with readers() as opened:
        assert opened.look_up(report, tip).type == "commit"
        assert opened.look_up(other_report, other_tip).type == "commit"
        assert len(holders(pack.with_suffix(""))) == 1
        opened.close(report.repository.path)
        assert holders(pack.with_suffix("")) == []
        assert len(running_gits()) == 1
        opened.close_all()
        assert running_gits() == []
        assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("called_by", ["repository", "git_dir", "objects"])
def test_closing_a_pool_ends_the_readers_of_its_members(tmp_path: Path, called_by: str) -> None:
    pool = GitRepository.init(tmp_path / "pool", bare=False)
    shared = pool.commit({"a": b"shared"})
    pool.repack()
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(pool)
    report = report_of(member.path)
    called = {"repository": pool.path, "git_dir": pool.git_dir, "objects": pool.git_dir / "objects"}
    with readers() as opened:
        assert opened.look_up(report, shared).type == "commit"
        assert holders(pool.packs()[0].with_suffix(""))
        opened.close(os.fsencode(called[called_by]))
        assert holders(pool.packs()[0].with_suffix("")) == []


def test_closing_ends_a_reader_that_is_answering(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    report = report_of(repository.path)
    program = script(tmp_path, f"read -r x; echo >{tmp_path}/asked; exec sleep 1000")
    answers: list[ObjectAnswer] = []
    with readers(program=program, time_limit_s=60.0) as opened:
        thread = threading.Thread(target=lambda: answers.append(opened.look_up(report, tip)))
        thread.start()
        wait_until((tmp_path / "asked").exists)
        started_s = time.monotonic()
        opened.close(report.repository.path)
        assert time.monotonic() - started_s < 2
        assert not [child for child in psutil.Process().children() if child.name() == "sleep"]
        thread.join(5)
    assert [answer.problem for answer in answers] == ["git cat-file was cancelled"]
    assert commands_of(report) == 1


def test_threads_share_readers_and_none_is_mixed_up(tmp_path: Path) -> None:
    made = [packed(tmp_path / f"{number}.git") for number in range(4)]
    for number, (repository, _) in enumerate(made):
        repository.blob(b"only in %d" % number)
    reports = [report_of(repository.path) for repository, _ in made]
    ids = [repository.git("cat-file", "--batch-all-objects", "--batch-check").split()[::3] for repository, _ in made]
    wrong: list[ObjectAnswer] = []

    def ask(number: int) -> None:
        for turn in range(40):
            which = (number + turn) % 4
            wanted = ids[which][turn % len(ids[which])]
            answer = opened.look_up(reports[which], wanted)
            if answer.object_id != wanted:
                wrong.append(answer)

    with readers(limit=2) as opened:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(running_gits()) <= 2
    assert wrong == []


@pytest.mark.safety
@pytest.mark.parametrize("whose", ["own", "lender"])
def test_a_fifo_among_the_packs_is_told_and_git_is_not_started(tmp_path: Path, whose: str) -> None:
    lender, tip = packed(tmp_path / "lender.git")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    repository = member if whose == "own" else lender
    (repository.git_dir / "objects" / "pack").mkdir(exist_ok=True)
    os.mkfifo(repository.git_dir / "objects" / "pack" / "pack-x.pack")
    report = report_of(member.path)
    with readers() as opened:
        problem = opened.look_up(report, tip).problem
        assert problem is not None
        assert "pack-x.pack is a FIFO, and git would open it" in problem
        assert opened.times(report) == Unreadable(problem)
    assert commands_of(report) == 0


def test_a_missing_lender_is_named_where_an_object_is_not_found(tmp_path: Path) -> None:
    member, tip = packed(tmp_path / "member.git")
    member.borrow_from(GitRepository(tmp_path / "gone.git"))
    report = report_of(member.path)
    with readers() as opened:
        assert opened.look_up(report, tip).type == "commit"
        problem = opened.look_up(report, "1" * 40).problem
        assert problem is not None
        assert problem.startswith("not found, but lender ")
        assert problem.endswith("gone.git/objects: missing")
        assert isinstance(opened.times(report), LookupTimes)


def test_a_lender_that_came_later_is_looked_into(tmp_path: Path) -> None:
    lender, _ = packed(tmp_path / "lender.git")
    lent = lender.blob(b"lent")
    member, _ = packed(tmp_path / "member.git")
    with readers() as opened:
        assert opened.look_up(report_of(member.path), lent).object_id is None
        member.borrow_from(lender)
        assert opened.look_up(report_of(member.path), lent).object_id == lent


@pytest.mark.safety
def test_a_partial_clone_fetches_nothing_and_says_what_it_is(tmp_path: Path) -> None:
    origin = GitRepository.init(tmp_path / "origin.git")
    tip = origin.commit({"a": b"not fetched"})
    origin.git("config", "uploadpack.allowFilter", "true")
    blob = origin.git("rev-parse", "main:a")
    origin.git("clone", "-q", "--bare", "--filter=blob:none", f"file://{origin.path}", tmp_path / "partial.git")
    GitRepository(tmp_path / "partial.git").git("config", "remote.origin.uploadpack", f"touch {tmp_path}/marker; false")
    report = report_of(tmp_path / "partial.git")
    with readers() as opened:
        assert opened.look_up(report, tip).type == "commit"
        answer = opened.look_up(report, blob)
    assert (answer.object_id, answer.problem) == (None, "not found, but this partial clone may not have fetched it")
    assert not (tmp_path / "marker").exists()


@pytest.mark.safety
def test_a_repository_of_another_owner_is_read_without_its_configuration(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    report = report_of(repository.path)
    foreign = msgspec.structs.replace(report.repository, foreign_owner_uid=12_345)
    (repository.git_dir / "config").write_text("[core\n")
    with readers() as opened:
        assert opened.look_up(msgspec.structs.replace(report, repository=foreign), tip).type == "commit"


def test_a_repository_that_could_not_be_inspected_is_not_read(tmp_path: Path) -> None:
    repository, tip = packed(tmp_path / "r.git")
    report = msgspec.structs.replace(report_of(repository.path), inspection=Unreadable("no HEAD"))
    with readers() as opened:
        assert opened.look_up(report, tip).problem == "no HEAD"
        assert opened.times(report) == Unreadable("no HEAD")


def test_look_ups_are_timed_and_a_warm_reader_stays(tmp_path: Path) -> None:
    lender, _ = packed(tmp_path / "lender.git")
    member, tip = packed(tmp_path / "member.git")
    member.borrow_from(lender)
    report = report_of(member.path)
    with readers() as opened:
        times = opened.times(report)
        assert isinstance(times, LookupTimes)
        assert (times.object_id, times.pack_count) == (tip, 2)
        assert min(times.first_s, times.warm_s, times.missing_s) > 0
        assert len(running_gits()) == 1
        after = commands_of(report)
        assert opened.look_up(report, tip).type == "commit"
        assert commands_of(report) == after


def test_where_the_tip_is_missing_another_object_is_timed(tmp_path: Path) -> None:
    repository, _ = packed(tmp_path / "r.git")
    (repository.git_dir / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    held = repository.git("cat-file", "--batch-all-objects", "--batch-check").split()[0]
    with readers() as opened:
        times = opened.times(report_of(repository.path))
    assert isinstance(times, LookupTimes)
    assert times.object_id == held


def test_a_linked_worktree_is_timed_by_a_loose_object_of_its_store(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r", bare=False)
    blob = repository.blob(b"loose")
    commit = repository.commit({"a": b"1"})
    repository.git("worktree", "add", "-q", "--detach", tmp_path / "linked", commit)
    repository.git("update-ref", "-d", "refs/heads/main")
    (repository.git_dir / "worktrees" / "linked" / "HEAD").write_text("1" * 40 + "\n")
    report = report_of(tmp_path / "linked")
    with readers() as opened:
        assert opened.look_up(report, blob).type == "blob"
        assert isinstance(opened.times(report), LookupTimes)


def test_an_empty_repository_has_nothing_to_time(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with readers() as opened:
        assert opened.times(report_of(repository.path)) == Unreadable("there is no object to look up")
        assert running_gits() == []
