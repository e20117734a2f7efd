"""An older size plus what is new equals a full measurement, or a full measurement is made."""

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from gitdash.measurement.additions import only_in_added
from gitdash.measurement.answers import PreviousSize
from gitdash.measurement.reachable import measure_reachable
from gitdash.measurement.size_request import SizeRequest, counted_tips
from gitdash.measurement.stores import Store
from gitdash.model.inspection import ObjectFormat
from gitdash.model.sizes import Bound, Question, SizeMeasurement, Strategy
from tests.measurement.built import git_program, request_for, store_of, stored_packs
from tests.support.repositories import GitRepository

OWN = Question.REACHABLE_OWN


def measure(request: SizeRequest) -> SizeMeasurement:
    return measure_reachable(request, git_program(), now_s=0.0, time_limit_s=30.0)


def packed(path: Path) -> GitRepository:
    own = GitRepository.init(path)
    for number in range(5):
        own.commit({"file": f"{number}\n" * 300, "other": f"{number}"})
    own.repack()
    return own


def add_pack(own: GitRepository) -> None:
    """Pack what is loose into one more pack."""
    own.git("repack", "-q", "-d", "-l")


def of_packs(packs: Iterable[Path], identity: str) -> Store:
    listed = list(packs)
    return Store(identity=identity, packs=lambda: stored_packs(listed), loose=tuple)


class Older:
    """A measurement, and what was there when it was made."""

    def __init__(self, own: GitRepository, request: SizeRequest) -> None:
        self.size = measure(request)
        self.tips = counted_tips(request)
        self.packs = set(own.packs())
        self.loose = dict(store_of(own).loose())

    def previous(self, own: GitRepository, *lenders: GitRepository) -> PreviousSize:
        new_loose = [found for found in store_of(own).loose() if found[0] not in self.loose]
        added = replace(of_packs(set(own.packs()) - self.packs, "added"), loose=lambda: new_loose)
        older = replace(of_packs(self.packs, "older"), loose=self.loose.items)
        others = [older, *map(store_of, lenders)]
        return PreviousSize(
            size_bytes=self.size.bytes,
            exact=self.size.exact,
            tips=self.tips,
            are_new=only_in_added(added, others, ObjectFormat.SHA1),
        )


def check(own: GitRepository, older: Older, strategy: Strategy = Strategy.DIFFERENCE) -> SizeMeasurement:
    """Measure, and hold the answer against what git says of all references."""
    size = measure(request_for(own, previous=older.previous(own)))
    assert (size.strategy, size.exact) == (strategy, True)
    assert size.bytes == int(own.git("rev-list", "--all", "--objects", "--disk-usage"))
    return size


