"""Symbolic links at names through which git would write, and stores that are one in part."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitdash.maintenance.links import find_links
from gitdash.maintenance.shared_files import shared_with
from gitdash.model.ledger import Outcome
from gitdash.model.task import Task
from tests.support.old_stores import complaints, visible_objects
from tests.support.repositories import GitRepository
from tests.support.task_runs import make_lender_and_member, run

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
    "info",
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


VICTIMS = [
    (Task.GEOMETRIC_REPACK, "objects/pack/multi-pack-index"),
    (Task.MULTI_PACK_INDEX, "objects/pack/multi-pack-index"),
    (Task.COMMIT_GRAPH, "objects/info/commit-graph"),
    (Task.COMMIT_GRAPH, "objects/info/commit-graphs/commit-graph-chain"),
    (Task.PACK_REFS, "packed-refs"),
]


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(("task", "name"), VICTIMS)
def test_no_task_writes_to_what_a_link_leads_to(tmp_path: Path, task: Task, name: str, is_there: bool) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    for number in range(3):
        repository.commit({"a": f"{number}"})
        repository.git("repack", "-d", "-q")
    victim = tmp_path / "victim"
    if is_there:
        victim.write_text("precious")
    link = repository.git_dir / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(victim)
    assert run(repository, task).outcome is Outcome.REFUSED
    assert victim.exists() is is_there
    assert not is_there or victim.read_text() == "precious"


def test_tags_of_another_repository_stay_where_a_link_leads_to_them(tmp_path: Path) -> None:
    other = GitRepository.init(tmp_path / "other.git")
    other.commit({"a": "1"})
    other.git("tag", "v1", "main")
    repository = GitRepository.init(tmp_path / "one.git")
    repository.borrow_from(other)
    shutil.rmtree(repository.git_dir / "refs" / "tags")
    (repository.git_dir / "refs" / "tags").symlink_to(other.git_dir / "refs" / "tags")
    assert run(repository, Task.PACK_REFS).outcome is Outcome.REFUSED
    assert other.git("tag") == "v1"


@pytest.mark.parametrize("task", [Task.DEDUPLICATE, Task.LOOSE_OBJECTS, Task.INCREMENTAL_REPACK, Task.UNLINK])
def test_nothing_is_removed_from_a_pack_folder_that_is_the_lenders(tmp_path: Path, task: Task) -> None:
    lender, member = make_lender_and_member(tmp_path)
    lender.repack()
    shutil.rmtree(member.git_dir / "objects" / "pack")
    (member.git_dir / "objects" / "pack").symlink_to(lender.git_dir / "objects" / "pack")
    before = visible_objects(member)
    assert run(member, task).outcome is Outcome.REFUSED
    assert (visible_objects(member), complaints(member), complaints(lender)) == (before, "", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_bind_mount_of_the_lenders_packs_is_seen(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    lender.repack()
    folders = [os.fspath(one.git_dir / "objects" / "pack") for one in (lender, member)]
    os.makedirs(folders[1], exist_ok=True)
    if subprocess.run(["mount", "--bind", *folders], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        result = run(member, Task.DEDUPLICATE)
        assert result.outcome is Outcome.REFUSED
        assert "objects/pack is that of its lender" in result.sentence
        assert complaints(lender) == ""
    finally:
        subprocess.run(["umount", folders[1]], check=True)


def test_a_lender_that_links_to_a_pack_of_the_member_keeps_it(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    lender.repack()
    for path in list((lender.git_dir / "objects" / "pack").glob("pack-*")):
        there = member.git_dir / "objects" / "pack" / path.name
        path.rename(there)
        path.symlink_to(there)
    assert run(member, Task.DEDUPLICATE).outcome is Outcome.REFUSED
    assert complaints(lender) == ""


def test_hard_links_are_two_files(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    lender.repack()
    for path in (lender.git_dir / "objects" / "pack").glob("pack-*"):
        os.link(path, member.git_dir / "objects" / "pack" / path.name)
    stores = [os.fsencode(one.git_dir / "objects") for one in (member, lender)]
    assert shared_with(*stores) is None
    assert run(member, Task.DEDUPLICATE).outcome is Outcome.DONE
    assert (complaints(member), complaints(lender)) == ("", "")


def test_a_full_repack_copies_packs_that_are_links(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    repository.repack()
    (tmp_path / "big").mkdir()
    for path in list((repository.git_dir / "objects" / "pack").glob("pack-*")):
        path.rename(tmp_path / "big" / path.name)
        path.symlink_to(tmp_path / "big" / path.name)
    repository.commit({"a": "2"})
    before = visible_objects(repository)
    assert run(repository, Task.FULL_REPACK).outcome is Outcome.DONE
    shutil.rmtree(tmp_path / "big")
    assert (visible_objects(repository), complaints(repository)) == (before, "")


@pytest.mark.parametrize("task", [Task.FULL_REPACK, Task.GEOMETRIC_REPACK, Task.BITMAP])
def test_what_git_lists_for_a_server_of_files_is_written_nowhere_else(tmp_path: Path, task: Task) -> None:
    repository = GitRepository.init(tmp_path / "repository")
    repository.commit({"a": "1"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (repository.path / "info").symlink_to(outside)
    (outside / "refs").write_text("mine")
    result = run(repository, task)
    assert result.outcome is Outcome.REFUSED
    assert "info" in result.sentence
    assert (outside / "refs").read_text() == "mine"


@pytest.mark.parametrize("name", ["info/refs", "objects/info/packs"])
def test_a_fifo_that_git_would_compare_with_what_it_lists_holds_nothing_up(tmp_path: Path, name: str) -> None:
    repository = GitRepository.init(tmp_path / "repository")
    repository.commit({"a": "1"})
    repository.git("repack", "-a", "-d", "-q")
    (repository.path / name).unlink()
    os.mkfifo(repository.path / name)
    result = run(repository, Task.FULL_REPACK, time_limit_s=10.0)
    assert result.outcome is Outcome.REFUSED
    assert name in result.sentence
