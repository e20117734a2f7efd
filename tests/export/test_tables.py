"""Tables against hand-written text."""

import csv
import io
from collections import Counter

import msgspec
import pytest

from gitdash.export.columns import FLEET_COLUMNS, parse_columns
from gitdash.export.tables import csv_text, findings_line, markdown_table, text_table, totals_line
from gitdash.export.text_width import cell_width, pad, truncate, truncate_middle
from gitdash.model.finding import Severity
from gitdash.model.report import State, Totals
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound
from tests.export.rows import NOW_S, summary

ROWS = (
    summary("a.git", bitmap="pack"),
    summary(
        "g/member.git",
        role="member",
        state=State.WARNING,
        disk_bytes=5 << 20,
        reachable_own_bytes=58_810_223,
        reachable_own_bound=Bound.UPPER,
        pack_count=37,
        loose_count=Unreadable("permission denied"),
        reference_count=21_000,
    ),
    summary("日本.git", disk_bytes=None, reachable_bytes=None, inspected_at_s=None),
)


def test_plain_table_is_aligned_without_colour() -> None:
    assert text_table(ROWS, FLEET_COLUMNS, NOW_S) == (
        "name          role    state        disk  exclusive  reachable         own  packs  loose  bitmap   refs  age\n"
        "a.git         plain   ok       2.00 KiB   1.00 KiB   1.50 KiB                  1      0  pack       11   5m\n"
        "g/member.git  member  warning  5.00 MiB   1.00 KiB   1.50 KiB  <=56.1 MiB     37      ?  -       21.0k   5m\n"
        "日本.git      plain   ok              …   1.00 KiB          …           …      1      0  …          11    …\n"
    )


def test_one_long_name_does_not_widen_every_line_of_a_table_without_end() -> None:
    long_name = "group/" + "x" * 200 + "/y.git"
    rows = [summary("a.git"), summary(long_name)]
    lines = text_table(rows, parse_columns("name,disk"), NOW_S).splitlines()
    assert lines[1] == f"{'a.git':<60}  2.00 KiB"
    assert lines[2] == "group/" + "x" * 18 + "…" + "x" * 29 + "/y.git  2.00 KiB"
    path = text_table([summary(long_name)], parse_columns("path"), NOW_S).splitlines()[1]
    assert path.endswith(long_name)
    assert long_name in csv_text(rows, parse_columns("name"))
    assert long_name in markdown_table(rows, parse_columns("name"), NOW_S)


@pytest.mark.parametrize("width", range(1, 12))
def test_middle_is_left_out_and_wide_characters_are_not_halved(width: int) -> None:
    short = truncate_middle("日本/日本/語", width)
    assert cell_width(short) <= width
    assert "…" in short
    assert truncate_middle("abc", 3) == "abc"


def test_table_without_rows_is_its_head() -> None:
    assert text_table((), parse_columns("name,disk"), NOW_S) == "name  disk\n"


def test_table_is_cut_only_where_a_width_is_given() -> None:
    rows = [summary("a-very-long-name-of-a-repository.git"), summary("b")]
    columns = parse_columns("name,disk,packs")
    assert "a-very-long-name-of-a-repository.git" in text_table(rows, columns, NOW_S)
    assert text_table(rows, columns, NOW_S, width=32) == (
        "name                 disk  packs\na-very-long-na…  2.00 KiB      1\nb                2.00 KiB      1\n"
    )
    for width in range(1, 60):
        lines = text_table(rows, columns, NOW_S, width=width).splitlines()
        assert all(cell_width(line) <= width for line in lines)


def test_csv_has_raw_names_and_raw_values() -> None:
    columns = parse_columns("name,state,disk,own,loose,bitmap,age")
    assert csv_text(ROWS, columns) == (
        "name,state,disk_bytes,reachable_own_bytes,loose_count,bitmap,inspected_at_s\r\n"
        "a.git,ok,2048,,0,pack,1699999700.0\r\n"
        "g/member.git,warning,5242880,58810223,?,,1699999700.0\r\n"
        "日本.git,ok,,,0,,\r\n"
    )


@pytest.mark.safety
@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"),
        ("@SUM(1)", "'@SUM(1)"),
        ("-1+HYPERLINK(x)", "'-1+HYPERLINK(x)"),
        ("@hashed/aa/bb.git", "@hashed/aa/bb.git"),
        ('a,"b"', 'a,"b"'),
        ("-rf", "-rf"),
    ],
)
def test_csv_holds_no_formula_and_reads_back(name: str, cell: str) -> None:
    text = csv_text([summary(name)], parse_columns("name,disk"))
    assert [*csv.reader(io.StringIO(text))] == [["name", "disk_bytes"], [cell, "2048"]]


