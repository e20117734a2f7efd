"""Sorting, filtering and sums of the fleet, without a screen."""

import random
import re

import msgspec
import pytest

from gitdash.export.columns import FLEET_COLUMNS
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import RepositoryKind, Unreadable
from gitdash.model.sizes import Sizes
from gitdash.model.summary import RepositorySummary
from gitdash.survey.summarize import summarize, totals_of
from gitdash.tui.fleet.totals_line import totals_line
from gitdash.tui.table.fleet import Fleet
from tests.tui.fixture_fleet import ROOT, exclusive, fixed_reports, fixed_summaries, many_summaries


def _fleet(summaries: list[RepositorySummary]) -> Fleet:
    fleet = Fleet(FLEET_COLUMNS)
    for summary in summaries:
        fleet.put(summary)
    fleet.arrange()
    return fleet


def _shown(fleet: Fleet) -> list[RepositorySummary]:
    return [fleet.rows[number].summary for number in fleet.view]


def _named(fleet: Fleet, name: str) -> RepositorySummary:
    return next(row.summary for row in fleet.rows if row.summary.name == name)


def test_worst_state_stands_first_and_within_it_the_largest() -> None:
    rows = _shown(_fleet(many_summaries(300)))
    ranks = [list(State).index(row.state) for row in rows]
    assert ranks == sorted(ranks, reverse=True)
    critical = [row.disk_bytes for row in rows if row.state is State.CRITICAL]
    assert critical == sorted(critical, reverse=True)  # type: ignore[type-var]


@pytest.mark.parametrize("column", FLEET_COLUMNS, ids=lambda column: column.key)
def test_every_column_sorts_both_ways_and_leaves_unreadable_and_absent_last(column) -> None:
    fleet = _fleet(fixed_summaries())
    former = fleet.order[0][0]
    for _ in range(2):
        fleet.sort_by(column.key)
        values = [column.value(row) for row in _shown(fleet)]
        known = [column.rank(value) for value in values if value is not None and not isinstance(value, Unreadable)]
        assert known == sorted(known, reverse=fleet.order[0][1])
        kinds = [2 if value is None else 1 if isinstance(value, Unreadable) else 0 for value in values]
        assert kinds == sorted(kinds)
    assert former in {"state", fleet.order[1][0]}


def test_sizes_and_states_start_with_the_largest_and_names_with_a() -> None:
    fleet = _fleet(many_summaries(20))
    fleet.sort_by("disk")
    assert fleet.order[0] == ("disk", True)
    fleet.sort_by("name")
    assert fleet.order[0] == ("name", False)
    fleet.sort_by("name")
    assert fleet.order[0] == ("name", True)
    assert fleet.order[1] == ("disk", True)


def test_filter_wants_every_word_in_name_role_state_or_rule() -> None:
    fleet = _fleet(fixed_summaries())
    fleet.set_filter("TEAM critical")
    assert [row.name for row in _shown(fleet)] == ["team/api.git"]
    fleet.set_filter("packs-outside")
    assert [row.name for row in _shown(fleet)] != []
    fleet.set_filter("no-bitmap")
    assert {row.name for row in _shown(fleet)} == {"team/web.git", "infra/deploy.git"}
    fleet.set_filter("m+pool")
    assert _shown(fleet) == []
    fleet.set_filter("member+pool")
    assert [row.name for row in _shown(fleet)] == ["mirror/linux.git"]
    fleet.set_filter("  ")
    assert len(fleet.view) == len(fleet.rows)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("linked worktree", ["clones/gitdash-review"]),
        ("linked_worktree", ["clones/gitdash-review"]),
        ("submodule", ["clones/gitdash/.git/modules/themes"]),
        ("holding lock packed-refs", ["infra/deploy.git"]),
        ("/srv/git/team web", ["team/web.git"]),
    ],
)
def test_filter_finds_kind_sentence_of_the_worst_finding_and_whole_path(text: str, names: list[str]) -> None:
    fleet = _fleet(fixed_summaries())
    fleet.set_filter(text)
    assert [row.name for row in _shown(fleet)] == names


def test_filter_takes_brackets_as_they_are() -> None:
    fleet = _fleet(fixed_summaries())
    fleet.set_filter("[/]")
    assert {row.name for row in _shown(fleet)} == {"strange/[/]", "strange/[@click=app.quit]x[/]"}


def test_positions_are_the_inverse_of_the_view() -> None:
    fleet = _fleet(many_summaries(200))
    fleet.set_filter("warning")
    assert fleet.positions == {number: position for position, number in enumerate(fleet.view)}


def test_new_row_joins_the_end_of_the_view_and_finds_its_place_later() -> None:
    summaries = fixed_summaries()
    critical = next(row for row in summaries if row.state is State.CRITICAL)
    fleet = _fleet([row for row in summaries if row is not critical])
    number, is_new = fleet.put(critical)
    assert is_new
    assert fleet.view[-1] == number
    fleet.arrange()
    assert fleet.positions[number] < len(fleet.view) - 1


def test_new_row_that_does_not_pass_the_filter_stays_out() -> None:
    summaries = fixed_summaries()
    fleet = _fleet(summaries[1:])
    fleet.set_filter("nothing-has-this")
    number, is_new = fleet.put(summaries[0])
    assert is_new
    assert number not in fleet.positions


