"""What members read from their lenders instead of storing it: by hand, and against git's own sizes of objects."""

import os
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Role, StorageLayout, Unreadable
from gitdash.model.saved import Saved, SavedSum, saved_of
from gitdash.model.sizes import Bound, ExclusiveSizes, Question, SizeMeasurement, Sizes, Strategy
from gitdash.model.summary import RepositorySummary
from gitdash.survey.summarize import summarize, totals_of
from gitdash.survey.survey import SizesWanted
from tests.assessment.subjects import inspection, pack_facts, reference_facts
from tests.support.repositories import GitRepository
from tests.survey.surveys import finished, last_reports, survey

EXACT, LOWER, UPPER, UNKNOWN = Bound.EXACT, Bound.LOWER, Bound.UPPER, Bound.UNKNOWN
BROKEN = Unreadable("a lender is missing")


def reachable(size_bytes: int, bound: Bound = EXACT) -> SizeMeasurement:
    return SizeMeasurement(
        question=Question.REACHABLE,
        bytes=size_bytes,
        strategy=Strategy.WALK,
        exact=bound is EXACT,
        inexact_bound=bound if bound is not EXACT else UPPER,
        elapsed_s=0.1,
        measured_at_s=5.0,
        argv=(),
        git_version="2",
    )


def stored(exclusive_bytes: int, duplicate_bytes: int = 0, *, redundant_count: int = 0) -> ExclusiveSizes:
    return ExclusiveSizes(
        exclusive_bytes=exclusive_bytes,
        exclusive_count=exclusive_bytes // 10,
        duplicate_bytes=duplicate_bytes,
        duplicate_count=duplicate_bytes // 10,
        redundant_count=redundant_count,
        elapsed_s=0.0,
        measured_at_s=0.0,
    )


@pytest.mark.parametrize(
    ("size", "store", "saved"),
    [
        (reachable(1000), stored(0), Saved(1000, EXACT)),
        (reachable(1000), stored(200), Saved(800, LOWER)),
        (reachable(1000), stored(200, 50), Saved(750, UNKNOWN)),
        (reachable(1000), stored(200, redundant_count=1), Saved(800, UNKNOWN)),
        (reachable(1000, UPPER), stored(0), Saved(1000, UPPER)),
        (reachable(1000, UPPER), stored(200), Saved(800, UNKNOWN)),
        (reachable(1000, LOWER), stored(0), Saved(1000, LOWER)),
        (reachable(1000, LOWER), stored(200), Saved(800, LOWER)),
        (reachable(1000, UNKNOWN), stored(200), Saved(800, UNKNOWN)),
        (reachable(1000), stored(1000), Saved(0, LOWER)),
        (reachable(1000), stored(1500, 50), Saved(0, LOWER)),
        (reachable(0, UPPER), stored(0), Saved(0, EXACT)),
        (reachable(1000), BROKEN, BROKEN),
        (BROKEN, stored(1), BROKEN),
        (BROKEN, None, BROKEN),
        (None, stored(1), None),
        (reachable(1000), None, None),
    ],
)
def test_a_member_saves_what_is_reachable_and_not_stored_in_it(size: Any, store: Any, saved: Any) -> None:
    assert saved_of(size, store) == saved


def report(name: bytes = b"member.git", **changes: Any) -> RepositoryReport:
    path = b"/fleet/" + name
    repository = Repository(
        path=path,
        git_dir=path,
        common_dir=path,
        kind=changes.pop("kind", RepositoryKind.BARE),
        layout=changes.pop("layout", StorageLayout.PLAIN),
        root=b"/fleet",
    )
    values: dict[str, Any] = {
        "repository": repository,
        "roles": (Role.MEMBER,),
        "borrowers": (),
        "inspection": inspection(),
        "sizes": Sizes(reachable=reachable(1000), exclusive=stored(200)),
        "findings": (),
        "state": State.OK,
    }
    return RepositoryReport(**(values | changes))


