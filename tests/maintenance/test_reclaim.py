"""Reclaiming: the one task that drops objects, only as typed, only the old, and never where others may need them."""

import os
import threading
import time
from pathlib import Path

import msgspec
import pytest

from gitdash.gitcmd.git_error import GitError
from gitdash.maintenance.action_facts import Droppable
from gitdash.maintenance.droppable import count_droppable
from gitdash.model.ledger import Outcome, Reason
from gitdash.model.task import Task
from gitdash.units import human_bytes
from tests.support.old_stores import complaints, grow_old
from tests.support.repositories import GitRepository
from tests.support.task_runs import make_lender_and_member, planned, program, report_of, run

pytestmark = [pytest.mark.safety, pytest.mark.oracle]

DAY_S = 86_400.0


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    return repository


def has(repository: GitRepository, object_id: str) -> bool:
    return bool(repository.git("cat-file", "-t", object_id, check=False))


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "loose"])
def test_what_is_unreachable_and_old_goes_and_what_is_young_stays(repository: GitRepository, packed: bool) -> None:
    old = repository.blob(b"old")
    if packed:
        repository.git("repack", "-a", "-d", "-q", "-k")
    grow_old(repository, age_s=15 * DAY_S)
    young = repository.blob(b"young")
    path = repository.git_dir / "objects" / young[:2] / young[2:]
    os.utime(path, (path.stat().st_mtime - 13 * DAY_S,) * 2)
    tip = repository.git("rev-parse", "main")
    result = run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert result.outcome is Outcome.DONE, result.sentence
    assert [has(repository, name) for name in (old, young, tip)] == [False, True, True]
    assert not complaints(repository)


@pytest.mark.parametrize("name", [None, b"", b"two.git", b"one", b"ONE.git", b"one.git "])
def test_nothing_goes_unless_the_name_is_typed(repository: GitRepository, name: bytes | None) -> None:
    old = repository.blob(b"old")
    grow_old(repository)
    result = run(repository, Task.RECLAIM, confirmed_name=name)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.REFUSED)
    assert "one.git" in result.sentence
    assert not result.commands
    assert has(repository, old)


def test_commits_that_only_a_reflog_knows_stay(repository: GitRepository) -> None:
    repository.git("config", "core.logAllRefUpdates", "always")
    first = repository.git("rev-parse", "main")
    second = repository.commit({"a": "2"})
    repository.git("update-ref", "-m", "here", "refs/heads/main", second, second)
    repository.git("update-ref", "-m", "rewind", "refs/heads/main", first)
    repository.git("config", "gc.reflogExpire", "now")
    repository.git("config", "gc.reflogExpireUnreachable", "now")
    grow_old(repository)
    assert run(repository, Task.RECLAIM, confirmed_name=b"one.git").outcome is not Outcome.FAILED
    assert has(repository, second)


def test_an_expiry_of_the_repositorys_own_config_changes_nothing(repository: GitRepository) -> None:
    repository.git("config", "gc.pruneExpire", "now")
    young = repository.blob(b"young")
    run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert has(repository, young)


@pytest.mark.parametrize(
    "hint",
    [
        lambda repository: repository.git("config", "gc.pruneExpire", "never"),
        lambda repository: repository.git("config", "gc.auto", "0"),
        lambda repository: repository.git("config", "remote.origin.mirror", "true"),
        lambda repository: repository.git("update-ref", "refs/dangling/x", "main"),
    ],
    ids=["never pruned", "no gc", "a mirror", "dangling"],
)
def test_what_may_be_a_lender_is_never_reclaimed(repository: GitRepository, hint: object) -> None:
    assert callable(hint)
    old = repository.blob(b"old")
    hint(repository)
    repository.git("config", "remote.origin.url", "https://example.com/x")
    grow_old(repository)
    result = run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert result.outcome is Outcome.REFUSED, result.sentence
    assert has(repository, old)


