"""One action of the ledger as lines: how it went, and below that whatever else is known of it. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from gitdash.model.ledger import LedgerEntry, RecordedCommand, ReferenceChange
from gitdash.model.task import Task
from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line, line_length
from gitdash.tui.drawing.wrap import flow, wrap_cells
from gitdash.tui.ledger.commands import short_command
from gitdash.tui.ledger.facts import fact_groups
from gitdash.tui.ledger.phase_bar import BAR_WIDTH, phase_groups
from gitdash.units import human_duration, printable

LISTED: Final = 50
"""References and files that are named before the rest is counted."""
_STDERR_LINES: Final = 10
"""The last ones: git says why it stops when it does."""
_COMPLAINTS: Final = ("warning:", "error:")
_ID_DIGITS: Final = 12
_LEFTOVERS: Final = 3
"""Of what an action may have left: they are named without being asked for."""
_NARROW: Final = 60
_SENTENCE_LINES: Final = 4
_KIND_WIDTH: Final = 9


def told_lines(entry: LedgerEntry, width: int, indent: int, *, is_whole: bool) -> list[Line]:
    """Return why it did not go as asked, what it may have left, what was chosen and why, and the phases.

    What is said of one that went well is in the facts of it already: it is told only if these are none, if it might
    have dropped objects, or if `is_whole`.
    """
    lines: list[Line] = []
    says_more = not entry.outcome.is_good or entry.task is Task.RECLAIM or not fact_groups(entry)
    if entry.sentence and (is_whole or says_more):
        tone = Tone.PLAIN if entry.outcome.is_good else Tone.WARNING
        lines += paragraph(entry.sentence, tone, width, indent)[:_SENTENCE_LINES]
    if entry.leftovers:
        shown, more = entry.leftovers[:_LEFTOVERS], len(entry.leftovers) - _LEFTOVERS
        text = f"may have left {', '.join(shown)}" + (f" and {more:,} more" if more > 0 else "")
        lines += paragraph(text, Tone.WARNING, width, indent)
    lines += indented(phase_groups(entry, BAR_WIDTH if width - indent > _NARROW else BAR_WIDTH // 2), width, indent)
    for choice in entry.choices:
        lines += paragraph(choice, Tone.DIM, width, indent)
    return lines


def detail_lines(entry: LedgerEntry, width: int, indent: int) -> list[Line]:
    """Return references by name, what was removed and dropped, each command, and who did it."""
    by = f"by gitdash {entry.gitdash_version}, git {entry.git_version}, process {entry.process_id} on {entry.host}"
    removed_count = max(entry.removed_count, len(entry.removed))
    left = entry.leftovers if len(entry.leftovers) > _LEFTOVERS else ()
    return [
        *_listed(map(_reference_line, entry.reference_changes), entry.reference_change_count, width, indent),
        *_listed(
            (_file_line("removed", name) for name in entry.removed),
            removed_count,
            width,
            indent,
        ),
        *_listed((_file_line("dropped", name) for name in entry.dropped_ids), entry.dropped_count, width, indent),
        *_listed((_file_line("left", name) for name in left), len(left), width, indent),
        *(line for command in entry.commands for line in _command_lines(command, width, indent)),
        *paragraph(by, Tone.DIM, width, indent),
    ]


def paragraph(text: str, tone: Tone, width: int, indent: int) -> list[Line]:
    """Return `text`, made printable, as lines with a left margin."""
    margin = Piece(" " * indent, Tone.PLAIN)
    return [[margin, Piece(part, tone)] for part in wrap_cells(printable(text), max(width - indent - 1, 20))]


def indented(groups: Sequence[Line], width: int, indent: int) -> list[Line]:
    """Return groups of pieces one after another, with a left margin."""
    # the margin of a whole line is not wanted here
    return [_within(line[1:], width, indent) for line in flow(groups, width - indent + 1)]


def _within(line: Line, width: int, indent: int) -> Line:
    moved = [Piece(" " * indent, Tone.PLAIN), *line]
    return moved if line_length(moved) <= width else cut_line(moved, width)


def _listed(lines: Iterable[Line], count: int, width: int, indent: int) -> Iterator[Line]:
    for line in islice(lines, LISTED):
        yield _within(line, width, indent)
    if count > LISTED:
        yield from paragraph(f"and {count - LISTED:,} more", Tone.DIM, width, indent)


def _file_line(label: str, name: str) -> Line:
    return [Piece(f"{label:<{_KIND_WIDTH}}", Tone.DIM), Piece(printable(name), Tone.PLAIN)]


def _reference_line(change: ReferenceChange) -> Line:
    ids = " -> ".join(printable(digits[:_ID_DIGITS]) if digits else "none" for digits in (change.old, change.new))
    return [
        Piece(f"{printable(change.kind):<{_KIND_WIDTH}}", Tone.DIM),
        Piece(printable(change.name), Tone.STRONG),
        Piece(f"  {ids}", Tone.DIM),
    ]


def _command_lines(command: RecordedCommand, width: int, indent: int) -> Iterator[Line]:
    text, left_out = short_command(command.argv)
    parts = [human_duration(command.elapsed_s)] if command.elapsed_s is not None else []
    if command.exit_code is not None:
        parts.append(f"exit {command.exit_code}")
    if command.ending is not None:
        parts.append(command.ending)
    is_good = not command.exit_code and command.ending is None
    yield from paragraph(text + left_out, Tone.KEY, width, indent)
    yield from paragraph(", ".join(parts) or "not ended", Tone.DIM if is_good else Tone.WARNING, width, indent + 2)
    said = command.stderr.splitlines()
    if is_good:
        # how far it was is of no interest any more
        said = [line for line in said if line.startswith(_COMPLAINTS)]
    for line in said[-_STDERR_LINES:]:
        yield from paragraph(line, Tone.WARNING, width, indent + 2)
