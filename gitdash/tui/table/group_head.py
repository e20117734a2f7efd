"""The head of a group as a line: openness, title and count, worst state and sums below their columns. Pure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from rich.cells import cell_len

from gitdash.export.columns import LOWER_BOUND, Column, column_named
from gitdash.tui.drawing.cells import (
    CELL_GAP,
    LEFT_MARGIN,
    MARGIN,
    STATE_TONES,
    Line,
    Piece,
    PlacedColumn,
    TableLayout,
    Tone,
    cut_line,
    fit,
    line_length,
    margin_pieces,
    shorten_middle,
)
from gitdash.tui.table.group import SIZES, SUMMED_UNITS, Group, Sum
from gitdash.units import human_bytes, human_count

ROW_INDENT: Final = 2
"""Cells by which names stand to the right of the signs of their groups."""
_LEAST_TITLE_WIDTH: Final = 12
_SIGNS: Final = {True: "▾ ", False: "▸ "}
"""By whether the group is open."""
_DUPLICATE: Final = column_named("duplicate")
_OF_ONE_STATE: Final = frozenset({"state", "findings"})
"""Groupings whose titles are worth more with the state before them: `warning: no bitmap`."""


@lru_cache(maxsize=4)
def indented(layout: TableLayout, indent: int) -> TableLayout:
    """Return the layout with names further to the right."""
    columns = [
        replace(placed, left=placed.left + indent, width=placed.width - indent)
        if placed.column.key == "name"
        else placed
        for placed in layout.columns
    ]
    return TableLayout(width=layout.width, columns=tuple(columns))


def group_pieces(
    layout: TableLayout, group: Group, *, sort_key: str, is_cursor: bool, marked_count: int
) -> list[Piece]:
    """Return the head of a group, exactly `layout.width` cells wide.

    The title reaches over columns of which a group has nothing to say; that of the state is one of them if the title
    begins with the state: where it says why that is so, and where it would not fit otherwise. Sums are those of the
    sizes that each object store has for itself, and of the sorted column; `>=` marks one in which something is missing.
    """
    mark = " " if not marked_count else "✓" if marked_count == len(group.numbers) else "-"
    pieces = margin_pieces("▌" if is_cursor else " ", mark)
    end = LEFT_MARGIN
    for left, width, line in _stretches(layout, group, sort_key, marked_count):
        pieces += [Piece(" " * (left - end), Tone.PLAIN), *cut_line(line, width)]
        end = left + width
    pieces.append(Piece(" " * (layout.width - end), Tone.PLAIN))
    return pieces


def _stretches(layout: TableLayout, group: Group, sort_key: str, marked_count: int) -> list[tuple[int, int, Line]]:
    """Return first cell, width and content of each part, from the left."""
    title_left = next((placed.left for placed in layout.columns if placed.column.key == "name"), LEFT_MARGIN)
    cells = _cells(layout, group, sort_key)
    width = _title_end(layout, cells.values(), title_left) - title_left
    names_state = group.kind in _OF_ONE_STATE or len(_SIGNS[True]) + cell_len(group.title) + _count_width(group) > width
    if names_state and "state" in cells:
        del cells["state"]
        width = _title_end(layout, cells.values(), title_left) - title_left
    before = _state_pieces(group) if names_state else []
    title = (title_left, width, _title(group, layout, width, marked_count, before))
    return sorted([*cells.values(), title], key=lambda stretch: stretch[0])


def _cells(layout: TableLayout, group: Group, sort_key: str) -> dict[str, tuple[int, int, Line]]:
    cells: dict[str, tuple[int, int, Line]] = {}
    for placed in layout.columns:
        cell = _cell(placed, group, sort_key)
        if cell is not None:
            width = cell_len(cell.text)
            cells[placed.column.key] = (placed.left + placed.width - width, width, [cell])
    return cells


def _title_end(layout: TableLayout, cells: Iterable[tuple[int, int, Line]], title_left: int) -> int:
    return min((left - CELL_GAP for left, _, _ in cells if left > title_left), default=layout.width - MARGIN)


def _state_pieces(group: Group) -> list[Piece]:
    """Return the state; nothing where the title is that word."""
    state = group.worst_state
    return [] if group.title == state.value else [Piece(state.value, STATE_TONES[state]), Piece(": ", Tone.PLAIN)]


def _count_width(group: Group) -> int:
    return len(f" {len(group.numbers):,}")


def _title(group: Group, layout: TableLayout, width: int, marked_count: int, before: list[Piece]) -> Line:
    sign = _SIGNS[group.is_open]
    taken = len(sign) + line_length(before) + _count_width(group)
    facts = ""
    for fact, title_width in _facts(group, layout, marked_count):
        if taken + len(facts) + len(fact) + min(cell_len(group.title), title_width) <= width:
            facts += fact
    room = max(width - taken - len(facts), 0)
    is_phrase = group.kind in _OF_ONE_STATE
    title = fit(group.title, min(room, cell_len(group.title))) if is_phrase else shorten_middle(group.title, room)
    count = Piece(f" {len(group.numbers):,}", Tone.PLAIN)
    return [Piece(sign, Tone.ACCENT), *before, Piece(title, Tone.SORTED), count, Piece(facts, Tone.DIM)]


def _facts(group: Group, layout: TableLayout, marked_count: int) -> Iterator[tuple[str, int]]:
    """Yield what has no column, the most important first, and to how many cells of the title it leaves their room."""
    if 0 < marked_count < len(group.numbers):
        yield f" · {human_count(marked_count)} marked", _LEAST_TITLE_WIDTH
    duplicate = group.sum_of(_DUPLICATE)
    if duplicate and duplicate.value and not any(placed.column.key == "duplicate" for placed in layout.columns):
        yield f" · {_shown(duplicate, human_bytes)} duplicate", cell_len(group.title)


def _cell(placed: PlacedColumn, group: Group, sort_key: str) -> Piece | None:
    """Return what stands below a column; None if that is nothing."""
    column = placed.column
    if column.key == "state":
        state = group.worst_state
        return Piece(fit(state.value, placed.width), STATE_TONES[state])
    if column.unit not in SUMMED_UNITS or not (column.key in SIZES or column.key == sort_key):
        return None
    text = _sum_text(column, group)
    if text is None:
        return None
    if len(text) > placed.width:
        text = text.replace(" ", "")
    # The gap to the left holds one cell more.
    return Piece(fit(text, max(placed.width, min(len(text), placed.width + CELL_GAP - 1)), right=True), Tone.STRONG)


def _sum_text(column: Column, group: Group) -> str | None:
    """Return a sum for people; None for sizes of which members have the same bytes, and so would count them again."""
    found = group.sum_of(column)
    if found is None or column.measured_by in {"reachable", "all"}:
        return None
    return _shown(found, human_bytes if column.unit == "bytes" else human_count)


def _shown(found: Sum, human: Callable[[int], str]) -> str:
    return (LOWER_BOUND if found.is_partial else "") + human(found.value)
