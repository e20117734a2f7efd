"""Tables as text: aligned columns for pipes, CSV for programs, markdown for reports. The same columns in each.

Sources: RFC 4180 for CSV, the GitHub Flavored Markdown specification for tables and code spans. No colours, and no
table for a terminal that scrolls: that is the dashboard's.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gitdash.export.column import LOWER_BOUND, UNREADABLE, Cell, Column
from gitdash.export.pools import cost_text
from gitdash.export.text_width import cell_width, pad, truncate, truncate_middle
from gitdash.model.finding import Severity
from gitdash.model.report import Totals
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.units import counted, human_bytes, human_count

_GAP: Final = "  "
_NARROWEST_TEXT: Final = 12
"""Cells that a column of text keeps when the table is squeezed."""
_WIDEST_NAME: Final = 60
"""Cells of the longest name in a table without end: one long name would have every line wrapped. `path` is whole."""

_FORMULA: Final = re.compile(r"[=+\-@].*[(|!]")
"""What a spreadsheet would run: a sign that opens a formula, and a call, a DDE link or a foreign cell in it."""
_PLAIN_MARKDOWN: Final = re.compile(r"[A-Za-z0-9 +…?-]*")
"""No dot, for GitHub makes a link of `www.example.com`."""
_BACKTICKS: Final = re.compile("`+")


def text_table(
    summaries: Iterable[RepositorySummary], columns: Sequence[Column], now_s: float, *, width: int | None = None
) -> str:
    """Return aligned lines with a head line, each with a newline; cut to `width` cells if a width is given.

    Without a width only names are shortened that are very long.
    """
    lines = [[column.title for column in columns]]
    lines += [[_cell(column, summary, now_s, is_cut=width is None) for column in columns] for summary in summaries]
    widths = [max(map(cell_width, cells)) for cells in zip(*lines, strict=True)]
    if width is not None:
        widths = _squeezed(widths, columns, width)
    return "".join(_line(cells, columns, widths, width) + "\n" for cells in lines)


def _cell(column: Column, summary: RepositorySummary, now_s: float, *, is_cut: bool) -> str:
    text = column.text(summary, now_s)
    return truncate_middle(text, _WIDEST_NAME) if is_cut and column.key == "name" else text


def _squeezed(widths: Sequence[int], columns: Sequence[Column], width: int) -> list[int]:
    """Take what is too much from the columns of text, the widest first."""
    squeezed = [*widths]
    while sum(squeezed) + len(_GAP) * (len(squeezed) - 1) > width:
        widest = max(
            (number for number, column in enumerate(columns) if column.align == "left"),
            key=squeezed.__getitem__,
            default=None,
        )
        if widest is None or squeezed[widest] <= _NARROWEST_TEXT:
            break
        squeezed[widest] -= 1
    return squeezed


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int], width: int | None) -> str:
    padded = [
        pad(truncate(cell, cell_count), cell_count, right=column.align == "right")
        for cell, column, cell_count in zip(cells, columns, widths, strict=True)
    ]
    line = _GAP.join(padded).rstrip()
    return line if width is None else truncate(line, width)


def csv_text(summaries: Iterable[RepositorySummary], columns: Sequence[Column]) -> str:
    """Return CSV: raw names as head, raw values, nothing for absent or not measured, `?` for unreadable.

    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    lines = CsvLines()
    writer = csv.writer(lines)
    writer.writerow([column.raw_name for column in columns])
    for summary in summaries:
        writer.writerow([_raw_cell(column.value(summary)) for column in columns])
    return "".join(lines)


class CsvLines(list[str]):
    """What the csv module writes to."""

    def write(self, line: str) -> None:
        """Take one line with its end."""
        self.append(line)


def _raw_cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, Unreadable):
        return UNREADABLE
    if isinstance(value, str):
        return safe_in_spreadsheet(value)
    return str(value)


def safe_in_spreadsheet(text: str) -> str:
    """Return a text with an apostrophe in front if a spreadsheet would run it as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def markdown_table(summaries: Iterable[RepositorySummary], columns: Sequence[Column], now_s: float) -> str:
    """Return a markdown table; text from repositories stands in code spans, so that none of it is markup."""
    head = _markdown_line(column.title for column in columns)
    rule = _markdown_line("---:" if column.align == "right" else "---" for column in columns)
    rows = (
        _markdown_line(_markdown_cell(column, column.text(summary, now_s)) for column in columns)
        for summary in summaries
    )
    return "".join((head, rule, *rows))


def _markdown_line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _markdown_cell(column: Column, text: str) -> str:
    if column.align == "right":
        return text.replace("<", "&lt;")
    if _PLAIN_MARKDOWN.fullmatch(text):
        return text
    return code_span(text).replace("|", "\\|")


def code_span(text: str) -> str:
    """Return a text as a span of code in markdown, so that none of it is markup; in a table `|` needs a backslash."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return fence + space + text + space + fence


def totals_line(totals: Totals) -> str:
    """Return the sums over a survey as one sentence with a newline: `3 repositories, 2 object stores, ...`."""
    parts = [
        counted(totals.repository_count, "repository", "repositories"),
        counted(totals.object_store_count, "object store"),
        f"{_sum(totals.disk_bytes, totals.disk_unknown_count)} on disk",
    ]
    if totals.duplicate_bytes:
        parts.append(f"{_sum(totals.duplicate_bytes, totals.exclusive_unknown_count)} stored twice")
    if totals.saved_bytes:
        parts.append(_saved(totals, totals.saved_bytes))
    states = (
        (totals.critical_count, "critical"),
        (totals.warning_count, "warning"),
        (totals.notice_count, "notice"),
        (totals.unreadable_count, "unreadable"),
    )
    by_state = ", ".join(f"{human_count(count)} {word}" for count, word in states if count)
    return ", ".join(parts) + (f"; by state: {by_state}" if by_state else "") + "\n"


def _saved(totals: Totals, saved_bytes: int) -> str:
    """Return what pools save, or what they cost beyond that: so far, where some members are not measured."""
    if saved_bytes > 0:
        return f"{totals.saved_bound.sign}{human_bytes(saved_bytes)} saved by pools"
    if totals.saved_unknown_count:
        return f"pools cost {human_bytes(-saved_bytes)} more than they save so far"
    return f"pools cost {cost_text(saved_bytes, totals.saved_bound)} more than they save"


def _sum(size_bytes: int, unknown_count: int) -> str:
    """Return a sum, marked if something is missing in it."""
    return f"{LOWER_BOUND if unknown_count else ''}{human_bytes(size_bytes)}"


def findings_line(repository_count: int, printed: Mapping[Severity, int], hidden: Mapping[Severity, int]) -> str:
    """Return how many findings there are, worst first, as a line; `hidden` are those not printed."""
    line = counted(repository_count, "repository", "repositories") + ": " + _findings(printed)
    return f"{line}; not printed: {_findings(hidden)}\n" if sum(hidden.values()) else f"{line}\n"


def _findings(counts: Mapping[Severity, int]) -> str:
    if not sum(counts.values()):
        return "no findings"
    words = [f"{human_count(counts[one])} {one.value}" for one in reversed(Severity) if counts[one]]
    if len(words) == 1:
        return counted(sum(counts.values()), f"{words[0].split()[1]} finding")
    return f"{counted(sum(counts.values()), 'finding')} ({', '.join(words)})"
