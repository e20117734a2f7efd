"""The tab Log: every git command that ran for this repository, and the commands that gave the sizes shown. Pure."""

import shlex
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.environment import CONFIG_OVERRIDES
from gitdash.model.command import CommandRecord
from gitdash.model.sizes import SizeMeasurement
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.ledger.commands import short_command
from gitdash.tui.repository.view import RepositoryView, ago
from gitdash.units import counted, human_bytes, human_duration

_AGE_WIDTH: Final = 8
_TIME_WIDTH: Final = 9
_OUTCOME_WIDTH: Final = 11
_CLOSED: Final = "closed"
"""How a reader of objects ends that is not needed any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One line with what is below it."""

    name: Hashable
    argv: tuple[str, ...]
    head: Line
    """Age, seconds and outcome."""
    below: tuple[tuple[str, Tone], ...]
    """What is said of it besides the command, a paragraph each."""


def log_page(view: RepositoryView, width: int) -> Page:
    """Return the page; its items are the commands, the newest first, then those that gave the sizes."""
    commands = [_command_entry(view, record) for record in reversed(view.commands)]
    sizes = [_size_entry(view, size) for size in _measurements(view)]
    names = tuple(entry.name for entry in (*commands, *sizes))
    chosen = view.chosen if view.chosen in names else names[0] if names else None
    lines: list[Line] = [*_head(view, width), []]
    items: list[int] = []
    for entry in commands:
        items.append(len(lines))
        lines += _entry_lines(entry, width, is_chosen=entry.name == chosen)
    if sizes:
        lines += [[], [Piece(" What gave the sizes that are shown", Tone.ACCENT)]] if commands else []
    for entry in sizes:
        items.append(len(lines))
        lines += _entry_lines(entry, width, is_chosen=entry.name == chosen)
    return Page(lines, items, names=names, unfolds=True)


def logged_commands(view: RepositoryView, item: int) -> Sequence[str]:
    """Return the command of an item, for a shell."""
    argvs = [record.argv for record in reversed(view.commands)] + [size.argv for size in _measurements(view)]
    return (_shell_text(argvs[item]),) if item < len(argvs) else ()


def _measurements(view: RepositoryView) -> list[SizeMeasurement]:
    """Return the sizes whose command is not in the log: they are from before, or made of two answers."""
    if view.report is None:
        return []
    ran = {record.argv for record in view.commands}
    sizes = (view.report.sizes.reachable, view.report.sizes.reachable_own)
    return [size for size in sizes if isinstance(size, SizeMeasurement) and size.argv not in ran]


def _head(view: RepositoryView, width: int) -> Iterator[Line]:
    count = len(view.commands)
    if not count:
        text = "No git command has run for this repository since gitdash was started: its files are read without git"
        more = ", and its sizes are remembered from before." if _measurements(view) else "."
        yield from wrapped(text + more, Tone.PLAIN, width)
        return
    words = counted(count, "git command", "git commands, the newest first")
    yield [
        Piece(f" {words}", Tone.STRONG),
        Piece(f" · each with {len(CONFIG_OVERRIDES)} -c pairs more: tab Config", Tone.DIM),
    ]


def _command_entry(view: RepositoryView, record: CommandRecord) -> _Entry:
    elapsed_s = record.elapsed_s
    duration_s = max(0.0, view.monotonic_s - record.started_s) if elapsed_s is None else elapsed_s
    outcome, tone = _outcome(record)
    return _Entry(
        name=record.number,
        argv=record.argv,
        head=_columns(ago(view.monotonic_s - record.started_s), duration_s, outcome, tone),
        below=tuple((line, Tone.WARNING) for line in record.stderr.split("\n") if line),
    )


def _outcome(record: CommandRecord) -> tuple[str, Tone]:
    if record.elapsed_s is None:
        return "running", Tone.ACCENT
    if record.ending is not None:
        return record.ending, Tone.DIM if record.ending == _CLOSED else Tone.WARNING
    if record.exit_code is None:
        return "no exit", Tone.WARNING
    return f"exit {record.exit_code}", Tone.CRITICAL if record.exit_code else Tone.OK


def _size_entry(view: RepositoryView, size: SizeMeasurement) -> _Entry:
    notes = (
        f"{size.question.label}: {size.bound.words}, strategy {size.how}, git {size.git_version}",
        *size.notes,
    )
    figure = size.bound.sign + human_bytes(size.bytes)
    return _Entry(
        name=size.question,
        argv=size.argv,
        head=_columns(ago(view.now_s - size.measured_at_s), size.elapsed_s, figure, Tone.PLAIN),
        below=tuple((note, Tone.DIM) for note in notes),
    )


def _columns(age: str, duration_s: float, outcome: str, tone: Tone) -> Line:
    return [
        Piece(f" {age:>{_AGE_WIDTH}}  ", Tone.DIM),
        Piece(f"{human_duration(duration_s):>{_TIME_WIDTH}}  ", Tone.PLAIN),
        Piece(f"{fit(outcome, _OUTCOME_WIDTH)}  ", tone),
    ]


def _entry_lines(entry: _Entry, width: int, *, is_chosen: bool) -> Iterator[Line]:
    text, left_out = short_command(entry.argv)
    yield [*entry.head, Piece(text, Tone.STRONG), Piece(left_out, Tone.DIM)]
    if is_chosen:
        yield from wrapped(_shell_text(entry.argv), Tone.KEY, width, indent=3, hanging=2)
        for said, tone in entry.below:
            yield from wrapped(said, tone, width, indent=5, hanging=2)


def _shell_text(argv: Sequence[str]) -> str:
    return shlex.join(argv)
