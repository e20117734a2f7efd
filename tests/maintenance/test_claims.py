"""Families of object stores: who may not write at the same time as whom."""

from itertools import combinations
from typing import Any

import pytest

from gitdash.maintenance.claims import Claims, Families, claims_of
from gitdash.model.inspection import Alternate, AlternatesFacts, ObjectStore
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Role, Unreadable
from gitdash.model.sizes import Sizes
from tests.assessment.subjects import inspection


def report(name: bytes, store: int | None, *lenders: Alternate, **changes: Any) -> RepositoryReport:
    path = b"/fleet/" + name
    facts: dict[str, Any] = {
        "object_store": Unreadable("denied") if store is None else ObjectStore(path=own(store), device=7, inode=store),
        "alternates": AlternatesFacts(alternates=lenders, mtime_s=0.0) if lenders else None,
    }
    values: dict[str, Any] = {
        "repository": Repository(path=path, git_dir=path, common_dir=path, kind=RepositoryKind.BARE, root=b"/fleet"),
        "roles": (Role.PLAIN,),
        "borrowers": (),
        "inspection": inspection(**facts),
        "sizes": Sizes(),
        "findings": (),
        "state": State.OK,
    }
    return RepositoryReport(**(values | changes))


def own(store: int) -> bytes:
    return b"/stores/%d" % store


def lender(store: int, depth: int = 1) -> Alternate:
    return Alternate(path=b"/seen/as/%d" % store, exists=True, depth=depth, device=7, inode=store)


GONE = Alternate(path=b"/gone/objects", exists=False, depth=1, problem="missing")


def exclude_each_other(*reports: RepositoryReport) -> set[tuple[bytes, bytes]]:
    families = Families(reports)
    return {
        (one.repository.path[7:], other.repository.path[7:])
        for one, other in combinations(reports, 2)
        if families.family(one) & families.family(other)
    }


def test_repositories_that_share_nothing_do_not_exclude_each_other() -> None:
    assert exclude_each_other(report(b"a", 1), report(b"b", 2)) == set()


def test_lender_and_its_members_exclude_each_other() -> None:
    fleet = (report(b"a", 1, lender(9)), report(b"b", 2, lender(9)), report(b"pool", 9), report(b"other", 3))
    assert exclude_each_other(*fleet) == {(b"a", b"b"), (b"a", b"pool"), (b"b", b"pool")}


def test_chain_of_lenders_is_one_family() -> None:
    fleet = (report(b"top", 1, lender(2), lender(3, depth=2)), report(b"middle", 2, lender(3)), report(b"bottom", 3))
    assert exclude_each_other(*fleet) == {(b"top", b"middle"), (b"top", b"bottom"), (b"middle", b"bottom")}


def test_members_of_two_lenders_meet_in_a_repository_that_borrows_from_both() -> None:
    fleet = (report(b"a", 1, lender(8)), report(b"b", 2, lender(9)), report(b"z", 3, lender(8), lender(9)))
    assert (b"a", b"b") in exclude_each_other(*fleet)
    assert (b"a", b"b") not in exclude_each_other(*fleet[:2])


def test_borrower_that_an_earlier_survey_saw_joins_two_lenders() -> None:
    lenders = (report(b"p", 8, borrowers=(b"/away/z",)), report(b"q", 9, borrowers=(b"/away/z",)))
    assert exclude_each_other(*lenders) == {(b"p", b"q")}


def test_borrower_of_a_member_counts_as_that_of_a_lender() -> None:
    middle = report(b"middle", 1, lender(9), borrowers=(b"/away/z",))
    other = report(b"other", 8, borrowers=(b"/away/z",))
    assert exclude_each_other(middle, other) == {(b"middle", b"other")}


def test_stores_are_told_apart_by_device_and_inode_not_by_path() -> None:
    assert exclude_each_other(report(b"a", 1), report(b"worktree-of-a", 1)) == {(b"a", b"worktree-of-a")}
    moved = report(b"b", 2, inspection=inspection(object_store=ObjectStore(path=b"/mnt/x", device=7, inode=1)))
    assert exclude_each_other(report(b"a", 1), moved) == {(b"a", b"b")}


def test_members_of_a_missing_lender_exclude_each_other_by_its_path() -> None:
    assert exclude_each_other(report(b"a", 1, GONE), report(b"b", 2, GONE)) == {(b"a", b"b")}


@pytest.mark.parametrize("changes", [{"inspection": Unreadable("denied")}, {}])
def test_repository_that_cannot_be_read_is_a_family_by_its_path(changes: dict[str, Any]) -> None:
    unread = report(b"a", None, **changes)
    families = Families((unread,))
    assert families.family(unread) == {b"/fleet/a/objects"}


def test_members_of_one_lender_share_one_set() -> None:
    fleet = [report(b"pool", 9), *(report(b"m%d" % store, store, lender(9)) for store in range(100, 140))]
    for order in (fleet, fleet[::-1]):
        families = Families(order)
        assert len({id(families.family(member)) for member in order}) == 1
    assert len(families.family(fleet[0])) == 2 * 41 + 1  # identity and path of each store, and how the lender was seen


def test_repository_that_was_read_anew_is_part_of_its_family() -> None:
    families = Families((report(b"pool", 9),))
    fresh = report(b"new", 5, lender(9))
    assert {b"7:5", b"7:9"} <= families.family(fresh)


def test_claims_name_the_volume_of_the_object_store() -> None:
    one = report(b"a", 1)
    families = Families((one,))
    claims = claims_of(one, families=families, writes=True, host="example.org")
    assert claims == Claims(
        repository=b"/fleet/a", family=frozenset({b"7:1", own(1)}), writes=True, host="example.org", volume=7
    )
    assert claims_of(report(b"b", None), families=families, writes=True).volume is None
