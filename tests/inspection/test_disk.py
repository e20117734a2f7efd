"""What a git directory occupies."""

import os
import shutil
from pathlib import Path

import pytest

from gitdash.inspection import listing as inspection_listing
from gitdash.model.disk_facts import DiskFacts
from tests.inspection.conftest import Inspect
from tests.support.repositories import GitRepository


def disk_of(inspect: Inspect, repository: GitRepository | Path, **more: Path) -> DiskFacts:
    disk = inspect(repository, **more).disk
    assert isinstance(disk, DiskFacts)
    return disk


def walked(folder: Path) -> tuple[int, int, int]:
    """Bytes, allocated bytes and number of all files below a folder, by a walk of its own."""
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(top, name))
            found[status.st_dev, status.st_ino] = status
    return (
        sum(status.st_size for status in found.values()),
        sum(status.st_blocks * 512 for status in found.values()),
        len(found),
    )


def test_all_files_below_the_git_directory_are_summed(repository: GitRepository, inspect: Inspect) -> None:
    repository.commit({"a": "1" * 5000})
    repository.repack()
    repository.blob(b"loose")
    (repository.git_dir / "objects" / "ab").mkdir(exist_ok=True)
    (repository.git_dir / "objects" / "ab" / "garbage").write_bytes(b"x" * 10)
    (repository.git_dir / "deep" / "er").mkdir(parents=True)
    (repository.git_dir / "deep" / "er" / "f").write_bytes(b"x" * 100)
    disk = disk_of(inspect, repository)
    assert (disk.bytes, disk.allocated_bytes, disk.file_count) == walked(repository.git_dir)
    assert disk.objects_bytes == walked(repository.git_dir / "objects")[0]
    assert not disk.incomplete


def test_the_parts_are_told_apart(tmp_path: Path, inspect: Inspect) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"a": "1"})
    main.git("worktree", "add", "-q", os.fspath(tmp_path / "linked"), "-b", "topic")
    GitRepository.init(main.git_dir / "modules" / "sub").blob(b"in a submodule")
    (main.git_dir / "lfs" / "objects").mkdir(parents=True)
    (main.git_dir / "lfs" / "objects" / "big").write_bytes(b"x" * 1000)
    disk = disk_of(inspect, main)
    assert (disk.bytes, disk.allocated_bytes, disk.file_count) == walked(main.git_dir)
    for part in ("objects", "modules", "worktrees", "logs", "lfs"):
        assert getattr(disk, f"{part}_bytes") == walked(main.git_dir / part)[0], part
        assert getattr(disk, f"{part}_bytes") > 0


def test_a_linked_worktree_weighs_its_own_git_directory(tmp_path: Path, inspect: Inspect) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"a": "1"})
    main.git("worktree", "add", "-q", os.fspath(tmp_path / "linked"), "-b", "topic")
    own = main.git_dir / "worktrees" / "linked"
    disk = disk_of(inspect, own, common_dir=main.git_dir)
    assert (disk.bytes, disk.allocated_bytes, disk.file_count) == walked(own)
    assert disk.objects_bytes == 0


@pytest.mark.oracle
def test_what_a_local_clone_shares_is_told(tmp_path: Path, inspect: Inspect) -> None:
    source = GitRepository.init(tmp_path / "source.git")
    source.commit({"a": "1" * 5000})
    source.repack()
    assert disk_of(inspect, source).linked_bytes == 0
    before = inspect(source).fingerprint
    clone = tmp_path / "clone.git"
    source.git("clone", "-q", "--bare", "--template=", source.path, clone)
    shared = [path for path in (clone / "objects").rglob("*") if path.is_file() and path.stat().st_nlink == 2]
    assert {path.suffix for path in shared} >= {".pack", ".idx"}
    for repository in (source, clone):
        assert disk_of(inspect, repository).linked_bytes == sum(path.stat().st_size for path in shared)
    assert inspect(source).fingerprint != before
    shutil.rmtree(clone)
    assert disk_of(inspect, source).linked_bytes == 0
    assert inspect(source).fingerprint == before


def test_links_below_the_git_directory_alone_are_freed_with_it(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    path = sha1_repository.git_dir / "big"
    path.write_bytes(b"x" * 10_000)
    for number in range(3):
        os.link(path, sha1_repository.git_dir / f"link{number}")
    assert disk_of(inspect, sha1_repository).linked_bytes == 0
    os.link(path, sha1_repository.git_dir.parent / "elsewhere")
    assert disk_of(inspect, sha1_repository).linked_bytes == 10_000


def test_a_file_with_several_links_counts_once(sha1_repository: GitRepository, inspect: Inspect) -> None:
    path = sha1_repository.git_dir / "big"
    path.write_bytes(b"x" * 10_000)
    before = disk_of(inspect, sha1_repository)
    (sha1_repository.git_dir / "objects" / "ab").mkdir()
    os.link(path, sha1_repository.git_dir / "objects" / "ab" / ("0" * 38))
    os.link(path, sha1_repository.git_dir / "other")
    after = disk_of(inspect, sha1_repository)
    assert (after.bytes, after.file_count) == (before.bytes, before.file_count)


def test_a_sparse_file_occupies_less_than_its_size(sha1_repository: GitRepository, inspect: Inspect) -> None:
    with (sha1_repository.git_dir / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    disk = disk_of(inspect, sha1_repository)
    assert disk.bytes > 1 << 40
    assert disk.allocated_bytes < 1 << 20


@pytest.mark.safety
def test_links_are_not_followed(sha1_repository: GitRepository, inspect: Inspect) -> None:
    before = disk_of(inspect, sha1_repository)
    (sha1_repository.git_dir / "root").symlink_to("/")
    (sha1_repository.git_dir / "self").symlink_to(".")
    after = disk_of(inspect, sha1_repository)
    assert after.bytes == before.bytes + len("/") + len(".")


@pytest.mark.safety
def test_a_walk_without_end_is_ended_and_says_so(
    sha1_repository: GitRepository, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection_listing, "_MAXIMUM_ENTRIES", 30)
    folder = sha1_repository.git_dir / "junk"
    for number in range(40):
        (folder / f"{number}").mkdir(parents=True)
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.disk, DiskFacts)
    assert inspection.disk.incomplete
    assert any("stopped after" in problem.reason for problem in inspection.problems)


@pytest.mark.safety
def test_a_folder_deeper_than_a_path_may_be_long_leaves_the_sum_incomplete(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    here = os.open(sha1_repository.git_dir, os.O_RDONLY)
    try:
        for _ in range(30):
            os.mkdir("d" * 200, dir_fd=here)
            inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
    finally:
        os.close(here)
    disk = disk_of(inspect, sha1_repository)
    assert disk.incomplete
    assert disk.bytes > 0


def test_sums_do_not_depend_on_how_many_files_are_pending(
    sha1_repository: GitRepository, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sha1_repository.git_dir / "lfs").mkdir()
    for number in range(50):
        (sha1_repository.git_dir / "lfs" / f"{number}").write_bytes(b"x" * number)
    whole = disk_of(inspect, sha1_repository)
    monkeypatch.setattr(inspection_listing, "_PENDING_ENTRIES", 3)
    assert disk_of(inspect, sha1_repository) == whole
