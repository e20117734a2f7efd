"""Which repositories `fetch` and `maintain` mean by folders and conditions."""

import os
from pathlib import Path

import pytest

from gitdash.errors import ExitCode
from tests.cli.process import Gitdash
from tests.support.repositories import GitRepository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two bare repositories, one of them deep below, and a work tree with a linked one beside it."""
    folder = tmp_path / "root"
    for name in ("a.git", "deep/below/b.git"):
        GitRepository.init(folder / name).commit({"a": "1"})
    main = GitRepository.init(folder / "main", bare=False)
    main.commit({"a": "1"})
    main.commit({"a": "2"})
    main.git("worktree", "add", "--quiet", "--detach", folder / "linked", "main")
    return folder


def planned(gitdash: Gitdash, *arguments: object) -> set[str]:
    document = gitdash.json("maintain", *arguments, "--task", "verify", "--dry-run")
    return {plan["path"] for plan in document["plans"]}


def names(root: Path, *below: str) -> set[str]:
    return {os.fspath(root / name) for name in below}


def test_folder_stands_for_all_repositories_below_it_each_store_once(gitdash: Gitdash, root: Path) -> None:
    assert planned(gitdash, root) == names(root, "a.git", "deep/below/b.git", "main")
    assert planned(gitdash, root / "deep", root / "a.git") == names(root, "deep/below/b.git", "a.git")


def test_folder_in_a_work_tree_stands_for_that_alone(gitdash: Gitdash, root: Path) -> None:
    (root / "main" / "inside").mkdir()
    assert planned(gitdash, root / "main" / "inside") == names(root, "main")


def test_linked_worktree_by_itself_is_acted_on(gitdash: Gitdash, root: Path) -> None:
    assert planned(gitdash, root / "linked") == names(root, "linked")


def test_condition_selects_among_those_below(gitdash: Gitdash, root: Path) -> None:
    # two commits, two trees, two blobs; the others have three objects
    assert planned(gitdash, root, "--where", "loose > 3 AND name != 'linked'") == names(root, "main")


def test_condition_that_selects_nothing_is_no_failure(gitdash: Gitdash, root: Path) -> None:
    ended = gitdash.run("maintain", root, "--where", "packs > 1000", "--yes")
    assert (ended.returncode, ended.stdout) == (ExitCode.DONE, "")
    assert "no repository is selected" in ended.stderr


def test_condition_that_cannot_be_run_is_wrong_use(gitdash: Gitdash, root: Path) -> None:
    assert gitdash.run("fetch", root, "--where", "no_such_column > 1").returncode == ExitCode.WRONG_USE


def test_folder_without_any_repository_is_wrong_use(gitdash: Gitdash, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = gitdash.run("maintain", tmp_path / "empty", "--dry-run")
    assert ended.returncode == ExitCode.WRONG_USE
    assert "nor is there one below it" in ended.stderr


def test_all_below_a_folder_are_one_run(gitdash: Gitdash, root: Path) -> None:
    assert gitdash.run("maintain", root, "--task", "pack-refs", "--yes").returncode == ExitCode.DONE
    actions = gitdash.json("history")["actions"]
    assert len(actions) == 3
    assert len({action["run"] for action in actions}) == 1


@pytest.mark.safety
def test_what_drops_objects_is_not_done_below_a_folder(gitdash: Gitdash, root: Path) -> None:
    ended = gitdash.run("maintain", root, "--task", "reclaim", "--confirm", "root")
    assert ended.returncode == ExitCode.WRONG_USE
    assert "one repository at a time" in ended.stderr
    assert gitdash.json("history")["actions"] == []
