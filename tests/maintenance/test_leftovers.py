"""What git leaves when it is killed is told from what lay there before; git itself makes the leftovers here."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitdash.inspection.repository import inspect_repository
from gitdash.maintenance.leftovers import leftovers
from tests.support.repositories import GIT, GitRepository, clean_environment

pytestmark = pytest.mark.oracle

LIMIT_S = 20.0


def now_s(folder: Path) -> float:
    """What the file system says the time is."""
    (folder / "clock").write_bytes(b"")
    return (folder / "clock").stat().st_mtime


def told(repository: GitRepository, started_at_s: float) -> tuple[str, ...]:
    git_dir = os.fsencode(repository.git_dir)
    inspection = inspect_repository(git_dir, git_dir, now_s=started_at_s + 60, loose_stale_age_s=864_000.0)
    return leftovers(inspection, started_at_s=started_at_s)


def paths(texts: tuple[str, ...]) -> set[str]:
    return {text.split(" (")[0] for text in texts}


def files(repository: GitRepository) -> set[str]:
    found = repository.git_dir.rglob("*")
    return {os.fspath(path.relative_to(repository.git_dir)) for path in found if path.is_file()}


@contextmanager
def running(repository: GitRepository, *arguments: str | os.PathLike[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A git command with all its children in a session of their own, which ends by SIGKILL."""
    process = subprocess.Popen(
        [GIT, "-C", os.fspath(repository.path), *arguments],
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL, "it had not ended by itself"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.001)


@pytest.fixture
def large(tmp_path: Path) -> GitRepository:
    """A repository that takes git a while to pack."""
    repository = GitRepository.init(tmp_path / "large.git")
    chance = random.Random(4)
    repository.commit({f"{number}": chance.randbytes(4_000_000) for number in range(3)})
    return repository


def writes_pack(repository: GitRepository) -> bool:
    pack_folder = repository.git_dir / "objects" / "pack"
    return any(path.stat().st_size for path in [*pack_folder.glob("tmp_pack_*"), *pack_folder.glob(".tmp-*")])


@pytest.mark.parametrize("name", ["objects/pack/tmp_pack_abc", "objects/tmp_x", "objects/17/tmp_obj_y"])
def test_whatever_begins_with_tmp_in_an_object_store_is_told(tmp_path: Path, name: str) -> None:
    repository = GitRepository.init(tmp_path / "x.git")
    started_at_s = now_s(tmp_path)
    (repository.git_dir / name).parent.mkdir(exist_ok=True)
    (repository.git_dir / name).write_bytes(b"x")
    assert paths(told(repository, started_at_s)) == {name}


def test_fetch_that_was_killed_while_it_received(tmp_path: Path, large: GitRepository) -> None:
    target = GitRepository.init(tmp_path / "target.git")
    stalling = tmp_path / "stalling"
    stalling.write_text(
        f'#!/bin/sh\n{GIT} upload-pack "$@" | (dd bs=65536 count=50 status=none; sleep {LIMIT_S:.0f})\n'
    )
    stalling.chmod(0o755)
    before, started_at_s = files(target), now_s(tmp_path)
    fetch = ("-c", "fetch.unpackLimit=1", "fetch", "--no-write-fetch-head", "--upload-pack", stalling, large.path)
    with running(target, *fetch, "refs/heads/main:refs/heads/main"):
        wait_for(lambda: writes_pack(target))
    new = files(target) - before
    assert [name for name in new if name.startswith("objects/pack/tmp_pack_")]
    assert paths(told(target, started_at_s)) == new


def test_repack_that_was_killed_while_it_wrote(tmp_path: Path, large: GitRepository) -> None:
    before, started_at_s = files(large), now_s(tmp_path)
    with running(large, "-c", "core.compression=9", "-c", "pack.threads=1", "repack", "-a", "-d", "-F"):
        wait_for(lambda: writes_pack(large))
    new = files(large) - before
    assert new
    assert paths(told(large, started_at_s)) == new


@pytest.mark.parametrize("options", [("--write-bitmap-index",), ("--no-write-bitmap-index",)])
def test_repack_that_was_killed_before_its_whole_pack_had_its_name(tmp_path: Path, options: tuple[str, ...]) -> None:
    repository = GitRepository.init(tmp_path / "x.git")
    repository.commit({"a": "a"})
    killing = tmp_path / "git"
    # repack finds its own program by the exec path, and dies once pack-objects has ended
    killing.write_text(f'#!/bin/sh\n{GIT} "$@"\ncase "$*" in *pack-objects*) kill -9 $PPID;; esac\n')
    killing.chmod(0o755)
    before, started_at_s = files(repository), now_s(tmp_path)
    died = subprocess.run(
        [GIT, f"--exec-path={tmp_path}", "-C", repository.path, "repack", "-a", "-d", "-q", *options],
        env=clean_environment(),
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    new = files(repository) - before
    assert {name.rpartition(".")[2] for name in new} >= {"pack", "idx"}
    assert all(name.startswith("objects/pack/.tmp-") for name in new)
    assert paths(told(repository, started_at_s)) == new


def test_gc_that_was_killed_leaves_its_pid(tmp_path: Path, large: GitRepository) -> None:
    started_at_s = now_s(tmp_path)
    with running(large, "-c", "core.compression=9", "gc", "--prune=never", "--quiet") as process:
        wait_for(lambda: (large.git_dir / "gc.pid").exists() and writes_pack(large))
        assert f"gc.pid (held by process {process.pid})" in told(large, started_at_s)
    assert "gc.pid" in told(large, started_at_s)


def test_transaction_of_references_that_was_killed_leaves_its_locks(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "x.git", reference_backend=None)
    repository.commit({"a": "a"})
    repository.git("pack-refs", "--all")
    before, started_at_s = files(repository), now_s(tmp_path)
    with running(repository, "update-ref", "--stdin") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"start\ndelete refs/heads/main\nprepare\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == [b"start: ok\n", b"prepare: ok\n"]
    new = files(repository) - before
    assert {"refs/heads/main.lock", "packed-refs.lock"} <= new
    assert paths(told(repository, started_at_s)) == new


def test_command_that_ended_has_left_nothing(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "x.git")
    repository.commit({"a": "a"})
    started_at_s = now_s(tmp_path)
    repository.git("repack", "-a", "-d", "--quiet")
    repository.git("pack-refs", "--all")
    assert told(repository, started_at_s) == ()


def test_what_lay_there_before_is_not_told(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "x.git")
    repository.commit({"a": "a"})
    started_at_s = now_s(tmp_path)
    pack_folder = repository.git_dir / "objects" / "pack"
    pack_folder.mkdir(exist_ok=True)
    names = ("tmp_pack_old001", "tmp_pack_new001", "pack-1.keep", "pack-2.keep", "pack-3.keep")
    for name in names:
        (pack_folder / name).write_text("fetch-pack 7 on somewhere\n" if name != "pack-3.keep" else "mine\n")
    (repository.git_dir / "HEAD.lock").touch()
    (repository.git_dir / "objects" / "tmp_objdir-incoming-aBc012").mkdir()
    for old in (pack_folder / "tmp_pack_old001", pack_folder / "pack-1.keep", repository.git_dir / "HEAD.lock"):
        os.utime(old, (started_at_s - 30, started_at_s - 30))
    assert told(repository, started_at_s) == (
        "objects/pack/pack-2.keep",
        "objects/pack/tmp_pack_new001 (26 B)",
        "objects/tmp_objdir-incoming-aBc012/",
    )