def of_packs(pack_bytes: int) -> Inspection:
    return inspection(packs=pack_facts(bytes=pack_bytes))


def pool(name: bytes = b"pool.git", pack_bytes: int = 900, **changes: Any) -> RepositoryReport:
    """A pool of GitLab's with borrowers."""
    values = {
        "roles": (Role.POOL,),
        "borrowers": (b"/fleet/a", b"/fleet/b"),
        "layout": StorageLayout.GITLAB_POOL,
        "inspection": of_packs(pack_bytes),
        "sizes": Sizes(reachable=reachable(5000), exclusive=stored(0)),
    }
    return report(name, **(values | changes))


def test_only_a_member_saves() -> None:
    assert summarize(report()).saved_bytes == 800
    assert summarize(report()).saved_bound is LOWER
    assert summarize(report(roles=(Role.MEMBER, Role.POOL))).saved_bytes == 800
    assert summarize(report(roles=(Role.PLAIN,))).saved_bytes is None
    assert summarize(report(kind=RepositoryKind.LINKED_WORKTREE)).saved_bytes is None
    assert summarize(report(sizes=Sizes(reachable=BROKEN))).saved_bytes == BROKEN


def test_a_dedicated_pool_is_one_that_a_forge_made() -> None:
    dangling = inspection(references=reference_facts(has_dangling_namespace=True))
    assert summarize(pool()).is_dedicated_pool
    assert summarize(report(inspection=dangling)).is_dedicated_pool
    assert not summarize(report(roles=(Role.POOL,), borrowers=(b"/x",))).is_dedicated_pool
    assert not summarize(report(inspection=Unreadable("gone"))).is_dedicated_pool


def total(*reports: RepositoryReport) -> tuple[int, Bound, int, int]:
    totals = totals_of(reports)
    return totals.saved_bytes, totals.saved_bound, totals.saved_known_count, totals.saved_unknown_count


MEMBERS = (report(b"m1"), report(b"m2"), report(b"m3"))
UNMEASURED = report(b"u", sizes=Sizes())
OWN_LENDER = report(b"o", roles=(Role.POOL,), borrowers=(b"/x",))


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        ((), (None, EXACT, 0, 0)),
        (MEMBERS, (2400, LOWER, 3, 0)),
        ((*MEMBERS, pool()), (1500, LOWER, 3, 0)),
        ((*MEMBERS, OWN_LENDER), (2400, LOWER, 3, 0)),
        ((*MEMBERS, pool(borrowers=())), (2400, LOWER, 3, 0)),
        ((report(), pool(pack_bytes=2000)), (-1200, LOWER, 1, 0)),
        ((*MEMBERS, pool(), pool(b"nested.git", roles=(Role.MEMBER, Role.POOL))), (600, LOWER, 3, 0)),
        ((*MEMBERS, pool(inspection=inspection(packs=BROKEN))), (2400, UNKNOWN, 3, 0)),
        ((report(sizes=Sizes(reachable=reachable(700), exclusive=stored(0))),), (700, EXACT, 1, 0)),
        ((report(sizes=Sizes(reachable=reachable(700), exclusive=stored(0))), UNMEASURED), (700, LOWER, 1, 1)),
        ((report(sizes=Sizes(reachable=reachable(700, UPPER), exclusive=stored(0))),), (700, UPPER, 1, 0)),
        ((report(), report(b"again", counts_store=False)), (800, LOWER, 1, 0)),
        ((report(), report(b"tree", kind=RepositoryKind.LINKED_WORKTREE)), (800, LOWER, 1, 0)),
        ((report(), report(b"x", sizes=Sizes(exclusive=BROKEN))), (800, LOWER, 1, 1)),
    ],
    ids=lambda value: str(value) if isinstance(value, tuple) and len(value) == 4 and isinstance(value[0], int) else "",
)
def test_a_fleet_saves_what_members_save_less_the_pools_that_nobody_owns(reports: Any, expected: Any) -> None:
    assert total(*reports) == expected


