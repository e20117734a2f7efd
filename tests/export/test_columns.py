"""The columns: declared once, three kinds of nothing, sorting and naming."""

import re

import pytest

from gitdash.export.columns import (
    COLUMNS,
    CONDITION_NAMES,
    CONDITION_TEXTS,
    FLEET_COLUMNS,
    ColumnError,
    column_named,
    parse_columns,
    raw_row,
    raw_value,
)
from gitdash.model.report import State
from gitdash.model.repository import RepositoryKind, Unreadable
from gitdash.model.sizes import Bound
from tests.export.rows import NOW_S, summary

BROKEN = Unreadable("permission denied")


def test_fleet_columns_stand_in_the_order_of_the_design() -> None:
    keys = "name role state disk exclusive reachable own packs loose bitmap refs age"
    assert [column.key for column in FLEET_COLUMNS] == keys.split()
    assert COLUMNS[: len(FLEET_COLUMNS)] == FLEET_COLUMNS


def test_names_and_priorities_are_unique() -> None:
    keys = [column.key for column in COLUMNS]
    raw_names = [column.raw_name for column in COLUMNS]
    assert len({*keys}) == len(keys)
    assert len({*raw_names}) == len(raw_names)
    assert not (({*keys} & {*raw_names}) - {column.key for column in COLUMNS if column.key == column.raw_name})
    assert len({column.priority for column in COLUMNS}) == len(COLUMNS)
    assert all(re.fullmatch("[a-z_]+", name) for name in CONDITION_NAMES)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.key)
def test_column_has_one_sentence_and_its_unit_in_the_raw_name(column) -> None:
    assert column.help.endswith(".")
    suffix = {"bytes": "_bytes", "count": "_count", "s": "_s", "": ""}[column.unit]
    assert column.raw_name.endswith(suffix)
    assert (column.align == "right") is bool(column.unit)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.key)
def test_text_of_a_cell_is_one_printable_line(column) -> None:
    hostile = summary("x\x1b[31m\n\udce9", worst_summary="a\u202eb", worst_rule="r")
    assert column.text(hostile, NOW_S).isprintable()


@pytest.mark.parametrize(
    ("key", "changes", "text"),
    [
        ("disk", {}, "2.00 KiB"),
        ("disk", {"disk_bytes": 0}, "0 B"),
        ("disk", {"disk_bytes": None}, "-"),
        ("disk", {"disk_bytes": BROKEN}, "?"),
        ("disk", {"disk_bytes": None, "inspected_at_s": None}, "…"),
        ("packs", {"pack_count": 0}, "0"),
        ("packs", {"pack_count": BROKEN}, "?"),
        ("refs", {"reference_count": None}, "-"),
        ("refs", {"reference_count": 21_000}, "21.0k"),
        ("reachable", {"reachable_bytes": None}, ""),
        ("reachable", {"reachable_bytes": None, "inspected_at_s": None}, "…"),
        ("reachable", {"reachable_bytes": BROKEN}, "?"),
        ("reachable", {"reachable_bound": Bound.UPPER}, "<=1.50 KiB"),
        ("reachable", {"reachable_bound": Bound.LOWER}, ">=1.50 KiB"),
        ("reachable", {"reachable_bound": Bound.UNKNOWN}, "~1.50 KiB"),
        ("own", {"reachable_own_bytes": 58_810_223, "reachable_own_bound": Bound.UPPER}, "<=56.1 MiB"),
        ("own", {"reachable_own_bytes": 58_358_935}, "55.7 MiB"),
        ("exclusive", {"exclusive_bytes": 0}, "0 B"),
        ("saved", {"role": "member", "saved_bytes": 1536, "saved_bound": Bound.LOWER}, ">=1.50 KiB"),
        ("saved", {"role": "member+pool", "saved_bytes": 0, "saved_bound": Bound.LOWER}, ">=0 B"),
        ("saved", {"role": "member"}, ""),
        ("saved", {"role": "member", "saved_bytes": BROKEN}, "?"),
        ("saved", {"role": "member", "inspected_at_s": None}, "…"),
        ("saved", {"role": "member", "kind": RepositoryKind.LINKED_WORKTREE}, "-"),
        ("saved", {"role": "pool"}, "-"),
        ("saved", {}, "-"),
        ("bitmap", {}, "-"),
        ("bitmap", {"bitmap": "lender"}, "lender"),
        ("bitmap", {"bitmap": BROKEN}, "?"),
        ("bitmap", {"inspected_at_s": None}, "…"),
        ("bitmap", {"inspected_at_s": None, "state": State.UNREADABLE}, "?"),
        ("alternates", {"alternate_count": BROKEN}, "?"),
        ("state", {"state": State.WARNING}, "warning"),
        ("age", {}, "5m"),
        ("age", {"inspected_at_s": None}, "…"),
        ("age", {"inspected_at_s": None, "state": State.UNREADABLE}, "?"),
        ("worst", {}, "-"),
    ],
)
def test_absent_unreadable_unmeasured_and_zero_are_four_texts(key: str, changes: dict, text: str) -> None:
    assert column_named(key).text(summary(**changes), NOW_S) == text


