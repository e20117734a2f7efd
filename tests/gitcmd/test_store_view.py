"""In a view of a store git finds every object, and no file that is derived."""

import os
from pathlib import Path

import pytest

from gitdash.gitcmd.store_view import make_store_view
from tests.support.repositories import GitRepository

DERIVED = ("*.rev", "*.bitmap", "multi-pack-index*", "commit-graph*")


def make(path: Path, *lenders: GitRepository) -> GitRepository:
    repository = GitRepository.init(path)
    for lender in lenders:
        repository.borrow_from(lender)
    repository.commit({path.name: "packed\n" * 30})
    repository.git("-c", "pack.writeReverseIndex=true", "repack", "-q", "-a", "-d", "-l", "-b", check=not lenders)
    repository.git("commit-graph", "write", "--reachable", "--split")
    repository.git("multi-pack-index", "write")
    repository.blob(path.name.encode())
    return repository


def objects(repository: GitRepository) -> bytes:
    return os.fsencode(repository.git_dir / "objects")


def all_objects(repository: GitRepository, **environment: str) -> set[str]:
    ask = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
    return set(repository.git(*ask, **environment).splitlines())


@pytest.mark.oracle
def test_git_finds_every_object_of_the_store_and_of_its_lenders(tmp_path: Path) -> None:
    far = make(tmp_path / "far.git")
    near = make(tmp_path / "near.git", far)
    own = make(tmp_path / "own.git", near)
    folder = tmp_path / "view"
    folder.mkdir()
    view = make_store_view(os.fsencode(folder), objects(own), [objects(near), objects(far)])
    assert all_objects(own, GIT_OBJECT_DIRECTORY=os.fsdecode(view)) == all_objects(own)
    assert len(all_objects(own)) == 10, (
        "a commit, a tree and a loose blob of each, and one blob that is the same in all"
    )
    assert [path for pattern in DERIVED for path in folder.rglob(pattern)] == []
    assert any(path for pattern in DERIVED for path in far.git_dir.rglob(pattern))


def test_a_lender_that_is_missing_stays_for_git_to_name(tmp_path: Path) -> None:
    own = make(tmp_path / "own.git")
    folder = tmp_path / "view"
    folder.mkdir()
    gone = os.fsencode(tmp_path / "gone")
    view = make_store_view(os.fsencode(folder), objects(own), [gone])
    assert Path(os.fsdecode(view), "info", "alternates").read_bytes() == gone + b"\n"
