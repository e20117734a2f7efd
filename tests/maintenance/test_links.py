"""Which names are symbolic links through which git would write."""

import os
from pathlib import Path

import pytest

from gitdash.maintenance.links import find_links
from tests.support.repositories import GitRepository

pytestmark = pytest.mark.safety

NAMES = [
    "objects",
    "objects/info",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/info/commit-graphs",
    "objects/info/commit-graphs/commit-graph-chain",
    "objects/pack",
    "objects/pack/multi-pack-index",
    "objects/pack/multi-pack-index.d",
    "objects/00",
    "objects/ff",
    "packed-refs",
    "shallow",
    "FETCH_HEAD",
    "refs",
    "refs/tags",
    "refs/heads/deep/branch",
    "logs",
    "logs/HEAD",
    "logs/refs/remotes/origin/main",
    "worktrees",
    "worktrees/side",
    "worktrees/side/logs",
    "worktrees/side/logs/HEAD",
    "worktrees/side/refs/bisect",
    "reftable/tables.list",
    "packed-refs.lock",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_link_at_a_name_that_git_writes_is_found_wherever_it_leads(tmp_path: Path, name: str) -> None:
    repository = GitRepository.init(tmp_path / "repository")
    path = repository.path / name
    if path.is_dir():
        path.rename(tmp_path / "away")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(tmp_path / "nowhere")
    assert find_links(os.fsencode(repository.path)).paths == (name.encode(),)


def test_an_ordinary_repository_has_none(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "repository")
    repository.commit({"a": "1"})
    repository.repack()
    links = find_links(os.fsencode(repository.path))
    assert (links.paths, links.is_complete) == ((), True)


def test_head_as_a_link_to_a_branch_is_none_of_them(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "repository")
    head = repository.path / "HEAD"
    head.unlink()
    head.symlink_to("refs/heads/main")
    assert find_links(os.fsencode(repository.path)).paths == ()


def test_what_was_not_looked_at_is_said(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "repository")
    for number in range(5):
        (repository.path / "refs" / "heads" / f"empty{number}").touch()
    assert not find_links(os.fsencode(repository.path), maximum_count=6).is_complete
    assert find_links(os.fsencode(repository.path), maximum_count=7).is_complete
