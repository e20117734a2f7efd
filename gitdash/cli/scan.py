"""`gitdash scan`: the whole fleet as a table or as data; also what `gitdash ROOT` prints into a pipe."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitdash import __version__
from gitdash.cli.output import is_dumb, is_terminal, say, write_data, write_text
from gitdash.cli.run import Survey, say_failures, survey_roots
from gitdash.cli.selection import Selection, sizes_for
from gitdash.cli.session import Dashboard, Session
from gitdash.errors import ExitCode
from gitdash.export.columns import FLEET_COLUMNS, Column, column_named, parse_columns
from gitdash.export.sorting import sort_summaries
from gitdash.export.tables import csv_text, markdown_table, text_table, totals_line
from gitdash.model.sizes import Question
from gitdash.model.summary import RepositorySummary

Rows = list[RepositorySummary]
Columns = tuple[Column, ...]
_SHOWN: Final = {Question.REACHABLE: {"reachable", "saved"}, Question.REACHABLE_OWN: {"own"}}
"""Columns that show the answer to a question, or what follows from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions:
    """What the command line says."""

    roots: tuple[bytes, ...] = ()
    sizes: str | None = None
    """None to measure what the columns need that are named."""
    output_format: str = "table"
    where: str | None = None
    sort: str | None = None
    columns: str | None = None


def open_dashboard_or_scan(session: Session, roots: tuple[bytes, ...], dashboard: Dashboard) -> int:
    """Open the dashboard; if stdout is no terminal, or one that cannot move its cursor, print the table instead."""
    if session.is_served or (is_terminal() and not is_dumb()):
        return dashboard(session, roots)
    return run_scan(session, ScanOptions(roots=roots))


def run_scan(session: Session, options: ScanOptions) -> int:
    """Survey the roots and print them; wrong columns and conditions are found before anything is read."""
    columns = parse_columns(options.columns) if options.columns is not None else FLEET_COLUMNS
    arrange = _arrangement(options.sort)
    selection = Selection(options.where) if options.where is not None else None
    sizes = _sizes(options, selection)
    questions = _questions(options, selection)
    survey = survey_roots(session, options.roots, sizes, selection.choose if selection else None, questions)
    rows = survey.rows()
    has_failed = say_failures(survey, selection.concerned(rows) if selection else survey.reports)
    _PRINT[options.output_format](survey, arrange(selection.selected(rows) if selection else rows), columns)
    return ExitCode.FINDINGS if has_failed else ExitCode.DONE


def _sizes(options: ScanOptions, selection: Selection | None) -> str:
    """Return what to measure: what is asked for, else what is shown, sorted by or selected by."""
    needed = _needed_columns(options, selection)
    if options.sizes is None:
        return sizes_for(needed)
    names = [column.key for column in needed if options.sizes not in {column.measured_by, "all"}]
    if names:
        say(f"gitdash: --sizes {options.sizes} does not measure {', '.join(names)}: known from earlier runs, or empty")
    return options.sizes


def _questions(options: ScanOptions, selection: Selection | None) -> tuple[Question, ...]:
    """Return what git is asked, if it is: what is shown, sorted by or selected by, unless it was said."""
    if options.sizes is not None:
        return tuple(Question)
    keys = {column.key for column in _needed_columns(options, selection)}
    return tuple(question for question, shown in _SHOWN.items() if not keys.isdisjoint(shown))


def _needed_columns(options: ScanOptions, selection: Selection | None) -> list[Column]:
    """Return the columns that options name and that have to be measured, each once."""
    named = list(parse_columns(options.columns)) if options.columns is not None else []
    if options.sort is not None:
        named.append(_sort_column(options.sort))
    if selection is not None:
        named += selection.columns
    return [column for column in {column.key: column for column in named}.values() if column.measured_by]


def _arrangement(sort: str | None) -> Callable[[Rows], Rows]:
    if sort is None:
        return lambda rows: rows
    column = _sort_column(sort)
    descending = column.starts_with_greatest is not sort.startswith("-")
    return lambda rows: sort_summaries(rows, column, descending=descending)


def _sort_column(sort: str) -> Column:
    return column_named(sort.removeprefix("-"))


def _print_table(survey: Survey, rows: Rows, columns: Columns) -> None:
    if not is_terminal():
        write_text(text_table(rows, columns, survey.now_s))
        return
    import shutil

    width = shutil.get_terminal_size().columns
    write_text(text_table(rows, columns, survey.now_s, width=width))
    if survey.totals is not None:
        say(totals_line(survey.totals).rstrip())


def _print_csv(_survey: Survey, rows: Rows, columns: Columns) -> None:
    write_text(csv_text(rows, columns))


def _print_markdown(survey: Survey, rows: Rows, columns: Columns) -> None:
    write_text(markdown_table(rows, columns, survey.now_s))


def _print_json(survey: Survey, rows: Rows, _columns: Columns) -> None:
    if survey.totals is None:
        return
    from gitdash.export.json_record import document
    from gitdash.export.json_values import json_text

    reports = [survey.reports[row.path] for row in rows]
    whole = document(
        reports, survey.totals, gitdash_version=__version__, git_version=survey.git_version, now_s=survey.now_s
    )
    write_text(json_text(whole))


def _print_json_lines(survey: Survey, rows: Rows, _columns: Columns) -> None:
    from gitdash.export.json_record import record
    from gitdash.export.json_values import json_line

    write_data(json_line(record(survey.reports[row.path], survey.now_s)).encode() for row in rows)


_PRINT: dict[str, Callable[[Survey, Rows, Columns], None]] = {
    "table": _print_table,
    "json": _print_json,
    "jsonl": _print_json_lines,
    "csv": _print_csv,
    "markdown": _print_markdown,
}
