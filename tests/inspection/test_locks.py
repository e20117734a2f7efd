"""Locks, gc.pid and gc.log."""

import os
import socket
import time
from pathlib import Path

import pytest

from gitdash.inspection import locks as inspection_locks
from gitdash.model.inspection import LockFile
from tests.inspection.conftest import Inspect
from tests.support.repositories import GitRepository

LOCK_PATHS = [
    "HEAD.lock",
    "config.lock",
    "index.lock",
    "info/attributes.lock",
    "objects/info/alternates.lock",
    "objects/info/commit-graph.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/maintenance.lock",
    "objects/pack/multi-pack-index.lock",
    "packed-refs.lock",
    "packed-refs.new",
    "refs/heads/deep/er.lock",
    "refs/heads/main.lock",
    "reftable/tables.list.lock",
    "shallow.lock",
]


@pytest.fixture(autouse=True)
def fresh_process_table() -> None:
    inspection_locks._open_locks.cache_clear()


def lock(inspect: Inspect, repository: GitRepository) -> LockFile:
    (found,) = inspect(repository).locks
    return found


def test_every_lock_of_git_is_seen_with_its_age(sha1_repository: GitRepository, inspect: Inspect) -> None:
    now_s = time.time()
    for number, name in enumerate(LOCK_PATHS):
        path = sha1_repository.git_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * number)
        sha1_repository.age(path, 1000 + number, now_s)
    inspection = inspect(sha1_repository, now_s=now_s)
    assert [found.path for found in inspection.locks] == LOCK_PATHS
    for number, found in enumerate(inspection.locks):
        assert found.bytes == number
        assert now_s - found.mtime_s == pytest.approx(1000 + number)
        assert found.holder_pid is None
    assert inspection.valid_until_s == inspection.inspected_at_s


def test_other_files_that_end_in_lock_are_no_locks(sha1_repository: GitRepository, inspect: Inspect) -> None:
    (sha1_repository.git_dir / "yarn.lock").write_bytes(b"")
    (sha1_repository.git_dir / "objects" / "pack" / "other.lock").write_bytes(b"")
    assert inspect(sha1_repository).locks == ()


def test_a_process_that_has_the_lock_open_is_its_holder(sha1_repository: GitRepository, inspect: Inspect) -> None:
    with (sha1_repository.git_dir / "packed-refs.lock").open("wb"):
        assert lock(inspect, sha1_repository).holder_pid == os.getpid()


def test_where_no_lock_is_no_process_is_looked_at(sha1_repository: GitRepository, inspect: Inspect) -> None:
    assert inspect(sha1_repository).locks == ()
    assert inspection_locks._open_locks.cache_info().misses == 0


def test_no_lock_is_hidden_by_many_stale_ones(sha1_repository: GitRepository, inspect: Inspect) -> None:
    now_s = time.time()
    for number in range(230):
        path = sha1_repository.git_dir / "refs" / "heads" / f"{number:03}.lock"
        path.touch()
        sha1_repository.age(path, 86_400, now_s)
    (sha1_repository.git_dir / "shallow.lock").touch()
    inspection = inspect(sha1_repository, now_s=now_s)
    assert len(inspection.locks) == 231
    assert inspection.locks[-1].path == "shallow.lock"
    assert inspection.left_out_lock_count == 0


@pytest.mark.safety
def test_of_far_too_many_reference_locks_the_oldest_the_youngest_and_the_held_are_kept(
    sha1_repository: GitRepository, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection_locks, "_REFERENCE_LOCKS_KEPT", 4)
    now_s = time.time()
    for number in range(10):
        path = sha1_repository.git_dir / "refs" / "heads" / f"{number}.lock"
        path.touch()
        sha1_repository.age(path, 1000 * (number + 1), now_s)
    (sha1_repository.git_dir / "shallow.lock").touch()
    with (sha1_repository.git_dir / "refs" / "heads" / "6.lock").open("rb"):
        inspection = inspect(sha1_repository, now_s=now_s)
    assert [lock.path for lock in inspection.locks] == [
        "refs/heads/0.lock",
        "refs/heads/1.lock",
        "refs/heads/2.lock",
        "refs/heads/6.lock",
        "refs/heads/9.lock",
        "shallow.lock",
    ]
    assert inspection.left_out_lock_count == 5


