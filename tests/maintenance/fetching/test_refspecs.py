"""Which refspecs are fetched by, and where a reference of the remote goes."""

from pathlib import Path

import pytest

from gitdash.maintenance.fetching.refspecs import is_mirror, local_name, only_tracks, refspec_problem
from tests.support.repositories import GitRepository

SAFE = [
    "+refs/heads/*:refs/remotes/origin/*",
    "refs/heads/main:refs/remotes/origin/main",
    "+refs/tags/*:refs/tags/*",
    "+refs/pull/*/head:refs/remotes/origin/pull/*",
    "^refs/heads/private/*",
]
LOCAL = [
    "+refs/*:refs/*",
    "+refs/heads/*:refs/heads/*",
    "refs/heads/main:refs/heads/main",
    "+refs/x/*:refs/h*",
    "+refs/x:refs/stash",
    "+refs/x/*:refs/replace/*",
    "+refs/x/*:refs/worktree/*",
]
BAD = [
    "",
    "main",
    "refs/heads/main",
    "HEAD:refs/remotes/origin/HEAD",
    "refs/heads/*:refs/remotes/origin/main",
    "refs/heads/*/*:refs/x/*/*",
    "refs/heads/a..b:refs/x/a",
    "refs/heads/a b:refs/x/a",
    "refs/heads/a:refs/x/a:refs/x/b",
    "--upload-pack=x",
    "+refs/heads/a:refs/x/\x1b[2J",
    "refs/heads/a:",
]


@pytest.mark.parametrize("refspec", SAFE)
@pytest.mark.parametrize("is_bare", [False, True])
def test_refspec_that_keeps_local_branches_is_fetched_by(refspec: str, is_bare: bool) -> None:
    assert refspec_problem(refspec, is_bare=is_bare) is None


@pytest.mark.parametrize("refspec", LOCAL)
def test_refspec_that_writes_what_a_work_tree_uses_is_for_bare_repositories(refspec: str) -> None:
    assert refspec_problem(refspec, is_bare=True) is None
    assert refspec_problem(refspec, is_bare=False) is not None


@pytest.mark.parametrize("refspec", BAD)
def test_refspec_of_another_form_is_refused(refspec: str) -> None:
    assert refspec_problem(refspec, is_bare=True) is not None


def test_mirror_is_what_writes_branches() -> None:
    assert is_mirror(["+refs/*:refs/*"])
    assert is_mirror(["^refs/heads/x", "+refs/heads/*:refs/heads/*"])
    assert not is_mirror(["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"])


def test_only_remote_tracking_references_can_be_pruned_without_harm() -> None:
    assert only_tracks(["+refs/heads/*:refs/remotes/origin/*", "^refs/heads/x"])
    assert not only_tracks(["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"])


@pytest.mark.oracle
@pytest.mark.parametrize(
    "refspecs",
    [
        ["+refs/heads/*:refs/remotes/o/*"],
        ["+refs/heads/feature/*:refs/x/*", "^refs/heads/feature/two"],
        ["+refs/heads/*/one:refs/x/*/y"],
        ["+refs/heads/main:refs/x/main", "+refs/tags/*:refs/y/*"],
    ],
)
def test_local_name_is_the_one_that_git_writes(refspecs: list[str], tmp_path: Path) -> None:
    upstream = GitRepository.init(tmp_path / "upstream.git")
    tip = upstream.commit({"a": "1"})
    for name in ("refs/heads/feature/one", "refs/heads/feature/two", "refs/tags/v1", "refs/heads/one"):
        upstream.git("update-ref", name, tip)
    names = upstream.git("for-each-ref", "--format=%(refname)").splitlines()
    client = GitRepository.init(tmp_path / "client.git")
    client.git("fetch", "--quiet", "--no-tags", "../upstream.git", *refspecs)
    written = set(client.git("for-each-ref", "--format=%(refname)").splitlines())
    assert {local_name(name, refspecs) for name in names} - {None} == written