def test_change_keeps_the_row_number_and_grows_its_version() -> None:
    summaries = fixed_summaries()
    fleet = _fleet(summaries)
    number = fleet.number_of(summaries[3].path)
    assert number is not None
    version = fleet.rows[number].version
    changed = msgspec.structs.replace(summaries[3], pack_count=99)
    assert fleet.put(changed) == (number, False)
    assert fleet.rows[number].summary is changed
    assert fleet.rows[number].version > version


def test_forgotten_rows_are_gone_from_view_numbers_and_sums() -> None:
    summaries = fixed_summaries()
    fleet = _fleet(summaries)
    assert fleet.forget([summaries[0].path, b"/never/known"])
    assert not fleet.forget([summaries[0].path])
    assert fleet.number_of(summaries[0].path) is None
    assert len(fleet.rows) == len(fleet.view) == len(summaries) - 1
    assert all(fleet.number_of(row.summary.path) == number for number, row in enumerate(fleet.rows))
    assert fleet.totals.repository_count == len(summaries) - 1


def _random_report(chance: random.Random, report: RepositoryReport) -> RepositoryReport:
    """The same repository with other sizes, another state, and other shares."""
    inspection = report.inspection
    if isinstance(inspection, Inspection) and isinstance(inspection.disk, DiskFacts):
        disk = msgspec.structs.replace(inspection.disk, bytes=chance.randrange(10**9))
        inspection = msgspec.structs.replace(inspection, disk=chance.choice([disk, Unreadable("no")]))
    sizes = Sizes(exclusive=chance.choice([None, Unreadable("no"), exclusive(chance.randrange(10**9), 5, 1)]))
    is_linked = report.repository.kind is RepositoryKind.LINKED_WORKTREE
    return msgspec.structs.replace(
        report,
        inspection=inspection,
        sizes=sizes,
        state=chance.choice(list(State)),
        counts_store=not is_linked and chance.random() < 0.7,
    )


def test_running_sums_equal_those_of_the_survey_whatever_changes() -> None:
    chance = random.Random(7)
    reports = {report.repository.path: report for report in fixed_reports()}
    fleet = _fleet(fixed_summaries())
    for _ in range(300):
        report = _random_report(chance, chance.choice(list(reports.values())))
        reports[report.repository.path] = report
        fleet.put(summarize(report))
    expected = totals_of(reports.values())
    totals = fleet.totals
    assert totals.repository_count == expected.repository_count
    assert totals.object_store_count == expected.object_store_count
    assert totals.disk_bytes == expected.disk_bytes
    assert totals.exclusive_bytes == expected.exclusive_bytes
    assert totals.duplicate_bytes == expected.duplicate_bytes
    assert totals.disk_unknown_count == expected.disk_unknown_count > 0
    assert totals.exclusive_unknown_count == expected.exclusive_unknown_count > 0
    assert totals.states[State.CRITICAL] == expected.critical_count
    assert totals.states[State.WARNING] == expected.warning_count
    assert totals.states[State.NOTICE] == expected.notice_count
    assert totals.states[State.UNREADABLE] == expected.unreadable_count


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_sums_fit_on_one_line_and_always_say_how_many_and_how_critical(width: int) -> None:
    text = "".join(piece.text for piece in totals_line(_fleet(fixed_summaries()).totals, width))
    assert len(text) <= width
    assert "27 repositories" in text
    assert "2 critical" in text


def _sums(rows: list[RepositorySummary]) -> str:
    return "".join(piece.text for piece in totals_line(_fleet(rows).totals, 200))


def test_sum_that_lacks_a_row_is_marked_as_a_lower_bound() -> None:
    rows = many_summaries(10)
    assert ">=" not in _sums(rows)
    unmeasured = msgspec.structs.replace(rows[0], exclusive_bytes=None)
    text = _sums([unmeasured, *rows[1:]])
    assert re.search(r"  [\d.]+ KiB disk  >=[\d.]+ MiB exclusive  >=45 B duplicate", text), text
    unreadable = msgspec.structs.replace(rows[0], disk_bytes=Unreadable("no"))
    assert re.search(r">=[\d.]+ [KMG]iB disk", _sums([unreadable, *rows[1:]]))


def test_sum_of_nothing_measured_is_left_out() -> None:
    rows = [msgspec.structs.replace(row, exclusive_bytes=None) for row in many_summaries(3)]
    assert "exclusive" not in _sums(rows)
    assert "duplicate" not in _sums(rows)


def test_linked_worktree_without_a_store_of_its_own_does_not_make_a_sum_partial() -> None:
    rows = many_summaries(2)
    linked = msgspec.structs.replace(rows[0], kind=RepositoryKind.LINKED_WORKTREE, exclusive_bytes=None)
    assert ">=" not in _sums([linked, rows[1]])


def test_linked_worktree_does_not_count_its_store_again() -> None:
    fleet = _fleet(fixed_summaries())
    assert fleet.totals.repository_count - fleet.totals.object_store_count == 1
    assert not _named(fleet, "clones/gitdash-review").counts_store


def test_busy_changes_the_version_once() -> None:
    fleet = _fleet(fixed_summaries())
    path = ROOT + b"/team/api.git"
    assert fleet.set_busy(path, busy=True) == fleet.number_of(path)
    assert fleet.set_busy(path, busy=True) is None
    assert fleet.set_busy(b"/unknown", busy=True) is None
