"""Rows and totals, from values alone."""

import msgspec
import pytest

from gitdash.model.finding import Finding, Severity
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Role, Unreadable
from gitdash.model.sizes import Bound, ExclusiveSizes, Question, SizeMeasurement, Sizes, Strategy
from gitdash.survey.summarize import name_below, summarize, totals_of


def report(path: bytes = b"/fleet/a.git", **changes: object) -> RepositoryReport:
    values: dict[str, object] = {
        "repository": Repository(path=path, git_dir=path, common_dir=path, kind=RepositoryKind.BARE, root=b"/fleet"),
        "roles": (Role.PLAIN,),
        "borrowers": (),
        "inspection": Unreadable("gone"),
        "sizes": Sizes(),
        "findings": (),
        "state": State.UNREADABLE,
    }
    return RepositoryReport(**(values | changes))  # type: ignore[arg-type]


def exclusive(exclusive_bytes: int, duplicate_bytes: int) -> Sizes:
    return Sizes(
        exclusive=ExclusiveSizes(
            exclusive_bytes=exclusive_bytes,
            exclusive_count=1,
            duplicate_bytes=duplicate_bytes,
            duplicate_count=1,
            elapsed_s=0.0,
            measured_at_s=0.0,
        )
    )


@pytest.mark.parametrize(
    ("path", "root", "name"),
    [
        (b"/srv/git/a/b.git", b"/srv/git", "a/b.git"),
        (b"/srv/git", b"/srv/git", "git"),
        (b"/a", b"/", "a"),
        (b"/", b"/", "/"),
        (b"/srv/gitlab", b"/srv/git", "gitlab"),
        (b"/srv/\xff\x1b", b"/srv", "\\xff\\x1b"),
    ],
)
def test_a_name_is_the_path_below_the_root(path: bytes, root: bytes, name: str) -> None:
    assert name_below(path, root) == name


def test_what_is_unreadable_is_neither_absent_nor_zero() -> None:
    row = summarize(report())
    assert row.disk_bytes == row.pack_count == row.loose_count == row.alternate_count == Unreadable("gone")
    assert row.exclusive_bytes is None
    assert row.reachable_bytes is None


@pytest.mark.parametrize(
    ("roles", "word"),
    [((Role.PLAIN,), "plain"), ((Role.MEMBER,), "member"), ((Role.MEMBER, Role.POOL), "member+pool")],
)
def test_roles_are_one_word(roles: tuple[Role, ...], word: str) -> None:
    assert summarize(report(roles=roles)).role == word


def test_an_upper_bound_is_marked() -> None:
    size = SizeMeasurement(
        question=Question.REACHABLE_OWN,
        bytes=7,
        strategy=Strategy.WALK,
        exact=False,
        elapsed_s=0.1,
        measured_at_s=5.0,
        argv=(),
        git_version="2",
    )
    row = summarize(report(sizes=Sizes(reachable_own=size)))
    assert (row.reachable_own_bytes, row.reachable_own_bound) == (7, Bound.UPPER)


def test_findings_are_counted_by_severity_plain_facts_too() -> None:
    severities = (Severity.CRITICAL, Severity.WARNING, Severity.NOTICE, Severity.NOTICE, Severity.NOTICE)
    findings = tuple(Finding(rule="shallow", severity=one, summary="s", remedy="r") for one in severities)
    row = summarize(report(findings=findings))
    assert (row.critical_count, row.warning_count, row.notice_count, row.finding_count) == (1, 1, 3, 5)


def test_totals_count_a_shared_store_once() -> None:
    totals = totals_of(
        [
            report(sizes=exclusive(10, 1)),
            report(b"/fleet/b.git", sizes=exclusive(20, 2)),
            report(b"/fleet/c.git", sizes=exclusive(20, 2), counts_store=False),
        ]
    )
    assert (totals.repository_count, totals.object_store_count) == (3, 2)
    assert (totals.exclusive_bytes, totals.duplicate_bytes) == (30, 3)
    assert totals.unreadable_count == 3


def test_totals_count_what_is_missing_in_them() -> None:
    linked = msgspec.structs.replace(report(b"/fleet/l").repository, kind=RepositoryKind.LINKED_WORKTREE)
    totals = totals_of(
        [
            report(sizes=exclusive(10, 1)),
            report(b"/fleet/b.git", sizes=Sizes(exclusive=Unreadable("no"))),
            report(b"/fleet/c.git", sizes=Sizes()),
            report(b"/fleet/d.git", sizes=Sizes(), counts_store=False),
            msgspec.structs.replace(report(), repository=linked),
        ]
    )
    assert (totals.exclusive_bytes, totals.exclusive_unknown_count) == (10, 2)
    assert (totals.disk_bytes, totals.disk_unknown_count) == (0, 5)
