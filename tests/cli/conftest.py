"""A small fleet that every kind of row is in, and a way to run gitdash on it."""

from pathlib import Path

import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GitRepository


@pytest.fixture
def gitdash(tmp_path: Path) -> Gitdash:
    return Gitdash.make(tmp_path / "run")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A pool, a member with a commit of its own, a work tree, an empty repository, a broken one and a folder."""
    root = tmp_path / "fleet"
    root.mkdir()
    pool = GitRepository.init(root / "pool.git")
    pool.commit({"a": "one\n" * 50, "b": "two\n" * 70})
    pool.repack("--write-bitmap-index")
    member = GitRepository.init(root / "member.git")
    member.borrow_from(pool)
    member.git("update-ref", "refs/heads/main", pool.git("rev-parse", "main"))
    member.clock_s += 600
    member.commit({"a": "one\n" * 50, "c": "three\n" * 90})
    work_tree = GitRepository.init(root / "work", bare=False)
    work_tree.commit({"x": "y\n"})
    (root / "work" / "inside").mkdir()
    GitRepository.init(root / "empty.git")
    (root / "broken.git").mkdir()
    (root / "folder").mkdir()
    return root
