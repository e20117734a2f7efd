"""The order of rows."""

import pytest

from gitdash.export.columns import column_named
from gitdash.export.sorting import sort_summaries, sort_value
from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from tests.export.rows import NOW_S, summary

BROKEN = Unreadable("permission denied")


@pytest.mark.parametrize(("descending", "order"), [(False, "abcde"), (True, "cbade")])
def test_unreadable_and_then_absent_stand_last_in_both_directions(descending: bool, order: str) -> None:
    rows = [
        summary("e", disk_bytes=None),
        summary("c", disk_bytes=3000),
        summary("d", disk_bytes=BROKEN),
        summary("a", disk_bytes=0),
        summary("b", disk_bytes=2000),
    ]
    ordered = sort_summaries(rows, column_named("disk"), descending=descending)
    assert "".join(row.name for row in ordered) == order
    keys = [sort_value(column_named("disk"), row) for row in rows]
    assert sorted(keys) == [(0, 0), (0, 2000), (0, 3000), (1, 0), (2, 0)]


def test_states_sort_by_severity_ages_by_age_and_names_without_case() -> None:
    states = [summary(state=state) for state in reversed(State)]
    assert [row.state for row in sort_summaries(states, column_named("state"), descending=False)] == [*State]
    ages = [summary(inspected_at_s=NOW_S - age_s) for age_s in (50, 5, 500)]
    by_age = sort_summaries(ages, column_named("age"), descending=False)
    assert [NOW_S - (row.inspected_at_s or 0) for row in by_age] == [5, 50, 500]
    names = [summary("b"), summary("A"), summary("C")]
    assert [row.name for row in sort_summaries(names, column_named("name"), descending=False)] == ["A", "b", "C"]


def test_sorting_keeps_the_order_of_equals() -> None:
    rows = [summary("b", pack_count=1), summary("a", pack_count=1)]
    for descending in (False, True):
        assert [row.name for row in sort_summaries(rows, column_named("packs"), descending=descending)] == ["b", "a"]