@pytest.mark.oracle
def test_new_commits_in_a_new_pack_are_added_exactly(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    older = Older(own, request_for(own))
    for number in range(5):
        own.commit({"file": f"new {number}\n" * 200, "new": f"new {number}"})
    own.commit({"branch": "b"}, reference="refs/heads/branch")
    add_pack(own)
    size = check(own, older)
    assert size.bytes > older.size.bytes


@pytest.mark.oracle
def test_nothing_new_is_exact(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    older = Older(own, request_for(own))
    own.git("update-ref", "refs/heads/same", own.git("rev-parse", "main~1"))
    assert check(own, older).bytes == older.size.bytes


@pytest.mark.oracle
def test_revert_leads_to_a_full_measurement(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    older = Older(own, request_for(own))
    # the tree of an old commit returns: the walk counts its objects again
    own.commit({"file": "1\n" * 300, "other": "1"}, message="revert")
    own.blob(random.Random(1).randbytes(3000))
    add_pack(own)
    check(own, older, Strategy.BITMAP)


@pytest.mark.oracle
def test_sum_that_exceeds_all_files_leads_to_a_full_measurement(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    older = Older(own, request_for(own))
    own.commit({"file": "1\n" * 300, "other": "1"}, message="revert")
    add_pack(own)
    size = measure(request_for(own, previous=older.previous(own)))
    assert (size.strategy, size.exact, size.notes) == (Strategy.BITMAP, True, ())
    assert size.bytes == int(own.git("rev-list", "--all", "--objects", "--disk-usage"))


@pytest.mark.oracle
def test_file_that_comes_back_leads_to_a_full_measurement(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    own.commit({"file": "without the others"})
    own.repack()
    older = Older(own, request_for(own))
    own.commit({"file": "without the others", "back": "2\n" * 300})
    add_pack(own)
    check(own, older, Strategy.BITMAP)


@pytest.mark.oracle
def test_pack_that_brings_old_objects_again_leads_to_a_full_measurement(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    older = Older(own, request_for(own))
    own.commit({"new": "new"})
    # whole objects instead of deltas, in a newer pack: a full measurement charges these
    own.git("repack", "-q", "-a", "-F", "--depth=0", "--window=0")
    assert set(own.packs()) > older.packs
    check(own, older, Strategy.BITMAP)


@pytest.mark.oracle
def test_new_loose_objects_are_added_exactly(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    own.commit({"new": "loose before"})
    older = Older(own, request_for(own))
    own.commit({"new": "loose now"})
    own.commit({"packed": "in a new pack"})
    assert check(own, older).bytes > older.size.bytes


@pytest.mark.oracle
def test_what_was_loose_is_not_new_once_it_is_packed(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    own.blob(random.Random(1).randbytes(90_000))
    own.commit({"old": "".join(f"{number}\n" for number in range(5000))})
    own.commit({"new": "without the old one"})
    older = Older(own, request_for(own))
    add_pack(own)
    own.commit({"old": "".join(f"{number}\n" for number in range(5000))})
    add_pack(own)
    check(own, older, Strategy.BITMAP)


@pytest.mark.oracle
def test_loose_object_that_comes_back_is_not_new(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    own.commit({"old": "a file\n" * 50})
    own.commit({"new": "without the old one"})
    older = Older(own, request_for(own))
    own.commit({"old": "a file\n" * 50, "more": "and another"})
    check(own, older, Strategy.BITMAP)


@pytest.mark.oracle
def test_difference_without_a_proof_leads_to_a_full_measurement(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    older = Older(own, request_for(own))
    own.commit({"new": "new"})
    previous = PreviousSize(size_bytes=older.size.bytes, exact=True, tips=older.tips)
    size = measure(request_for(own, previous=previous))
    assert (size.strategy, size.exact) == (Strategy.BITMAP, True)


@pytest.mark.oracle
@pytest.mark.parametrize("change", ["branch deleted", "history rewritten", "tag deleted"])
def test_reference_that_lost_something_leads_to_a_full_measurement(change: str, tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    own.commit({"branch": "b" * 500}, reference="refs/heads/branch")
    if change == "tag deleted":
        own.git("tag", "-a", "-m", "annotated", "v1", "main")
    older = Older(own, request_for(own))
    if change == "branch deleted":
        own.git("update-ref", "-d", "refs/heads/branch")
    elif change == "tag deleted":
        own.git("update-ref", "-d", "refs/tags/v1")
    else:
        own.commit({"rewritten": "r"}, parents=[own.git("rev-parse", "main~2")])
    size = measure(request_for(own, previous=older.previous(own)))
    assert size.strategy is Strategy.BITMAP
    assert size.bytes == int(own.git("rev-list", "--all", "--objects", "--disk-usage")) != older.size.bytes


@pytest.mark.oracle
def test_size_that_is_not_exact_is_measured_in_full_the_next_time(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    previous = PreviousSize(size_bytes=5, exact=False, tips=counted_tips(request_for(own)))
    size = measure(request_for(own, previous=previous))
    assert (size.strategy, size.exact) == (Strategy.BITMAP, True)


@pytest.mark.oracle
def test_older_tip_that_is_gone_leads_to_a_full_measurement(tmp_path: Path) -> None:
    own = packed(tmp_path / "own.git")
    previous = PreviousSize(size_bytes=5, exact=True, tips=frozenset({"1" * 40}))
    size = measure(request_for(own, previous=previous))
    assert (size.strategy, size.exact, size.notes) == (Strategy.BITMAP, True, ())


@pytest.mark.oracle
def test_difference_without_the_lender(tmp_path: Path) -> None:
    pool = packed(tmp_path / "pool.git")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(pool)
    member.git("update-ref", "refs/heads/main", pool.git("rev-parse", "main"))
    member.commit({"own": "1" * 300})
    member.repack("-l")
    older = Older(member, request_for(member, OWN, pool, requested=Strategy.UNION, every_object_once=True))
    member.commit({"own": "2" * 300})
    add_pack(member)
    size = measure(request_for(member, OWN, pool, previous=older.previous(member, pool)))
    assert size.strategy is Strategy.DIFFERENCE
    assert size.exact
    assert size.bytes == measure(request_for(member, OWN, pool, requested=Strategy.UNION)).bytes
    member.commit({"own": "2" * 300, "lent": "0\n" * 300})
    add_pack(member)
    again = measure(request_for(member, OWN, pool, previous=older.previous(member, pool)))
    assert (again.strategy, again.bound, again.notes) == (Strategy.DIFFERENCE, Bound.UPPER, ())
    assert again.bytes > measure(request_for(member, OWN, pool, requested=Strategy.UNION)).bytes
