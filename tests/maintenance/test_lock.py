"""The lock of git maintenance: git's and ours exclude each other, and a dead gitdash is known by what it left."""

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gitdash.gitcmd.command_log import COMMAND_LOG
from gitdash.gitcmd.runner import stop_everything
from gitdash.maintenance import lock
from gitdash.maintenance.lock import LockHeldError, hold_locks, own_content
from gitdash.model.ledger import Outcome, Reason
from gitdash.model.task import Task
from tests.support.meanwhile import Meanwhile
from tests.support.old_stores import complaints
from tests.support.repositories import GIT, GitRepository, clean_environment
from tests.support.task_runs import make_lender_and_member, run

HOLDS_FOR_EVER = """
import sys, time
from gitdash.maintenance import lock
from gitdash.maintenance.lock import hold_locks
with hold_locks([sys.argv[1].encode()], now_s=time.time()):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    return repository


def lock_of(repository: GitRepository) -> Path:
    return repository.git_dir / "objects" / "maintenance.lock"


def store_of(repository: GitRepository) -> bytes:
    return os.fsencode(repository.git_dir / "objects")


def holder(repository: GitRepository) -> subprocess.Popen[str]:
    """Another gitdash that holds the lock until its stdin ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_FOR_EVER, os.fsdecode(store_of(repository))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str], *, kill: bool = False) -> None:
    if kill:
        process.kill()
    process.communicate()


@pytest.mark.oracle
def test_git_maintenance_does_nothing_while_we_hold_it(repository: GitRepository) -> None:
    with hold_locks([store_of(repository)], now_s=time.time()):
        repository.git("maintenance", "run", "--task=loose-objects")
        assert not repository.packs()
    repository.git("maintenance", "run", "--task=loose-objects")
    assert len(repository.packs()) == 1


@pytest.mark.oracle
def test_we_do_nothing_while_git_maintenance_holds_it(repository: GitRepository, tmp_path: Path) -> None:
    """git is held up in the middle by a hook that waits for a FIFO."""
    for name in ("gate", "begun"):
        os.mkfifo(tmp_path / name)
    hook = tmp_path / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text(
        f"#!/bin/sh\n[ -e {tmp_path}/once ] && exit 0\n: >{tmp_path}/once\n: >{tmp_path}/begun\ncat {tmp_path}/gate\n"
    )
    hook.chmod(0o755)
    command = [GIT, "-c", f"core.hooksPath={hook.parent}", "-C", os.fspath(repository.path)]
    git = subprocess.Popen([*command, "maintenance", "run", "--task=pack-refs"], env=clean_environment())
    with (tmp_path / "begun").open("rb") as begun:
        begun.read()
    result = run(repository, Task.PACK_REFS)
    (tmp_path / "gate").open("wb").close()
    assert git.wait() == 0
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, Reason.LOCK_HELD)
    assert f"held by PID {git.pid} since " in result.sentence
    assert not lock_of(repository).exists()


def test_a_lock_of_nobody_who_is_seen_is_never_removed(repository: GitRepository) -> None:
    lock_of(repository).touch()
    os.utime(lock_of(repository), (0, 0))
    result = run(repository, Task.PACK_REFS)
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, Reason.LOCK_HELD)
    assert "1970-01-01" in result.sentence
    assert "by a process that is not seen here" in result.sentence
    assert lock_of(repository).read_bytes() == b""
    assert (repository.git_dir / "refs" / "heads" / "main").exists()


def test_lock_that_is_given_back_a_moment_later_is_no_reason_to_skip(repository: GitRepository) -> None:
    lock_of(repository).touch()
    given_back = Meanwhile(lambda: lock_of(repository).unlink(missing_ok=True))
    with hold_locks([store_of(repository)], now_s=time.time(), cancel=given_back):
        assert lock_of(repository).read_bytes() == own_content()


def test_another_gitdash_that_lives_is_named(repository: GitRepository) -> None:
    process = holder(repository)
    result = run(repository, Task.PACK_REFS)
    end(process)
    assert result.outcome is Outcome.SKIPPED
    assert f"held by PID {process.pid} since " in result.sentence
    assert not lock_of(repository).exists()


def test_the_lock_of_a_gitdash_that_was_killed_is_taken_over(repository: GitRepository) -> None:
    end(holder(repository), kill=True)
    assert lock_of(repository).read_bytes().startswith(b"gitdash ")
    assert run(repository, Task.PACK_REFS).outcome is Outcome.DONE
    assert not lock_of(repository).exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: [*fields[:3], "elsewhere", *fields[4:]],
        lambda fields: [*fields[:5], "pid:[1]"],
        lambda fields: ["git", *fields[1:]],
        lambda fields: fields[:4],
        lambda fields: [fields[0], "x", *fields[2:]],
    ],
    ids=["another host", "another container", "not ours", "cut short", "no number"],
)
def test_a_lock_that_may_be_alive_elsewhere_is_left(repository: GitRepository, change: object) -> None:
    assert callable(change)
    end(holder(repository), kill=True)
    fields = lock_of(repository).read_text().split()
    lock_of(repository).write_text(" ".join(change(fields)))
    content = lock_of(repository).read_text()
    with pytest.raises(LockHeldError), hold_locks([store_of(repository)], now_s=time.time()):
        raise AssertionError("it was taken over")
    assert lock_of(repository).read_text() == content