def test_column_is_found_by_either_name() -> None:
    assert column_named("disk") is column_named("disk_bytes")
    assert column_named("age") is column_named("inspected_at_s")
    assert [column.key for column in parse_columns("disk, pack_count,name")] == ["disk", "packs", "name"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("diks", "did you mean 'disk'?"),
        ("reachble", "did you mean 'reachable'?"),
        ("midx", "did you mean 'outside_midx'?"),
    ]
    + [
        (odd, "; the columns are name, ")
        for odd in ("zzz", "size", "repo", "branches", "commits", "date", "remote", "x")
    ],
)
def test_unknown_column_is_an_error_that_suggests_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(ColumnError, match=re.escape(hint)) as caught:
        column_named(name)
    assert f"no column '{name}'" in str(caught.value)


def test_unknown_column_of_a_hostile_name_is_printable() -> None:
    with pytest.raises(ColumnError) as caught:
        column_named("\x1b]0;x\x07")
    assert str(caught.value).isprintable()


def test_empty_list_of_columns_is_an_error() -> None:
    with pytest.raises(ColumnError, match="empty"):
        parse_columns(" , ")


def test_sorting_starts_with_what_is_looked_for() -> None:
    greatest_first = {column.key for column in COLUMNS if column.starts_with_greatest}
    assert {"disk", "exclusive", "reachable", "own", "packs", "loose", "refs", "findings", "state"} <= greatest_first
    assert not {"name", "path", "role", "kind", "bitmap", "worst", "age"} & greatest_first


def test_condition_sees_raw_values_under_both_names() -> None:
    row = raw_row(summary(disk_bytes=BROKEN, bitmap="pack"))
    assert tuple(row) == CONDITION_NAMES
    assert "inspected_at_s" in row
    assert "age" not in row
    assert row["disk"] is row["disk_bytes"] is None
    assert row["packs"] == row["pack_count"] == 1
    assert row["bitmap"] == "pack"
    assert row["kind"] == "bare"
    assert row["path"] == "/srv/git/a.git"
    assert row["rules"] is None


def test_one_value_of_a_condition_is_that_of_the_whole_row() -> None:
    facts = summary(disk_bytes=BROKEN, rules=("stale-lock", "no-bitmap"), worst_rule="stale-lock")
    row = raw_row(facts)
    assert row["rules"] == "stale-lock no-bitmap"
    assert {name: raw_value(facts, name) for name in CONDITION_NAMES} == row


def test_columns_of_texts_are_known_before_there_are_rows() -> None:
    row = raw_row(summary(bitmap="pack", rules=("no-bitmap",), worst_rule="no-bitmap", worst_summary="none"))
    assert {name for name, value in row.items() if isinstance(value, str)} == CONDITION_TEXTS
