"""Stores as the survey hands them to index arithmetic; what each object takes on disk, git says."""

import os
from pathlib import Path

import pytest

from gitdash.maintenance.store_folder import object_store
from gitdash.measurement.exclusive import LenderIds, measure_exclusive
from gitdash.model.inspection import ObjectFormat
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes
from gitdash.survey.exclusive import exclusive_of
from gitdash.survey.inspect_now import inspect_now
from tests.support.repositories import GitRepository, git_version

INCREMENTAL_SINCE = (2, 47)


def with_two_copies(path: Path) -> tuple[GitRepository, list[Path]]:
    """A repository that has each object twice: as a delta and whole."""
    repository = GitRepository.init(path)
    for number in range(8):
        repository.commit({"file": "".join(f"{line} {number if line == 5 else ''}\n" for line in range(300))})
    repository.git("repack", "-q", "-a", "-d", "-f", "--window=10")
    (deltas,) = repository.packs()
    repository.git("repack", "-q", "-a", "-F", "--depth=0", "--window=0")
    return repository, [deltas, *(pack for pack in repository.packs() if pack != deltas)]


def measured(repository: GitRepository) -> int:
    store = object_store(os.fsencode(repository.git_dir / "objects"))
    sizes = measure_exclusive(store, [], LenderIds(), object_format=ObjectFormat.SHA1, now_s=0.0)
    assert isinstance(sizes, ExclusiveSizes)
    return sizes.exclusive_bytes


def said_by_git(repository: GitRepository) -> int:
    """Ask for each object alone: a git that runs on prefers the pack of its last hit."""
    ids = repository.git("rev-list", "--all", "--objects", "--no-object-names").split()
    return sum(
        int(repository.git("cat-file", "--batch-check=%(objectsize:disk)", stdin=f"{object_id}\n".encode()))
        for object_id in ids
    )


@pytest.mark.oracle
@pytest.mark.parametrize("preferred", [0, 1])
def test_copy_that_the_multi_pack_index_names_counts(preferred: int, tmp_path: Path) -> None:
    repository, packs = with_two_copies(tmp_path / "r.git")
    os.utime(packs[1 - preferred], (0, 2_000_000_000))
    before = measured(repository)
    repository.git("multi-pack-index", "write", "--bitmap", f"--preferred-pack={packs[preferred].stem}.idx")
    assert measured(repository) == said_by_git(repository) != before


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < INCREMENTAL_SINCE, reason="git writes no incremental multi-pack-index")
def test_layers_of_an_incremental_multi_pack_index_come_newest_first(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    for number in range(3):
        repository.commit({"file": f"{number}"})
        repository.git("repack", "-q", "-d")
        repository.git("multi-pack-index", "write", "--incremental")
    folder = repository.git_dir / "objects" / "pack" / "multi-pack-index.d"
    chain = (folder / "multi-pack-index-chain").read_text().split()
    files = [(folder / f"multi-pack-index-{checksum}.midx").read_bytes() for checksum in chain]
    assert len(files) == 3
    store = object_store(os.fsencode(repository.git_dir / "objects"))
    assert [layer[0 : len(layer)] for layer in store.multi_pack_index()] == files[::-1]


@pytest.mark.parametrize("content", [None, b"", b"not a chain\n", b"0" * 40 + b"\n"])
def test_a_chain_that_cannot_be_read_names_no_copy(content: bytes | None, tmp_path: Path) -> None:
    folder = tmp_path / "pack" / "multi-pack-index.d"
    folder.mkdir(parents=True)
    if content is None:
        os.mkfifo(folder / "multi-pack-index-chain")
    else:
        (folder / "multi-pack-index-chain").write_bytes(content)
    assert list(object_store(os.fsencode(tmp_path)).multi_pack_index()) == []


def test_exclusive_bytes_of_a_pack_without_index_are_not_known(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": "one\n"})
    repository.repack()
    (pack,) = repository.packs()
    pack.with_suffix(".idx").unlink()
    git_dir = os.fsencode(repository.path)
    inspection = inspect_now(git_dir, git_dir, now_s=0.0)
    assert exclusive_of(git_dir, inspection, LenderIds(), now_s=0.0) == Unreadable(f"{pack.name} has no index")
