"""A member gives up copies of what its lender has, after the lender is shown to hold and reference them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.model.ledger import Outcome, Reason
from gitdash.model.task import Task
from tests.support.old_stores import complaints, grow_old, visible_objects
from tests.support.repositories import GitRepository, git_version
from tests.support.task_runs import make_lender_and_member, run

pytestmark = [pytest.mark.safety, pytest.mark.oracle]


def full_member(folder: Path) -> tuple[GitRepository, GitRepository]:
    """A member that has copies of everything that its lender has, and something of its own."""
    lender, member = make_lender_and_member(folder)
    member.git("repack", "-a", "-d", "-q")
    lender.repack()
    grow_old(lender, member)
    return lender, member


def packed_objects(repository: GitRepository) -> set[str]:
    found = set()
    for pack in repository.packs():
        listed = repository.git("show-index", stdin=pack.with_suffix(".idx").read_bytes())
        found |= {line.split()[1] for line in listed.splitlines()}
    return found


def test_what_the_lender_references_goes_and_the_rest_stays(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    unreachable = member.blob(b"nothing references this")
    member.git("repack", "-a", "-d", "-q", "-k")
    own = packed_objects(member) - packed_objects(lender)
    before = visible_objects(member)
    events: list[str] = []
    result = run(member, Task.DEDUPLICATE, events=events)
    assert result.outcome is Outcome.DONE, result.sentence
    assert packed_objects(member) == own
    assert unreachable in own
    assert visible_objects(member) == before
    assert not complaints(member)
    closing = events.index("close readers")
    assert events[closing - 1].startswith("repack without")
    assert events[closing + 1] == "warm readers"


def test_loose_objects_are_packed_too_whether_anything_reaches_them_or_not(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    reached = member.commit({"own": "of the member"})
    unreachable = member.blob(b"nothing references this")
    grow_old(lender, member)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.DONE, result.sentence
    assert {reached, unreachable} <= packed_objects(member)
    assert "count: 0" in member.git("count-objects", "-v").splitlines()


def test_a_lender_that_lacks_an_object_is_not_relied_on(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    shutil.rmtree(lender.git_dir / "objects" / "pack")
    (lender.git_dir / "objects" / "pack").mkdir()
    packs = [path.name for path in member.packs()]
    result = run(member, Task.DEDUPLICATE)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.REFUSED)
    assert "lender" in result.sentence
    assert [path.name for path in member.packs()] == packs
    assert not complaints(member)


def test_a_commit_graph_does_not_vouch_for_commits_that_are_gone(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    lender.git("commit-graph", "write", "--reachable")
    pack = lender.packs()[0]
    content = pack.read_bytes()
    for path in pack.parent.iterdir():
        path.unlink()
    lender.git("unpack-objects", "-q", stdin=content)
    root = lender.git("rev-list", "--max-parents=0", "main")
    (lender.git_dir / "objects" / root[:2] / root[2:]).unlink()
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.REFUSED, result.sentence
    assert not complaints(member)


def test_unreferenced_objects_of_the_lender_are_counted(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    lender.git("update-ref", "-d", "refs/heads/topic")
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.REFUSED
    # the commit, its tree and its blob
    assert f"no reference of the lender {lender.path} reaches 3 objects that are here as well" in result.sentence


def test_refusal_names_a_command_after_which_the_lender_keeps_them(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    lender.git("update-ref", "-d", "refs/heads/topic")
    command = run(member, Task.DEDUPLICATE).sentence.partition("for instance by: ")[2]
    subprocess.run(["/bin/sh", "-c", command], check=True, capture_output=True)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.DONE, result.sentence
    lender.git("-c", "gc.reflogExpireUnreachable=now", "gc", "-q", "--prune=now")
    assert not complaints(member)


def test_the_whole_chain_of_lenders_is_looked_at(tmp_path: Path) -> None:
    lender, middle = full_member(tmp_path)
    middle.git("repack", "-a", "-d", "-q", "-l")
    last = GitRepository.init(tmp_path / "last.git")
    last.borrow_from(middle)
    last.git("update-ref", "refs/heads/keep", lender.git("rev-parse", "topic"))
    last.git("repack", "-a", "-d", "-q")
    lender.git("update-ref", "-d", "refs/heads/topic")
    grow_old(lender, middle, last)
    result = run(last, Task.DEDUPLICATE)
    assert result.outcome is Outcome.REFUSED
    assert os.fspath(lender.path) in result.sentence
    lender.git("update-ref", "refs/heads/topic", last.git("rev-parse", "keep"))
    assert run(last, Task.DEDUPLICATE).outcome is Outcome.DONE
    assert not complaints(last)


def test_a_damaged_member_is_said_to_be_and_left(tmp_path: Path) -> None:
    _, member = full_member(tmp_path)
    loose = member.commit({"own": "lost"})
    (member.git_dir / "objects" / loose[:2] / loose[2:]).unlink()
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome in {Outcome.REFUSED, Outcome.FAILED}
    assert result.reason in {Reason.CORRUPT, Reason.REFUSED}
    assert len(member.packs()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_lender_of_another_user_is_asked_without_its_config(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    lender.git("config", "core.alternateRefsCommand", f"touch {tmp_path}/ran")
    lender.git("config", "core.fsmonitor", f"touch {tmp_path}/ran")
    for folder, names, files in os.walk(lender.path):
        for name in (*names, *files, "."):
            os.chown(os.path.join(folder, name), 12345, 12345)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.DONE, result.sentence
    assert not (tmp_path / "ran").exists()
    assert not complaints(member)


def test_a_store_without_a_repository_around_it_is_not_relied_on(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    (lender.git_dir / "objects").rename(tmp_path / "store")
    (member.git_dir / "objects" / "info" / "alternates").write_text(f"{tmp_path}/store\n")
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.REFUSED
    assert "belongs to no repository" in result.sentence


@pytest.mark.parametrize(("object_format", "backend"), [("sha256", None), ("sha1", "reftable")])
def test_other_formats_are_looked_at_in_the_same_way(tmp_path: Path, object_format: str, backend: str | None) -> None:
    if backend is not None and git_version() < (2, 45):
        pytest.skip("this git has no reftables")
    lender, member = make_lender_and_member(tmp_path, object_format=object_format, reference_backend=backend)
    member.git("repack", "-a", "-d", "-q")
    lender.repack()
    own = packed_objects(member) - packed_objects(lender)
    topic = lender.git("rev-parse", "topic")
    lender.git("update-ref", "-d", "refs/heads/topic")
    grow_old(lender, member)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.REFUSED
    assert "reaches 3 objects that are here as well" in result.sentence
    lender.git("update-ref", "refs/heads/topic", topic)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.DONE, result.sentence
    assert packed_objects(member) == own
    assert run(member, Task.UNLINK).outcome is Outcome.DONE
    shutil.rmtree(lender.path)
    assert not complaints(member)


def test_a_lender_with_grafts_is_not_relied_on(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    (lender.git_dir / "info").mkdir(exist_ok=True)
    (lender.git_dir / "info" / "grafts").write_text(lender.git("rev-parse", "topic") + "\n")
    assert run(member, Task.DEDUPLICATE).outcome is Outcome.REFUSED


def folder_is_gone(_administration: Path, folder: Path) -> None:
    shutil.rmtree(folder)


def file_gitdir_is_gone(administration: Path, _folder: Path) -> None:
    (administration / "gitdir").unlink()


def head_is_no_reference(administration: Path, folder: Path) -> None:
    shutil.rmtree(folder)
    (administration / "HEAD").write_text("nothing")


@pytest.mark.parametrize("harm", [folder_is_gone, file_gitdir_is_gone, head_is_no_reference])
def test_the_head_of_a_work_tree_that_git_will_prune_does_not_count(
    tmp_path: Path, harm: Callable[[Path, Path], None]
) -> None:
    lender, member = full_member(tmp_path)
    folder = tmp_path / "linked"
    lender.git("worktree", "add", "--quiet", "--detach", os.fspath(folder), "topic")
    lender.git("update-ref", "-d", "refs/heads/topic")
    harm(lender.git_dir / "worktrees" / "linked", folder)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.REFUSED, result.sentence
    assert "reaches 3 objects that are here as well" in result.sentence
    assert "work trees aside" in result.sentence
    # what the lender's next gc does is what was feared
    lender.git("worktree", "prune", "--expire=now")
    lender.git("-c", "gc.reflogExpireUnreachable=now", "gc", "-q", "--prune=now")
    assert "keep" in member.git("for-each-ref")
    assert not complaints(member)
    assert visible_objects(lender) < visible_objects(member)


def test_a_branch_that_a_work_tree_has_checked_out_counts(tmp_path: Path) -> None:
    lender, member = full_member(tmp_path)
    lender.git("worktree", "add", "--quiet", os.fspath(tmp_path / "linked"), "topic")
    shutil.rmtree(tmp_path / "linked")
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.DONE, result.sentence
    assert not complaints(member)
