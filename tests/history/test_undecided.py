"""Which rows have to be measured for a condition: the oracle puts every value that may come out into the row."""

import sqlite3
from collections.abc import Iterator
from itertools import product

import pytest

from gitdash.history.undecided import may_hold

COLUMNS = ("name", "packs", "bitmap", "exclusive", "reachable")
UNKNOWN = ("exclusive", "reachable")
ROWS = [
    {"name": "a.git", "packs": 3, "bitmap": "pack", "exclusive": None, "reachable": None},
    {"name": "b.git", "packs": 70, "bitmap": None, "exclusive": None, "reachable": None},
    {"name": "c) OR (1.git", "packs": 0, "bitmap": "midx", "exclusive": None, "reachable": None},
]
VALUES = (None, 0, 1, 50, 10**9)


def truth(row: dict[str, object], condition: str) -> bool:
    """What SQLite itself says of one row."""
    connection = sqlite3.connect(":memory:")
    try:
        columns = ", ".join(f"? AS {name}" for name in row)
        return bool(
            connection.execute(
                f"SELECT 1 FROM (SELECT {columns}) AS r WHERE (\n{condition}\n)", (*row.values(),)
            ).fetchone()
        )
    finally:
        connection.close()


def completions(row: dict[str, object]) -> Iterator[dict[str, object]]:
    for values in product(VALUES, repeat=len(UNKNOWN)):
        yield row | dict(zip(UNKNOWN, values, strict=True))


def chosen(condition: str) -> list[int]:
    return may_hold(ROWS, condition, columns=COLUMNS, unknown=UNKNOWN)


@pytest.mark.parametrize(
    ("condition", "positions"),
    [
        ("name = 'a.git'", [0]),
        ("packs > 10 OR bitmap = 'midx'", [1, 2]),
        ("bitmap IS NULL", [1]),
        ("name = 'a.git' AND exclusive > 5", [0]),
        ("packs > 10 AND (exclusive > 5 OR reachable < 3)", [1]),
        ("NOT (packs < 10 OR exclusive > 5)", [1]),
        ("packs > 10 OR exclusive > 5", [0, 1, 2]),
        ("exclusive BETWEEN 1 AND 5 AND packs IN (0, 3)", [0, 2]),
        ("max(exclusive, reachable) > 5 AND name LIKE 'b%'", [1]),
        ("exclusive > 5 AND name = 'c) OR (1.git' -- (", [2]),
    ],
)
def test_what_no_size_can_make_true_is_not_measured(condition: str, positions: list[int]) -> None:
    assert chosen(condition) == positions


@pytest.mark.parametrize(
    "condition",
    [
        "exclusive IS NULL AND packs > 10",
        "exclusive NOT NULL AND packs > 10",
        "exclusive NOTNULL",
        "coalesce(exclusive, 7) = 7",
        "ifnull(exclusive, 0) = 0 AND packs > 10",
        "CASE WHEN exclusive > 5 THEN packs ELSE 0 END > 1",
        "typeof(exclusive) = 'integer'",
        "NOT (exclusive IS NULL)",
        "exclusive > 5) OR (exclusive < 1 AND 1",
        "nullif(exclusive, 1) > 0",
        "iif(exclusive > 5, 1, 0)",
        "exclusive IS DISTINCT FROM 5",
        "name = 'a.git' OR NOT exclusive > 5",
        "reachable - exclusive > 5 AND NOT packs = 3",
    ],
)
def test_no_row_is_left_out_that_some_size_makes_true(condition: str) -> None:
    possible = [number for number, row in enumerate(ROWS) if any(truth(one, condition) for one in completions(row))]
    assert set(possible) <= set(chosen(condition))


def test_all_are_measured_where_a_subquery_compares_sizes() -> None:
    assert chosen("exclusive > (SELECT avg(exclusive) FROM repositories)") == [0, 1, 2]


def test_value_that_is_known_counts() -> None:
    rows = [ROWS[0] | {"exclusive": 9}, ROWS[1] | {"exclusive": 2}, ROWS[2]]
    assert may_hold(rows, "exclusive > 5", columns=COLUMNS, unknown=UNKNOWN) == [0, 2]