def test_rows_that_come_and_go_leave_the_sum_of_those_that_stay() -> None:
    rows = [
        summarize(one)
        for one in (*MEMBERS, UNMEASURED, OWN_LENDER, pool(), pool(b"b", inspection=inspection(packs=BROKEN)))
    ]
    picked, running, there = random.Random(5), SavedSum(), list[RepositorySummary]()
    for _ in range(200):
        row = picked.choice(rows)
        if row in there:
            there.remove(row)
            running.remove(row)
        else:
            there.append(row)
            running.add(row)
        afresh = SavedSum()
        for one in there:
            afresh.add(one)
        for attribute in ("bytes", "bound", "known_count", "unknown_count"):
            assert getattr(running, attribute) == getattr(afresh, attribute)


def test_a_sum_beyond_what_a_size_can_be_stays_a_number_of_64_bits() -> None:
    huge = Sizes(reachable=reachable(2**63 - 1), exclusive=stored(0))
    members = [report(b"%d" % number, sizes=huge) for number in range(3)]
    assert totals_of(members).saved_bytes == 2**63 - 1
    pools = [pool(b"%d" % number, pack_bytes=2**63 - 1) for number in range(3)]
    assert msgspec.json.decode(msgspec.json.encode(totals_of([*pools, report()])))["saved_bytes"] == -(2**63 - 1)


def disk_sizes(repository: GitRepository, object_ids: set[str]) -> int:
    lines = repository.git(
        "cat-file", "--batch-check=%(objectsize:disk)", stdin="".join(f"{one}\n" for one in object_ids).encode()
    )
    return sum(map(int, lines.split()))


def own_ids(repository: GitRepository) -> set[str]:
    ids: set[str] = set()
    for index in (repository.git_dir / "objects/pack").glob("*.idx"):
        lines = repository.git("show-index", stdin=index.read_bytes()).splitlines()
        ids |= {line.split()[1] for line in lines}
    return ids


@pytest.fixture
def fleet(tmp_path: Path) -> tuple[GitRepository, GitRepository]:
    """A pool, and a member whose history goes on from the pool's; both packed, nothing twice, nothing unreachable."""
    lender = GitRepository.init(tmp_path / "pool.git")
    for number in range(5):
        lender.commit({f"f{number}": f"{number}\n" * 400})
    lender.repack("-a", "-d")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "refs/heads/main"))
    member.commit({"own": "own\n" * 300})
    member.repack("-a", "-d", "-l")
    return lender, member


@pytest.mark.oracle
def test_a_real_member_saves_the_objects_that_only_its_pool_stores(fleet: tuple[GitRepository, GitRepository]) -> None:
    lender, member = fleet
    ids = set(member.git("rev-list", "--all", "--objects", "--no-object-names").split())
    true_bytes = disk_sizes(member, ids - own_ids(member))
    assert true_bytes > 0
    events = survey(member.path.parent, sizes=SizesWanted.ALL)
    row = last_reports(events)["member.git"].summary
    assert (row.saved_bytes, row.saved_bound) == (true_bytes, LOWER)
    assert finished(events).totals.saved_bytes == true_bytes, "somebody's own repository costs nothing more"
    (pack,) = lender.packs()
    lender.git("update-ref", "refs/dangling/1", "refs/heads/main")
    events = survey(member.path.parent, sizes=SizesWanted.ALL)
    assert finished(events).totals.saved_bytes == true_bytes - os.stat(pack).st_size


@pytest.mark.oracle
def test_what_no_reference_leads_to_makes_the_figure_too_low(fleet: tuple[GitRepository, GitRepository]) -> None:
    _, member = fleet
    ids = set(member.git("rev-list", "--all", "--objects", "--no-object-names").split())
    true_bytes = disk_sizes(member, ids - own_ids(member))
    unreachable = member.blob(os.urandom(100))
    row = last_reports(survey(member.path.parent, sizes=SizesWanted.ALL))["member.git"].summary
    assert (row.saved_bytes, row.saved_bound) == (true_bytes - disk_sizes(member, {unreachable}), LOWER)
