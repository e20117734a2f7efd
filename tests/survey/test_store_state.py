"""Whether object stores hold the same objects, told from names, sizes and times."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.survey.store_state import StoreStates
from tests.support.repositories import GitRepository

NOW_S = 1_900_000_000.0


def fingerprint(*repositories: Path, now_s: float = NOW_S) -> bytes:
    return StoreStates(now_s).fingerprint([os.fsencode(repository / "objects") for repository in repositories])


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "a.git")
    repository.commit({"a": "one\n" * 50})
    repository.repack("--write-midx")
    repository.clock_s += 60
    repository.commit({"a": "two\n" * 50})
    return repository


CHANGES: dict[str, Callable[[GitRepository], object]] = {
    "new objects": lambda repository: repository.commit({"b": "three\n"}),
    "repack": lambda repository: repository.repack(),
    "no multi-pack-index": lambda repository: (repository.path / "objects/pack/multi-pack-index").unlink(),
}
NO_CHANGES: dict[str, Callable[[GitRepository], object]] = {
    "branch": lambda repository: repository.git("branch", "other", "main"),
    "packed references": lambda repository: repository.git("pack-refs", "--all"),
    "lock": lambda repository: (repository.path / "packed-refs.lock").touch(),
    "commit-graph": lambda repository: repository.git("commit-graph", "write", "--reachable"),
    "keep": lambda repository: next((repository.path / "objects/pack").glob("*.pack")).with_suffix(".keep").touch(),
    "config": lambda repository: repository.git("config", "gc.auto", "0"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changes_the_objects_is_seen(repository: GitRepository, change: Callable[[GitRepository], object]) -> None:
    before = fingerprint(repository.path)
    change(repository)
    assert fingerprint(repository.path) not in {before, b""}


@pytest.mark.parametrize("change", NO_CHANGES.values(), ids=NO_CHANGES)
def test_what_leaves_the_objects_alone_is_not_seen(
    repository: GitRepository, change: Callable[[GitRepository], object]
) -> None:
    before = fingerprint(repository.path)
    change(repository)
    assert fingerprint(repository.path) == before != b""


def test_a_store_that_has_just_changed_or_is_missing_has_no_fingerprint(repository: GitRepository) -> None:
    newest_s = max(path.stat().st_mtime for path in repository.path.rglob("*"))
    assert fingerprint(repository.path, now_s=newest_s + 1) == b""
    assert fingerprint(repository.path, now_s=newest_s + 3) != b""
    assert fingerprint(repository.path, repository.path / "nothing") == b""


def test_it_matters_what_a_store_is_compared_with(repository: GitRepository, tmp_path: Path) -> None:
    other = GitRepository.init(tmp_path / "b.git")
    both = {fingerprint(repository.path, other.path), fingerprint(other.path, repository.path)}
    assert len(both | {fingerprint(repository.path), fingerprint(other.path)}) == 4