def test_a_member_and_its_lender_are_never_reclaimed(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    old = {repository.path: repository.blob(b"old") for repository in (lender, member)}
    grow_old(lender, member)
    results = [
        run(lender, Task.RECLAIM, borrowers=[member], confirmed_name=b"lender.git"),
        run(member, Task.RECLAIM, confirmed_name=b"member.git"),
    ]
    assert [result.outcome for result in results] == [Outcome.REFUSED, Outcome.REFUSED]
    assert all(has(repository, old[repository.path]) for repository in (lender, member))


def test_a_repository_without_any_reference_is_not_reclaimed(repository: GitRepository) -> None:
    """Android's repo keeps objects for others in such: everything would go."""
    repository.git("update-ref", "-d", "refs/heads/main")
    grow_old(repository)
    result = run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert result.outcome is Outcome.REFUSED
    assert "everything in it would go" in result.sentence


def test_a_damaged_repository_is_not_reclaimed(repository: GitRepository) -> None:
    old = repository.blob(b"old")
    blob = repository.git("rev-parse", "main:a")
    (repository.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    grow_old(repository)
    result = run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.CORRUPT)
    assert has(repository, old)


def test_steps_that_somebody_changed_are_not_what_is_run(repository: GitRepository) -> None:
    young = repository.blob(b"young")
    report = report_of(repository)
    asked = planned(Task.RECLAIM, report)
    changed = tuple(
        msgspec.structs.replace(
            step, arguments=tuple(argument.replace("2.weeks.ago", "now") for argument in step.arguments)
        )
        for step in asked.steps
    )
    asked = msgspec.structs.replace(asked, steps=changed)
    run(repository, Task.RECLAIM, confirmed_name=b"one.git", asked=asked)
    assert has(repository, young)


def test_exactly_what_was_dropped_is_told_by_id_and_bytes(repository: GitRepository) -> None:
    packed = repository.blob(b"packed and unreachable")
    repository.git("repack", "-a", "-d", "-q", "-k")
    loose = repository.blob(os.urandom(3_000))
    repository.commit({"a": "2"})
    grow_old(repository)
    loose_bytes = (repository.git_dir / "objects" / loose[:2] / loose[2:]).stat().st_size
    listed = repository.git("cat-file", "--batch-check=%(objectsize:disk)", stdin=packed.encode() + b"\n")
    result = run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    # loose files that were packed are no loss: only the two objects are
    assert result.dropped_ids == (loose, packed)
    assert result.dropped_count == 2
    # the files are told as those of every task are
    assert {path.partition("/")[0] for path in result.removed} == {"objects"}
    assert f"objects/{loose[:2]}/{loose[2:]}" in result.removed
    assert f"2 objects of {human_bytes(loose_bytes + int(listed))} dropped for good" in result.sentence


def counted_before(repository: GitRepository) -> Droppable:
    found = count_droppable(report_of(repository), program=program(), now_s=time.time(), time_limit_s=60.0)
    assert found is not None
    return found


def test_what_would_be_dropped_is_counted_before_as_git_then_drops_it(repository: GitRepository) -> None:
    """In packs, in a cruft pack with times of its own, as files; with what young objects and a reflog keep."""
    repository.git("config", "core.logAllRefUpdates", "always")
    first = repository.git("rev-parse", "main")
    in_reflog = repository.commit({"a": "only in a reflog"})
    repository.git("update-ref", "-m", "back", "refs/heads/main", first)
    # as young as the pack that it is in
    old_pack = [repository.blob(b"old %d" % number) for number in range(3)]
    needed = pack_with(repository, b"old, and what a young tree names")
    grow_old(repository, age_s=20 * DAY_S)
    for number in range(4):
        blob = repository.blob(b"in a cruft pack %d" % number)
        age(repository, blob, (10 + 3 * number) * DAY_S)
    repository.git("repack", "--cruft", "--cruft-expiration=never", "-d", "-q")
    old_loose = repository.blob(os.urandom(5_000))
    age(repository, old_loose, 15 * DAY_S)
    young_tree = repository.git("mktree", stdin=f"100644 blob {needed}\tx\n".encode())
    before = counted_before(repository)
    result = run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert result.outcome is Outcome.DONE, result.sentence
    assert [has(repository, name) for name in (in_reflog, needed, young_tree)] == [True, True, True]
    # 3 in the old pack, those of 16 and 19 days in the cruft pack, and the file
    assert before.is_exact
    assert before.count == result.dropped_count == len(old_pack) + 2 + 1
    assert f"6 objects of {human_bytes(before.bytes)} dropped for good" in result.sentence


@pytest.mark.parametrize("newer", ["whole", "delta"])
def test_bytes_that_would_go_are_those_of_the_copy_that_git_finds_first(repository: GitRepository, newer: str) -> None:
    lines = [f"line {number} of a text" for number in range(500)]
    first, second = (repository.blob("\n".join([*lines, end]).encode()) for end in ("", "one more"))
    packs = repository.git_dir / "objects/pack"
    names = {
        "delta": repository.git("pack-objects", "-q", packs / "pack", stdin=f"{first} a\n{second} a\n".encode()),
        "whole": repository.git("pack-objects", "-q", packs / "pack", stdin=f"{first} a\n".encode()),
        "other": repository.git("pack-objects", "-q", packs / "pack", stdin=f"{second} a\n".encode()),
    }
    repository.git("prune-packed")
    grow_old(repository, age_s=30 * DAY_S)
    for suffix in ("pack", "idx"):
        path = packs / f"pack-{names[newer]}.{suffix}"
        os.utime(path, (time.time() - 20 * DAY_S,) * 2)
        other = packs / f"pack-{names['other']}.{suffix}"
        os.utime(other, (time.time() - (21 if newer == "delta" else 20) * DAY_S,) * 2)
    each = [
        int(repository.git("cat-file", "--batch-check=%(objectsize:disk)", stdin=name.encode() + b"\n"))
        for name in (first, second)
    ]
    assert counted_before(repository).bytes == sum(each)


def test_what_a_young_object_lacks_makes_the_count_an_upper_bound(repository: GitRepository) -> None:
    old = repository.blob(b"old")
    grow_old(repository, age_s=20 * DAY_S)
    gone = repository.blob(b"gone")
    repository.git("mktree", stdin=f"100644 blob {gone}\tx\n100644 blob {old}\ty\n".encode())
    (repository.git_dir / "objects" / gone[:2] / gone[2:]).unlink()
    before = counted_before(repository)
    assert (before.count, before.is_exact) == (1, False)
    run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert has(repository, old)


def test_kept_pack_makes_the_count_an_upper_bound_that_leaves_out_what_it_holds(repository: GitRepository) -> None:
    pack_with(repository, b"kept")
    pack = repository.packs()[0]
    (pack.parent / f"{pack.stem}.keep").touch()
    repository.blob(b"old")
    grow_old(repository, age_s=20 * DAY_S)
    before = counted_before(repository)
    assert (before.count, before.is_exact) == (1, False)


@pytest.mark.parametrize(
    ("task", "keeps_age"), [(Task.FULL_REPACK, True), (Task.LOOSE_OBJECTS, False), (Task.GEOMETRIC_REPACK, False)]
)
def test_age_that_reclaim_goes_by_outlasts_a_full_repack_alone(
    repository: GitRepository, task: Task, keeps_age: bool
) -> None:
    repository.git("repack", "-a", "-d", "-q")
    repository.blob(b"old")
    grow_old(repository, age_s=20 * DAY_S)
    assert counted_before(repository).count == 1
    assert run(repository, task).outcome is Outcome.DONE
    assert counted_before(repository).count == int(keeps_age)


def test_counting_changes_nothing_and_is_cancelled_like_all_else(repository: GitRepository) -> None:
    repository.blob(b"old")
    grow_old(repository)
    paths = sorted(repository.git_dir.rglob("*"))
    assert counted_before(repository).count == 1
    assert sorted(repository.git_dir.rglob("*")) == paths
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(GitError):
        count_droppable(report_of(repository), program=program(), now_s=time.time(), time_limit_s=60.0, cancel=cancel)


def pack_with(repository: GitRepository, content: bytes) -> str:
    """Pack everything, and an unreachable blob: git packs those only where there is a pack already."""
    repository.git("repack", "-a", "-d", "-q")
    blob = repository.blob(content)
    repository.git("repack", "-a", "-d", "-q", "-k")
    assert not (repository.git_dir / "objects" / blob[:2] / blob[2:]).exists()
    return blob


def age(repository: GitRepository, object_id: str, age_s: float) -> None:
    path = repository.git_dir / "objects" / object_id[:2] / object_id[2:]
    os.utime(path, (time.time() - age_s,) * 2)


def test_a_reclaim_that_finds_nothing_old_says_so(repository: GitRepository) -> None:
    repository.blob(b"young")
    result = run(repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert (result.dropped_ids, result.dropped_count) == ((), 0)
    assert "no object was dropped" in result.sentence
