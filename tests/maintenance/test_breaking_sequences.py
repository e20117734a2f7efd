"""Each known way to break a borrower by maintenance, with gitdash in the place of the command that breaks it.

Every sequence of a lender that forgets, a borrower that collects and a store that two share ends with a borrower that
git finds whole, with all objects 40 days old, loose and packed. That a sequence breaks with git itself is tried, too:
a sequence that cannot break proves nothing.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.maintenance.tasks import ALLOWED_IN_LENDER
from gitdash.model.ledger import Outcome
from gitdash.model.task import Task
from tests.support.old_stores import complaints, grow_old, visible_objects
from tests.support.repositories import GitRepository
from tests.support.task_runs import make_lender_and_member, run

pytestmark = [pytest.mark.safety, pytest.mark.oracle]

Break = Callable[[GitRepository], object]

BREAKING_COMMANDS: dict[str, Break] = {
    "A1 prune --expire=now": lambda lender: lender.git("prune", "--expire=now"),
    "A2 prune": lambda lender: lender.git("prune"),
    "A4 gc": lambda lender: lender.git("gc", "--quiet"),
    "A5 gc --prune=now": lambda lender: lender.git("gc", "--quiet", "--prune=now"),
    "A6 maintenance run --task=gc": lambda lender: lender.git("maintenance", "run", "--task=gc"),
    "A8 repack -a -d": lambda lender: (lender.git("repack", "-a", "-d", "-q"), lender.git("prune-packed")),
    "A9 repack -A -d, prune": lambda lender: (
        lender.git("repack", "-A", "-d", "-q"),
        grow_old(lender),
        lender.git("prune", "--expire=2.weeks.ago"),
    ),
    "A10b repack --cruft --cruft-expiration=now": lambda lender: (
        lender.git("repack", "--cruft", "--cruft-expiration=now", "-d", "-q"),
        lender.git("prune", "--expire=now"),
    ),
}
"""What people and timers do to a lender that has forgotten a branch which a borrower stands on."""
BREAKS_ONLY = {"A1 prune --expire=now": "loose", "A2 prune": "loose", "A8 repack -a -d": "packed"}


def forgetful_lender(folder: Path, *, packed: bool) -> tuple[GitRepository, GitRepository]:
    """A lender whose upstream deleted `topic`, on which the member has a branch."""
    lender, member = make_lender_and_member(folder)
    if packed:
        lender.repack()
    lender.git("update-ref", "-d", "refs/heads/topic")
    grow_old(lender, member)
    return lender, member


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "loose"])
@pytest.mark.parametrize("name", BREAKING_COMMANDS)
def test_git_breaks_the_borrower(tmp_path: Path, name: str, packed: bool) -> None:
    lender, member = forgetful_lender(tmp_path, packed=packed)
    BREAKING_COMMANDS[name](lender)
    breaks = BREAKS_ONLY.get(name) in {None, "packed" if packed else "loose"}
    assert bool(complaints(member)) is breaks


@pytest.mark.parametrize(
    ("packed", "knows_borrowers"),
    [(True, True), (True, False), (False, False)],
    ids=["packed, known", "packed, unknown", "loose, unknown"],
)
@pytest.mark.parametrize("task", [task for task in Task if task is not Task.RECLAIM], ids=lambda task: task.value)
def test_no_task_in_a_lender_breaks_its_borrower(
    tmp_path: Path, task: Task, packed: bool, knows_borrowers: bool
) -> None:
    lender, member = forgetful_lender(tmp_path, packed=packed)
    before = visible_objects(member)
    for _ in range(2):
        result = run(lender, task, borrowers=[member] if knows_borrowers else [])
        assert result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO, Outcome.REFUSED}, result.sentence
        if result.outcome is not Outcome.DONE:
            break
        grow_old(lender, member)
    assert visible_objects(member) >= before
    assert not complaints(member)
    if task not in ALLOWED_IN_LENDER:
        # one that borrows from nobody has no lender to leave, which is no danger
        assert result.outcome is (Outcome.REFUSED if knows_borrowers else Outcome.NOTHING_TO_DO)
        assert not result.commands


def test_all_that_a_lender_allows_one_after_the_other(tmp_path: Path) -> None:
    lender, member = forgetful_lender(tmp_path, packed=False)
    before = visible_objects(member)
    done = set()
    for _ in range(2):
        for task in filter(ALLOWED_IN_LENDER.__contains__, Task):
            result = run(lender, task, borrowers=[member])
            done |= {task} if result.outcome is Outcome.DONE else set()
            grow_old(lender, member)
            assert visible_objects(member) >= before, task
            assert not complaints(member), task
    assert {Task.FULL_REPACK, Task.LOOSE_OBJECTS, Task.COMMIT_GRAPH, Task.BITMAP, Task.PACK_REFS} <= done


def test_a14_a_mirror_is_never_reclaimed(tmp_path: Path) -> None:
    lender, member = forgetful_lender(tmp_path, packed=True)
    lender.git("config", "remote.origin.url", "https://example.com/x.git")
    lender.git("config", "remote.origin.mirror", "true")
    result = run(lender, Task.RECLAIM, confirmed_name=b"lender.git")
    assert result.outcome is Outcome.REFUSED
    assert "mirror" in result.sentence
    assert not complaints(member)


def test_a15_a18_nothing_is_rewritten_while_the_lender_is_away(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    member.git("repack", "-d", "-q", "-l")
    grow_old(lender, member)
    lender.path.rename(tmp_path / "elsewhere")
    files = sorted(path.name for path in (member.git_dir / "objects").rglob("*"))
    for task in (Task.DEDUPLICATE, Task.FULL_REPACK, Task.LOOSE_OBJECTS, Task.UNLINK, Task.COMMIT_GRAPH):
        result = run(member, task)
        assert result.outcome is Outcome.REFUSED, task
        assert "lender" in result.sentence
    assert sorted(path.name for path in (member.git_dir / "objects").rglob("*")) == files
    (tmp_path / "elsewhere").rename(lender.path)
    assert not complaints(member)


def test_a20_a_borrower_on_a_commit_that_only_the_lenders_reflog_knows(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    lender.git("config", "core.logAllRefUpdates", "always")
    rewound = lender.commit({"a": "rewound"})
    lender.git("update-ref", "refs/heads/main", rewound, "-m", "seen")
    member.git("update-ref", "refs/heads/seen", rewound)
    lender.git("update-ref", "-m", "rewind", "refs/heads/main", f"{rewound}~1")
    lender.git("config", "gc.reflogExpire", "now")
    lender.git("config", "gc.reflogExpireUnreachable", "now")
    for task in filter(ALLOWED_IN_LENDER.__contains__, Task):
        grow_old(lender, member)
        run(lender, task)
        assert not complaints(member), task


@pytest.mark.parametrize("task", list(Task), ids=lambda task: task.value)
def test_a22_a23_a_member_keeps_its_own_copy_of_what_the_lender_may_drop(tmp_path: Path, task: Task) -> None:
    lender, member = member_whose_commit_the_lender_fetched(tmp_path)
    lender.git("update-ref", "-d", "refs/heads/x")
    grow_old(lender, member)
    result = run(member, task, confirmed_name=b"member.git")
    if task is Task.DEDUPLICATE:
        assert result.outcome is Outcome.REFUSED
        assert "so its next gc may drop" in result.sentence
    grow_old(lender, member)
    lender.git("gc", "--quiet", "--prune=now")
    member.git("cat-file", "-e", member.git("rev-parse", "refs/heads/main"))


def member_whose_commit_the_lender_fetched(folder: Path) -> tuple[GitRepository, GitRepository]:
    """A member with a commit of its own, which the lender fetched and packed; the lender lacks nothing else."""
    lender, member = make_lender_and_member(folder)
    lender.git("fetch", "--quiet", "--no-write-fetch-head", os.fspath(member.path), "main:refs/heads/x")
    lender.repack()
    return lender, member


def test_git_takes_a_members_own_copy(tmp_path: Path) -> None:
    lender, member = member_whose_commit_the_lender_fetched(tmp_path)
    member.git("prune-packed")
    lender.git("update-ref", "-d", "refs/heads/x")
    grow_old(lender, member)
    lender.git("gc", "--quiet", "--prune=now")
    assert complaints(member)


def test_a_member_gives_up_copies_that_the_lender_references(tmp_path: Path) -> None:
    lender, member = member_whose_commit_the_lender_fetched(tmp_path)
    grow_old(lender, member)
    tip = member.git("rev-parse", "main")
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.DONE, result.sentence
    assert not (member.git_dir / "objects" / tip[:2] / tip[2:]).exists()
    assert not complaints(member)


def test_a24_a_store_behind_a_symbolic_link_is_left_alone(tmp_path: Path) -> None:
    shared, other = GitRepository.init(tmp_path / "shared.git"), GitRepository.init(tmp_path / "other.git")
    shutil.rmtree(other.git_dir / "objects")
    (other.git_dir / "objects").symlink_to(shared.git_dir / "objects")
    shared.commit({"a": "shared"})
    only_there = other.commit({"a": "other"})
    shared.git("repack", "-d", "-q")
    grow_old(shared)
    for repository in (shared, other):
        for task in Task:
            if task is Task.RECLAIM and repository is shared:
                continue
            result = run(repository, task, confirmed_name=os.fsencode(repository.path.name))
            assert result.outcome is not Outcome.FAILED, (task, result.sentence)
            assert other.git("cat-file", "-t", only_there) == "commit", task
            grow_old(shared)
    assert run(other, Task.RECLAIM, confirmed_name=b"other.git").outcome is Outcome.REFUSED
    assert not complaints(other)


def test_a25_a26_heads_of_work_trees_that_are_away_stay(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "main", bare=False)
    repository.commit({"a": "1"})
    repository.git("worktree", "add", "--quiet", "--detach", os.fspath(tmp_path / "linked"), "main")
    linked = GitRepository(tmp_path / "linked", clock_s=repository.clock_s)
    linked.git("commit", "--quiet", "--allow-empty", "-m", "only here")
    head = linked.git("rev-parse", "HEAD")
    (tmp_path / "linked").rename(tmp_path / "unmounted")
    for task in Task:
        grow_old(repository)
        result = run(repository, task, confirmed_name=b"main")
        assert result.outcome is not Outcome.FAILED, (task, result.sentence)
        assert repository.git("cat-file", "-t", head) == "commit", task
    assert len(list((repository.git_dir / "worktrees").iterdir())) == 1


def test_a31_a_lender_with_a_cruft_pack_keeps_it_or_what_is_in_it(tmp_path: Path) -> None:
    lender, member = forgetful_lender(tmp_path, packed=True)
    lender.git("repack", "--cruft", "--cruft-expiration=never", "-d", "-q")
    assert list((lender.git_dir / "objects" / "pack").glob("*.mtimes"))
    before = visible_objects(member)
    for knows in (True, False):
        for task in filter(ALLOWED_IN_LENDER.__contains__, Task):
            grow_old(lender, member)
            run(lender, task, borrowers=[member] if knows else [])
            assert visible_objects(member) >= before, task
    assert not complaints(member)


def test_reclaim_is_refused_in_a_known_lender(tmp_path: Path) -> None:
    lender, member = forgetful_lender(tmp_path, packed=True)
    result = run(lender, Task.RECLAIM, borrowers=[member], confirmed_name=b"lender.git")
    assert result.outcome is Outcome.REFUSED
    assert not complaints(member)
