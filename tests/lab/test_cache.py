import os
import threading
from pathlib import Path

import pytest

from gitdash.gitcmd.runner import find_git
from gitdash.lab.cache import ColdCache
from gitdash.lab.measured_git import measured_git
from gitdash.lab.variant import RunContext
from tests.support.repositories import GIT, GitRepository

CONTENT_BYTES = 3_000_000


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """A repository with one pack of some 3 MB, which is on the disk."""
    repository = GitRepository.init(tmp_path / "a.git")
    repository.commit({"file": os.urandom(CONTENT_BYTES)})
    repository.repack()
    os.sync()
    return repository


def read_bytes_of_a_whole_read(repository: GitRepository) -> int:
    """What git reads from the disk to read the one big blob."""
    measured = measured_git(
        find_git(GIT),
        ["cat-file", "blob", "main:file"],
        RunContext(cancel=threading.Event(), time_limit_s=60.0),
        git_dir=os.fsencode(repository.path),
        answer=len,
    )
    assert measured.answer == CONTENT_BYTES
    assert measured.read_bytes is not None
    return measured.read_bytes


def test_a_cold_run_reads_the_pack_from_the_disk_and_a_warm_one_nothing(
    repository: GitRepository, tmp_path: Path
) -> None:
    cold = ColdCache([os.fsencode(repository.path / "objects")], drop_caches=os.fspath(tmp_path / "none"))
    read_bytes_of_a_whole_read(repository)
    assert read_bytes_of_a_whole_read(repository) < CONTENT_BYTES / 10
    cold.empty()
    found = read_bytes_of_a_whole_read(repository)
    if found < CONTENT_BYTES:
        pytest.skip("this file system does not let go of its pages, or does not count what it reads")
    cold.judge(found, is_trial=False)
    files = sum(path.is_file() for path in (repository.path / "objects").rglob("*"))
    assert cold.note() == f"posix_fadvise(DONTNEED) on {files} files before each run; 1 of 1 run read from the disk"


def test_folders_of_a_variant_are_emptied_instead_of_those_of_the_experiment(
    repository: GitRepository, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    cold = ColdCache([os.fsencode(tmp_path / "other")], drop_caches=os.fspath(tmp_path / "none"))
    cold.empty()
    assert "on 0 files" in cold.note()
    cold.empty([os.fsencode(repository.path / "objects")])
    assert "on 0 files" not in cold.note()


def test_runs_that_read_nothing_are_called_warm(tmp_path: Path) -> None:
    cold = ColdCache([], drop_caches=os.fspath(tmp_path / "none"))
    cold.judge(0, is_trial=True)
    cold.empty()
    cold.judge(0, is_trial=False)
    assert cold.note().endswith("it did not work: no run read anything from the disk, so what was timed is warm")


def test_what_is_not_counted_is_called_unknown(tmp_path: Path) -> None:
    cold = ColdCache([], drop_caches=os.fspath(tmp_path / "none"))
    cold.judge(None, is_trial=True)
    cold.judge(None, is_trial=False)
    assert cold.note().endswith("whether it worked is not known: nothing was counted")


def test_everything_is_dropped_once_a_trial_has_read_nothing(tmp_path: Path) -> None:
    switch = tmp_path / "drop_caches"
    switch.touch()
    cold = ColdCache([], drop_caches=os.fspath(switch))
    cold.judge(4096, is_trial=True)
    cold.empty()
    assert switch.read_bytes() == b""
    cold.judge(0, is_trial=True)
    cold.empty()
    # proc(5): 3 drops pages, and names and inodes
    assert switch.read_bytes() == b"3\n"
    cold.judge(4096, is_trial=False)
    assert "then /proc/sys/vm/drop_caches" in cold.note()


@pytest.mark.safety
def test_a_fifo_in_a_store_does_not_hang_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pack-1.pack")
    cold = ColdCache([os.fsencode(tmp_path)], drop_caches=os.fspath(tmp_path / "none"))
    cold.empty()
    assert "on 0 files" in cold.note()
