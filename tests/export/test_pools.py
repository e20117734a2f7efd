"""Pools and families from hand-made rows, and from repositories that git made."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from gitdash.assessment.rules import LENDING_RULES
from gitdash.export.family import Relative, family
from gitdash.export.pools import KnownSum, PoolRow, pool_forest
from gitdash.model.report import Lender, State
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound
from gitdash.model.summary import RepositorySummary
from gitdash.survey.survey import SizesWanted
from tests.export.rows import summary
from tests.support.repositories import GitRepository
from tests.support.speed import slowness
from tests.survey.surveys import last_reports, survey


def at(name: str) -> bytes:
    return b"/srv/git/" + name.encode()


def known(name: str, depth: int = 1) -> Lender:
    return Lender(path=at(name), depth=depth, exists=True, is_known=True)


def missing(path: bytes = b"/gone/objects", depth: int = 1) -> Lender:
    return Lender(path=path, depth=depth, exists=False, is_known=False, problem="no such file or directory")


def outside(path: bytes = b"/out/objects", depth: int = 1) -> Lender:
    return Lender(path=path, depth=depth, exists=True, is_known=False)


def member(name: str, *lenders: Lender, **changes: Any) -> RepositorySummary:
    facts = {"role": "member", "saved_bytes": 1000, "saved_bound": Bound.LOWER, "duplicate_bytes": 10}
    return summary(name, lenders=lenders, alternate_count=len(lenders), **(facts | changes))


def pool(name: str, borrower_count: int, **changes: Any) -> RepositorySummary:
    return summary(name, borrower_count=borrower_count, **({"role": "pool", "objects_bytes": 600} | changes))


def only(rows: tuple[PoolRow, ...]) -> PoolRow:
    (row,) = rows
    return row


def test_fleet_without_lenders_has_no_pools() -> None:
    assert pool_forest([]) == ()
    assert pool_forest([summary("a"), summary("b")]) == ()


def test_pool_says_who_borrows_and_what_that_saves() -> None:
    members = [
        member("a", known("p"), objects_bytes=100),
        member("b", known("p"), objects_bytes=50, saved_bytes=None, duplicate_bytes=Unreadable("no index")),
        member("c", known("p"), objects_bytes=Unreadable("gone"), saved_bytes=200),
    ]
    row = only(pool_forest([*members, pool("p", 3), summary("other")]))
    assert (row.path, row.name, row.exists, row.is_known) == (at("p"), "p", True, True)
    assert row.members == (at("a"), at("b"), at("c"))
    assert (row.indirect_member_count, row.unseen_member_count, row.depth) == (0, 0, 1)
    assert row.duplicate == KnownSum(bytes=20, known_count=2, unknown_count=1, bound=Bound.LOWER)
    assert row.saved == KnownSum(bytes=1200, known_count=2, unknown_count=1, bound=Bound.LOWER)
    assert row.net_bytes == 1200, "somebody's own repository would be there anyway"
    assert row.summary is not None
    assert (row.unsafe, row.state) == ((), State.OK)


@pytest.mark.parametrize(
    ("changes", "net_bytes"),
    [
        ({"is_dedicated_pool": True}, 1000 - 600),
        ({"is_dedicated_pool": True, "objects_bytes": 5000}, 1000 - 5000),
        ({"is_dedicated_pool": True, "objects_bytes": Unreadable("gone")}, None),
        ({}, 1000),
    ],
)
def test_pool_that_nobody_owns_costs_its_own_objects(changes: dict[str, Any], net_bytes: int | None) -> None:
    assert only(pool_forest([member("a", known("p")), pool("p", 1, **changes)])).net_bytes == net_bytes


def test_nothing_measured_is_not_nothing_saved() -> None:
    row = only(pool_forest([member("a", known("p"), saved_bytes=None), pool("p", 1, is_dedicated_pool=True)]))
    assert row.net_bytes is None
    assert (row.saved.known_count, row.saved.unknown_count) == (0, 1)


def test_chain_has_a_row_for_each_lender_in_it() -> None:
    rows = pool_forest(
        [
            member("top", known("middle"), known("bottom", 2)),
            member("other", known("middle"), known("bottom", 2)),
            member("middle", known("bottom"), role="member+pool", borrower_count=2),
            pool("bottom", 3),
        ]
    )
    found = {row.name: (row.members, row.indirect_member_count, row.depth) for row in rows}
    assert found == {
        "bottom": ((at("middle"),), 2, 2),
        "middle": ((at("other"), at("top")), 0, 1),
    }


def test_member_of_two_pools_counts_in_both() -> None:
    rows = pool_forest([member("a", known("p"), known("q")), pool("p", 1), pool("q", 1)])
    assert [(row.name, row.members, row.saved.bytes) for row in rows] == [
        ("p", (at("a"),), 1000),
        ("q", (at("a"),), 1000),
    ]


def test_lenders_that_are_missing_or_outside_have_rows_without_summary() -> None:
    rules = ("missing-lender", "lender-outside-roots", "many-packs")
    rows = pool_forest([member("a", outside(b"/o\xff\x1b"), missing(), rules=rules, state=State.CRITICAL)])
    gone, other = rows
    assert (gone.path, gone.exists, gone.is_known, gone.summary) == (b"/gone/objects", False, False, None)
    assert (other.path, other.exists, other.is_known, other.summary) == (b"/o\xff\x1b", True, False, None)
    assert other.name == "/o\\xff\\x1b"
    assert gone.unsafe == ("missing-lender",)
    assert other.unsafe == ("lender-outside-roots",)
    assert gone.state is other.state is State.CRITICAL


def test_pool_is_as_unsafe_as_its_own_config_and_its_members_say() -> None:
    rows = pool_forest(
        [
            member("a", known("p"), missing(), rules=("missing-lender", "several-alternates"), state=State.CRITICAL),
            member("b", known("q"), rules=("nested-alternates", "pool-drops-objects"), state=State.NOTICE),
            pool("p", 1, rules=("pool-drops-objects", "no-bitmap"), state=State.WARNING),
            pool("q", 1, rules=("pool-automatic-gc",), state=State.WARNING),
        ]
    )
    assert {row.name: row.unsafe for row in rows if row.is_known} == {
        "p": ("pool-drops-objects",),
        "q": ("pool-automatic-gc",),
    }
    assert {row.name: row.state for row in rows if row.is_known} == {"p": State.CRITICAL, "q": State.WARNING}


def test_lender_that_git_cannot_use_is_unsafe_though_it_exists() -> None:
    broken = Lender(path=at("p"), depth=1, exists=True, is_known=True, problem="not readable")
    row = only(pool_forest([member("a", broken, rules=("missing-lender",)), member("b", known("p")), pool("p", 2)]))
    assert row.unsafe == ("missing-lender",)
    assert (row.problem, row.lost_count) == ("not readable", 1)


def test_who_lost_a_lender_is_counted_once_however_it_borrowed() -> None:
    rows = [
        member("a", missing()),
        member("b", missing()),
        member("c", known("a"), missing(depth=2)),
        member("d", known("p")),
        pool("p", 1),
    ]
    found = {row.name: (row.problem, row.lost_count) for row in pool_forest(rows)}
    assert found == {"/gone/objects": ("no such file or directory", 3), "a": (None, 0), "p": (None, 0)}


def test_rules_on_lending_are_these() -> None:
    assert sorted(LENDING_RULES) == [
        "lender-outside-roots",
        "missing-lender",
        "pool-automatic-gc",
        "pool-drops-objects",
        "shared-object-store",
    ]


def test_borrowers_of_earlier_surveys_are_counted_apart() -> None:
    row = only(pool_forest([member("a", known("p")), pool("p", 5)]))
    assert (len(row.members), row.unseen_member_count) == (1, 4)
    alone = only(pool_forest([pool("p", 0)]))
    assert (alone.members, alone.unseen_member_count, alone.depth) == ((), 0, 0)


def test_rows_that_share_a_store_are_one_member() -> None:
    row = only(pool_forest([member("a", known("p")), member("tree", known("p"), counts_store=False), pool("p", 1)]))
    assert row.members == (at("a"),)


def test_order_of_the_rows_does_not_matter() -> None:
    rows = [member("a", known("q")), member("b", known("p"), known("q", 2)), pool("p", 1), pool("q", 2)]
    assert pool_forest(rows) == pool_forest(rows[::-1])


def shape(relatives: tuple[Relative, ...]) -> list[tuple[int, str, bool]]:
    return [(one.depth, one.name, one.is_repeated) for one in relatives]


def test_family_has_lenders_above_and_members_below() -> None:
    rows = [
        member("top", known("middle"), known("bottom", 2)),
        member("second", known("middle"), known("bottom", 2)),
        member("middle", known("bottom"), role="member+pool", borrower_count=2),
        member("aside", known("bottom")),
        pool("bottom", 4),
    ]
    middle = family(at("middle"), rows)
    assert middle.summary is rows[2]
    assert shape(middle.lenders) == [(1, "bottom", False)]
    assert shape(middle.members) == [(1, "second", False), (1, "top", False)]
    assert middle.members[1].summary is rows[0]
    assert shape(family(at("top"), rows).lenders) == [(1, "middle", False), (2, "bottom", False)]
    assert shape(family(at("bottom"), rows).members) == [
        (1, "aside", False),
        (1, "middle", False),
        (2, "second", False),
        (2, "top", False),
    ]


def test_family_knows_members_behind_a_lender_that_nobody_scanned() -> None:
    rows = [member("a", outside(b"/out/objects"), known("p", 2)), pool("p", 1)]
    found = family(at("p"), rows).members
    assert shape(found) == [(1, "/out/objects", False), (2, "a", False)]
    assert (found[0].is_known, found[0].exists, found[0].summary) == (False, True, None)
    assert [(one.name, one.exists, one.problem) for one in family(at("a"), rows).lenders] == [
        ("/out/objects", True, None),
        ("p", True, None),
    ]


def test_missing_lender_is_in_the_family_with_its_reason_and_its_members() -> None:
    rows = [member("a", missing()), member("b", missing())]
    (lender,) = family(at("a"), rows).lenders
    assert (lender.exists, lender.is_known, lender.problem) == (False, False, "no such file or directory")
    assert shape(family(b"/gone/objects", rows).members) == [(1, "a", False), (1, "b", False)]


def test_member_that_is_reached_twice_has_its_own_members_once() -> None:
    rows = [
        member("left", known("p"), role="member+pool"),
        member("right", known("p"), role="member+pool"),
        member("both", known("left"), known("p", 2), known("right"), role="member+pool"),
        member("leaf", known("both"), known("left", 2), known("p", 3), known("right", 2)),
        pool("p", 4),
    ]
    assert shape(family(at("p"), rows).members) == [
        (1, "left", False),
        (2, "both", False),
        (3, "leaf", False),
        (1, "right", False),
        (2, "both", True),
    ]


def test_borrowing_in_a_circle_ends() -> None:
    rows = [
        member("a", known("b"), known("c", 2), role="member+pool"),
        member("b", known("c"), known("a", 2), role="member+pool"),
        member("c", known("a"), known("b", 2), known("c", 3), role="member+pool"),
    ]
    assert shape(family(at("a"), rows).members) == [(1, "c", False), (2, "b", False), (3, "a", True)]
    assert [row.members for row in pool_forest(rows)] == [(at("c"),), (at("a"),), (at("b"),)]


def test_repository_that_borrows_from_itself_is_not_its_own_member() -> None:
    rows = [member("a", known("a"), role="member+pool", borrower_count=1)]
    assert family(at("a"), rows).members == ()
    assert only(pool_forest(rows)).members == ()


def test_chain_of_any_depth_ends() -> None:
    rows = [member(f"r{number:05}", known(f"r{number + 1:05}")) for number in range(5_000)]
    assert [one.depth for one in family(at("r05000"), rows).members] == list(range(1, 5_001))
    assert len(pool_forest(rows)) == 5_000


def test_family_of_a_path_that_no_row_has_is_empty() -> None:
    nobody = family(b"/nowhere", [summary("a")])
    assert (nobody.summary, nobody.lenders, nobody.members) == (None, (), ())


def test_depths_that_skip_a_level_are_no_error() -> None:
    rows = [member("a", known("p", 3), known("q", 1), known("r", 9))]
    assert shape(family(at("r"), rows).members) == [(1, "/srv/git/q", False), (2, "a", False)]


def test_ten_thousand_repositories_in_three_hundred_pools_are_quick() -> None:
    rows = [member(f"m{number}", known(f"p{number % 300}")) for number in range(9_700)]
    rows += [pool(f"p{number}", 33) for number in range(300)]
    pool_forest(rows[:10])
    elapsed_s = []
    for call in (lambda: pool_forest(rows), lambda: family(at("p7"), rows)):
        for _ in range(3):
            started_s = time.process_time()
            call()
            elapsed_s.append(time.process_time() - started_s)
    assert min(elapsed_s[:3]) < 0.1 * slowness()
    assert min(elapsed_s[3:]) < 0.1 * slowness()


def test_real_repositories_make_these_pools_and_families(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    bottom = GitRepository.init(root / "bottom.git")
    bottom.commit({"a": "one\n" * 200})
    middle, top, aside = (GitRepository.init(root / f"{name}.git") for name in ("middle", "top", "aside"))
    middle.borrow_from(bottom)
    top.borrow_from(middle)
    aside.borrow_from(bottom)
    for repository in (middle, top, aside):
        repository.git("update-ref", "refs/heads/main", bottom.git("rev-parse", "main"))
    top.commit({"b": "two\n" * 200})
    bottom.git("config", "gc.pruneExpire", "now")
    (aside.path / "objects/info/alternates").write_text(f"{bottom.path}/objects\n/nonexistent/objects\n")
    summaries = [found.summary for found in last_reports(survey(root, sizes=SizesWanted.ALL)).values()]
    rows = {row.name: row for row in pool_forest(summaries)}
    assert sorted(rows) == ["/nonexistent/objects", "bottom.git", "middle.git"]
    assert [os.path.basename(path) for path in rows["bottom.git"].members] == [b"aside.git", b"middle.git"]
    assert (rows["bottom.git"].indirect_member_count, rows["bottom.git"].depth) == (1, 2)
    assert rows["bottom.git"].unsafe == ("pool-drops-objects",)
    assert rows["bottom.git"].unseen_member_count == 0
    stored_bytes = int(bottom.git("rev-list", "--all", "--objects", "--disk-usage"))
    assert rows["middle.git"].saved.bytes == stored_bytes, "top's own commit apart, it reads all of it from below"
    assert (rows["bottom.git"].saved.bytes, rows["bottom.git"].saved.unknown_count) == (stored_bytes, 1)
    assert rows["/nonexistent/objects"].unsafe == ("missing-lender",)
    assert not rows["/nonexistent/objects"].exists
    assert shape(family(os.fsencode(top.path), summaries).lenders) == [
        (1, "middle.git", False),
        (2, "bottom.git", False),
    ]
    assert shape(family(os.fsencode(bottom.path), summaries).members) == [
        (1, "aside.git", False),
        (1, "middle.git", False),
        (2, "top.git", False),
    ]
