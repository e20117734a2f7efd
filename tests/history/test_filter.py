"""Conditions over rows: what they select, and that they can do nothing else."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.history import filter as condition_filter
from gitdash.history.filter import FilterError, columns_read, select
from gitdash.units import printable
from tests.support.speed import cpu_s, slowness

ROWS = [
    {"name": "alpha", "disk_bytes": 100, "loose_count": 0, "age_s": 1.5},
    {"name": "beta", "disk_bytes": 2_000, "loose_count": None, "age_s": 2.5},
    {"name": "gam'ma", "disk_bytes": 30, "loose_count": 7, "age_s": None},
]


@pytest.mark.safety
def test_numbers_beyond_64_bits_compare_with_others() -> None:
    rows = [{"disk_bytes": size_bytes} for size_bytes in (2**63 - 1, 2**63, 2**70, -(2**70), 1)]
    assert select(rows, "disk_bytes > 9e18") == [0, 1, 2]
    assert select(rows, "disk_bytes < 2") == [3, 4]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("disk_bytes > 50", [0, 1]),
        ("disk_bytes > '50'", [0, 1]),
        ("disk_bytes > 1e3", [1]),
        ("loose_count", [2]),
        ("loose_count = 0", [0]),
        ("loose_count != 0", [2]),
        ("loose_count IS NULL", [1]),
        ("coalesce(loose_count, 9) > 5", [1, 2]),
        ("name LIKE 'A%'", [0]),
        ("name GLOB 'a*' OR name = 'gam''ma'", [0, 2]),
        ("name IN ('beta', 'x')", [1]),
        ("age_s BETWEEN 1 AND 2", [0]),
        ("NOT age_s > 2", [0]),
        ("disk_bytes = (SELECT max(disk_bytes) FROM repositories)", [1]),
        ("disk_bytes > (SELECT avg(disk_bytes) FROM repositories)", [1]),
        ("length(name) = 4 -- a comment", [1]),
        ('"disk_bytes" > 50', [0, 1]),
        ("1", [0, 1, 2]),
        ("NULL", []),
    ],
)
def test_condition_selects_positions(condition: str, expected: list[int]) -> None:
    assert select(ROWS, condition) == expected


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("disk_byte > 1", "no column 'disk_byte': did you mean 'disk_bytes'?"),
        ("zzz > 1", "no column 'zzz': columns are name, disk_bytes, loose_count, age_s"),
        ("name = qqq", "no column 'qqq': texts stand in quotes, 'qqq'"),
        ("name IS NOT qqq", "no column 'qqq': texts stand in quotes, 'qqq'"),
        ("name LIKE qqq", "no column 'qqq': texts stand in quotes, 'qqq'"),
        ("name IN ('x', qqq)", "no column 'qqq': texts stand in quotes, 'qqq'"),
        ("(qqq = name)", "no column 'qqq': columns are name, disk_bytes, loose_count, age_s"),
        ("disk_bytes >", "'disk_bytes >' is not a complete condition"),
        ("", "'' is not a complete condition"),
        ("name = 'alpha", "'name = 'alpha' is not a complete condition"),
        ("(disk_bytes > 1", "'(disk_bytes > 1' is not a complete condition"),
        ("disk_bytes > 1)", "'disk_bytes > 1)' is not a condition: near \")\": syntax error"),
        ("\x1b[31m", "'\\x1b[31m' is not a condition: unrecognized token: \"\\x1b\""),
        ("nosuch(1)", "'nosuch(1)' is not a condition: no such function: nosuch"),
    ],
)
def test_mistake_is_one_sentence(condition: str, sentence: str) -> None:
    with pytest.raises(FilterError) as caught:
        select(ROWS, condition)
    assert str(caught.value) == sentence


@pytest.mark.safety
@pytest.mark.parametrize(
    "condition",
    [
        "1; DROP TABLE repositories",
        "1); DROP TABLE repositories; SELECT (1",
        "load_extension('/tmp/x.so')",
        "readfile('/etc/passwd')",
        "writefile('/tmp/x', 'y')",
        "edit('x')",
        "fts3_tokenizer('x')",
        "randomblob(1000000000)",
        "zeroblob(1000000000)",
        "printf('%1000000000d', 1)",
        "char(1)",
        "sqlite_version()",
        "EXISTS (SELECT 1 FROM sqlite_master)",
        "EXISTS (SELECT 1 FROM sqlite_schema)",
        "EXISTS (SELECT 1 FROM pragma_database_list)",
        "EXISTS (SELECT 1 FROM pragma_table_info('repositories'))",
        "EXISTS (SELECT 1 FROM generate_series(1, 1000000000))",
        "EXISTS (SELECT 1 FROM json_each('[1]'))",
        "EXISTS (WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t)",
        "1) UNION SELECT 99 WHERE (1",
        "1) UNION SELECT 'x' WHERE (1",
        "name = ?",
        "name = :name",
        "ATTACH 'x' AS y",
        "PRAGMA user_version",
        "(" * 1_000 + "1" + ")" * 1_000,
        "1 AND " * 5_000 + "1",
        "'" + "x" * 100_000 + "'",
        "name LIKE '" + "%a" * 1_000 + "'",
        "\0",
        "\ud800",
    ],
)
def test_condition_can_only_read_the_table(condition: str) -> None:
    with pytest.raises(FilterError) as caught:
        select(ROWS, condition)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


@pytest.mark.safety
def test_value_cannot_grow_without_bound() -> None:
    grown = "name"
    for _ in range(12):
        grown = f"replace({grown}, 'a', 'aaaaaaaaaa')"
    with pytest.raises(FilterError, match="too big"):
        select(ROWS, f"length({grown}) > 1")


@pytest.mark.safety
def test_condition_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(condition_filter, "_TIME_LIMIT_S", 0.1)
    rows = [{"x": number} for number in range(1_000)]
    started_s = time.monotonic()
    with pytest.raises(FilterError, match="takes more than"):
        select(rows, "(SELECT count(*) FROM repositories a, repositories b, repositories c, repositories d) > 0")
    # without an end it would take for ever
    assert time.monotonic() - started_s < 30.0


def test_columns_are_checked_even_without_rows() -> None:
    assert select([], "disk_bytes > 1", columns=("disk_bytes",)) == []
    with pytest.raises(FilterError, match="no column 'x'"):
        select([], "x > 1", columns=("disk_bytes",))
    assert select([], "anything at all") == []


def test_column_may_have_any_name() -> None:
    rows = [{"select": 1, 'a "b"': 2, "x-y": 3}, {"select": 2, 'a "b"': 2, "x-y": 3}]
    assert select(rows, '"select" = 1 AND "a ""b""" = 2 AND "x-y" = 3') == [0]