def test_gc_pid_of_a_live_process_here_names_its_holder(sha1_repository: GitRepository, inspect: Inspect) -> None:
    path = sha1_repository.git_dir / "gc.pid"
    path.write_text(f"{os.getpid()} {socket.gethostname()}")
    found = lock(inspect, sha1_repository)
    assert (found.path, found.holder_pid, found.holder_host) == ("gc.pid", os.getpid(), None)


def test_gc_pid_of_a_dead_process_has_no_holder(sha1_repository: GitRepository, inspect: Inspect) -> None:
    (sha1_repository.git_dir / "gc.pid").write_text(f"999999999 {socket.gethostname()}")
    found = lock(inspect, sha1_repository)
    assert (found.holder_pid, found.holder_host) == (None, None)


def test_gc_pid_of_another_host_names_the_host(sha1_repository: GitRepository, inspect: Inspect) -> None:
    (sha1_repository.git_dir / "gc.pid").write_text(f"{os.getpid()} else\x1b[1mwhere.example")
    found = lock(inspect, sha1_repository)
    assert (found.holder_pid, found.holder_host) == (None, "else\\x1b[1mwhere.example")


@pytest.mark.safety
@pytest.mark.parametrize("content", [b"", b"garbage", b"99999999999999999999 x", b"-1 x", b"\xff \xff", b"1 2 3"])
def test_gc_pid_without_sense_is_a_lock_without_holder(
    sha1_repository: GitRepository, inspect: Inspect, content: bytes
) -> None:
    (sha1_repository.git_dir / "gc.pid").write_bytes(content)
    found = lock(inspect, sha1_repository)
    assert (found.path, found.holder_pid, found.holder_host) == ("gc.pid", None, None)


@pytest.mark.safety
def test_a_lock_of_any_kind_of_file_is_seen_without_being_opened(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    os.mkfifo(sha1_repository.git_dir / "gc.pid")
    os.mkfifo(sha1_repository.git_dir / "index.lock")
    (sha1_repository.git_dir / "config.lock").symlink_to("/dev/zero")
    assert [found.path for found in inspect(sha1_repository).locks] == ["config.lock", "index.lock", "gc.pid"]


def test_the_locks_of_a_linked_worktree_are_its_own(tmp_path: Path, inspect: Inspect) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"a": "1"})
    main.git("worktree", "add", "-q", os.fspath(tmp_path / "linked"), "-b", "topic")
    own = main.git_dir / "worktrees" / "linked"
    (own / "index.lock").write_bytes(b"")
    (main.git_dir / "packed-refs.lock").write_bytes(b"")
    linked = inspect(own, common_dir=main.git_dir)
    assert [found.path for found in linked.locks] == ["index.lock"]
    assert [found.path for found in inspect(main).locks] == ["packed-refs.lock"]


def test_the_first_line_of_gc_log_is_kept(sha1_repository: GitRepository, inspect: Inspect) -> None:
    assert inspect(sha1_repository).gc_log is None
    path = sha1_repository.git_dir / "gc.log"
    path.write_bytes(b"warning: \x1b[31mtoo many\nsecond line\n" + b"x" * 10_000)
    inspection = inspect(sha1_repository)
    assert inspection.gc_log == "warning: \\x1b[31mtoo many"
    assert inspection.gc_log_mtime_s == path.stat().st_mtime
    path.write_bytes(b"y" * 10_000)
    assert inspect(sha1_repository).gc_log == "y" * 200
    path.write_bytes(b"")
    inspection = inspect(sha1_repository)
    assert inspection.gc_log is None
    assert inspection.gc_log_mtime_s == path.stat().st_mtime
