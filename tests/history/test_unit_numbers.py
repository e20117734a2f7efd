"""Numbers with units in conditions: what they stand for, and what is left alone."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.history.filter import select
from gitdash.history.unit_numbers import without_units


@pytest.mark.parametrize(
    ("condition", "plain"),
    [
        ("disk > 1 MiB", "disk > 1048576"),
        ("disk > 1MiB", "disk > 1048576"),
        ("disk > 1 mib", "disk > 1048576"),
        ("disk>1.5 GiB and loose<10k", "disk>1610612736 and loose<10000"),
        ("disk > 2 kB", "disk > 2000"),
        ("disk > 2 KiB", "disk > 2048"),
        ("loose > 1.25k", "loose > 1250"),
        ("loose > 3M", "loose > 3000000"),
        ("disk > 1T", "disk > 1000000000000"),
        ("disk > 0.001 KiB", "disk > 1.024"),
        ("disk BETWEEN 1 KiB AND 2 KiB", "disk BETWEEN 1024 AND 2048"),
        ("disk IN (1k,2k)", "disk IN (1000,2000)"),
    ],
)
def test_number_with_a_unit_is_the_plain_number(condition: str, plain: str) -> None:
    assert without_units(condition) == plain


@pytest.mark.parametrize(
    "condition",
    [
        "name = '1 MiB'",
        "name = 'it''s 1k' AND \"2k\" = [3k]",
        "`1k` = 1 -- and 5k\n/* 1 MiB */",
        "loose > 10 k",
        "loose > 10m",
        "disk > 0x1k",
        "disk > 1e3k",
        "p1k > 1",
        "p.1k > 1",
        "disk > 1 MiBs",
        "disk > 10 days",
        "packs > 50 AND role = 'member'",
        "",
    ],
)
def test_what_is_no_number_with_a_unit_is_left_as_it_is(condition: str) -> None:
    assert without_units(condition) == condition


@given(st.text(alphabet="0123456789.kKmMgGtTiIbB'\"[]`-/* \n", max_size=40))
def test_what_sqlite_takes_without_units_keeps_its_value(expression: str) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        value = connection.execute(f"SELECT (\n{expression}\n)").fetchall()
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return
    finally:
        connection.close()
    plain = without_units(expression)
    assert sqlite3.connect(":memory:").execute(f"SELECT (\n{plain}\n)").fetchall() == value


def test_condition_selects_by_numbers_with_units() -> None:
    rows = [{"name": "a", "disk": 2**20}, {"name": "b", "disk": 2**20 + 1}, {"name": "1 MiB", "disk": 0}]
    assert select(rows, "disk > 1 MiB OR name = '1 MiB'") == [1, 2]
    assert select(rows, "disk >= 1M") == [0, 1]