def test_ten_thousand_rows_are_searched_quickly() -> None:
    rows = [{f"column{number}": position for number in range(30)} for position in range(10_000)]
    condition = "column3 >= 5000 AND column4 < 6000"
    assert len(select(rows, condition)) == 1_000
    assert cpu_s(lambda: select(rows, condition), runs=1) < 2.0 * slowness()


@pytest.mark.safety
@settings(max_examples=200, deadline=None, database=None)
@given(st.one_of(st.text(max_size=30), st.text("()'\"-;,*/ =<>1andornotselectfrom", max_size=40)))
def test_any_condition_gives_positions_or_a_sentence(condition: str) -> None:
    try:
        positions = select(ROWS, condition)
    except FilterError as error:
        positions = []
        sentence = str(error)
    else:
        sentence = "selected"
    assert set(positions) <= {0, 1, 2}
    assert sentence == printable(sentence)


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("a > 1", {"a"}),
        ('a > 1 AND A < 5 OR "b" IS NULL', {"a", "b"}),
        ("b LIKE '%a%'", {"b"}),
        ("b = (SELECT max(c) FROM repositories)", {"b", "c"}),
        ("1", set()),
    ],
)
def test_the_columns_that_a_condition_names_are_known_before_there_are_rows(condition: str, names: set[str]) -> None:
    assert columns_read(condition, ["a", "b", "c"]) == names


def test_a_condition_that_cannot_be_run_names_no_columns() -> None:
    with pytest.raises(FilterError, match="no column 'z'"):
        columns_read("z > 1", ["a"])
    with pytest.raises(FilterError):
        columns_read("load_extension('a')", ["a"])