def test_our_own_process_does_not_take_its_lock_twice(repository: GitRepository) -> None:
    with hold_locks([store_of(repository)], now_s=time.time()):
        with pytest.raises(LockHeldError) as caught, hold_locks([store_of(repository)], now_s=time.time()):
            raise AssertionError("it was held twice")
        assert caught.value.process_id == os.getpid()
        assert lock_of(repository).exists()


def test_of_many_that_take_over_one_gets_it(repository: GitRepository) -> None:
    end(holder(repository), kill=True)
    start, winners, held = threading.Barrier(8), [], threading.Event()

    def take() -> None:
        start.wait()
        try:
            with hold_locks([store_of(repository)], now_s=time.time()):
                winners.append(lock_of(repository).read_bytes() == own_content())
                held.wait(5)
        except LockHeldError:
            losers.release()

    losers = threading.Semaphore(0)
    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(7):
        assert losers.acquire(timeout=5)
    held.set()
    for thread in threads:
        thread.join()
    assert winners == [True]
    assert not lock_of(repository).exists()


def test_it_is_given_back_on_every_way_out(repository: GitRepository) -> None:
    with pytest.raises(KeyboardInterrupt), hold_locks([store_of(repository)], now_s=time.time()):
        raise KeyboardInterrupt
    assert not lock_of(repository).exists()


def test_a_lock_that_was_taken_from_us_is_not_given_back(repository: GitRepository) -> None:
    with hold_locks([store_of(repository)], now_s=time.time()):
        lock_of(repository).unlink()
        lock_of(repository).write_text("somebody else's")
    assert lock_of(repository).read_text() == "somebody else's"


def test_a_link_in_its_place_leads_nowhere(repository: GitRepository, tmp_path: Path) -> None:
    lock_of(repository).symlink_to(tmp_path / "elsewhere")
    assert run(repository, Task.PACK_REFS).outcome is Outcome.SKIPPED
    assert not (tmp_path / "elsewhere").exists()


def test_lenders_are_locked_while_a_member_relies_on_them(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    process = holder(lender)
    results = {task: run(member, task).outcome for task in (Task.DEDUPLICATE, Task.UNLINK, Task.PACK_REFS)}
    end(process)
    assert results == {
        Task.DEDUPLICATE: Outcome.SKIPPED,
        Task.UNLINK: Outcome.SKIPPED,
        Task.PACK_REFS: Outcome.DONE,
    }
    assert not lock_of(member).exists()
    assert not complaints(member)


def test_stopping_everything_gives_it_back(repository: GitRepository) -> None:
    """SIGTERM to gitdash: its handler stops every git, and the task ends as one that was cancelled."""
    started = threading.Event()
    results = []
    cancel = threading.Event()

    class Starting(list[str]):
        def append(self, _: str) -> None:
            started.set()

    thread = threading.Thread(
        target=lambda: results.append(run(repository, Task.FULL_REPACK, cancel=cancel, events=Starting()))
    )
    thread.start()
    assert started.wait(10)
    cancel.set()
    stop_everything()
    thread.join(10)
    assert results[0].outcome in {Outcome.CANCELLED, Outcome.DONE}
    assert not lock_of(repository).exists()
    assert all(record.elapsed_s is not None for record in COMMAND_LOG.records_of(None))


def test_the_content_names_this_process_and_host(repository: GitRepository) -> None:
    with hold_locks([store_of(repository)], now_s=time.time()):
        fields = lock_of(repository).read_text().split()
    assert fields[:2] == ["gitdash", str(os.getpid())]
    assert fields[3] == socket.gethostname()


def test_a_number_that_another_process_has_by_now_is_no_sign_of_life(repository: GitRepository) -> None:
    fields = own_content().decode().split()
    lock_of(repository).write_text(" ".join([*fields[:2], str(int(fields[2]) - 1), *fields[3:]]))
    assert run(repository, Task.PACK_REFS).outcome is Outcome.DONE


@pytest.mark.parametrize(("kind", "is_taken"), [("ext4", True), ("nfs4", False), ("tmpfs", False), (None, False)])
def test_a_lock_from_before_the_machine_started_goes_where_no_other_machine_writes(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch, kind: str | None, is_taken: bool
) -> None:
    monkeypatch.setattr(lock, "filesystem_type", lambda _: kind)
    fields = own_content().decode().split()
    lock_of(repository).write_text(" ".join([*fields[:4], "another-boot", fields[5]]))
    assert (run(repository, Task.PACK_REFS).outcome is Outcome.DONE) is is_taken
    assert lock_of(repository).exists() is not is_taken