def test_markdown_is_a_table() -> None:
    assert markdown_table(ROWS, parse_columns("name,state,disk,own"), NOW_S) == (
        "| name | state | disk | own |\n"
        "| --- | --- | ---: | ---: |\n"
        "| `a.git` | ok | 2.00 KiB |  |\n"
        "| `g/member.git` | warning | 5.00 MiB | &lt;=56.1 MiB |\n"
        "| `日本.git` | ok | … | … |\n"
    )


@pytest.mark.safety
@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("a|b", "`a\\|b`"),
        ("[x](http://evil)", "`[x](http://evil)`"),
        ("<img src=x>", "`<img src=x>`"),
        ("@team", "`@team`"),
        ("www.example.com", "`www.example.com`"),
        ("tick`tock", "`` tick`tock ``"),
        ("plain-name", "plain-name"),
    ],
)
def test_markdown_of_a_name_is_no_markup(name: str, cell: str) -> None:
    line = markdown_table([summary(name)], parse_columns("name,packs"), NOW_S).splitlines()[2]
    assert line == f"| {cell} | 1 |"


def test_totals_are_one_line() -> None:
    totals = Totals(
        repository_count=12_000,
        object_store_count=1,
        disk_bytes=5 << 30,
        exclusive_bytes=4 << 30,
        duplicate_bytes=12 << 20,
        unreadable_count=1,
        notice_count=40,
        warning_count=12,
        critical_count=0,
    )
    assert totals_line(totals) == (
        "12.0k repositories, 1 object store, 5.00 GiB on disk, 12.0 MiB stored twice"
        "; by state: 12 warning, 40 notice, 1 unreadable\n"
    )
    partial = msgspec.structs.replace(totals, disk_unknown_count=1, exclusive_unknown_count=7)
    assert totals_line(partial).startswith(
        "12.0k repositories, 1 object store, >=5.00 GiB on disk, >=12.0 MiB stored twice;"
    )
    saving = msgspec.structs.replace(totals, saved_bytes=3 << 30, saved_bound=Bound.LOWER)
    assert "12.0 MiB stored twice, >=3.00 GiB saved by pools; by state: 12 warning" in totals_line(saving)
    costing = msgspec.structs.replace(totals, saved_bytes=-797 * 1024, saved_bound=Bound.LOWER)
    assert ", pools cost <=797 KiB more than they save; by state" in totals_line(costing)
    partly = msgspec.structs.replace(costing, saved_unknown_count=1)
    assert ", pools cost 797 KiB more than they save so far; by state" in totals_line(partly)
    even = msgspec.structs.replace(totals, saved_bytes=0)
    assert "pools" not in totals_line(even)
    assert "saved" not in totals_line(msgspec.structs.replace(totals, saved_bytes=-5, saved_known_count=1))
    quiet = Totals(
        repository_count=1,
        object_store_count=0,
        disk_bytes=0,
        exclusive_bytes=0,
        duplicate_bytes=0,
        unreadable_count=0,
        notice_count=0,
        warning_count=0,
        critical_count=0,
    )
    assert totals_line(quiet) == "1 repository, 0 object stores, 0 B on disk\n"


@pytest.mark.parametrize(
    ("printed", "hidden", "sentence"),
    [
        ({}, {}, "no findings"),
        ({Severity.WARNING: 8}, {Severity.NOTICE: 12}, "8 warning findings; not printed: 12 notice findings"),
        ({Severity.WARNING: 1}, {}, "1 warning finding"),
        ({}, {Severity.NOTICE: 1}, "no findings; not printed: 1 notice finding"),
        (
            {Severity.NOTICE: 3, Severity.CRITICAL: 1, Severity.WARNING: 2},
            {},
            "6 findings (1 critical, 2 warning, 3 notice)",
        ),
    ],
)
def test_findings_are_counted_as_findings(
    printed: dict[Severity, int], hidden: dict[Severity, int], sentence: str
) -> None:
    assert findings_line(5, Counter(printed), Counter(hidden)) == f"5 repositories: {sentence}\n"


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("한국어", 6), ("…", 1), ("\uff41", 2)]
)
def test_wide_characters_take_two_cells(text: str, width: int) -> None:
    assert cell_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_text_is_cut_at_cells(text: str, width: int, expected: str) -> None:
    assert truncate(text, width) == expected
    assert cell_width(truncate(text, width)) <= width


def test_padding_counts_cells() -> None:
    assert pad("日", 4, right=False) == "日  "
    assert pad("日", 4, right=True) == "  日"
