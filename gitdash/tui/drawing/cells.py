"""How rows become lines: which columns fit, how wide each is, and the pieces of text of a line.

A line is a list of pieces, each a text and a tone; the widgets turn tones into colours. No piece is parsed as markup.
Texts arrive printable (`gitdash.units.printable`); here they are only cut and padded to terminal cells.
It neither measures the data nor scrolls sideways: widths come from the columns' declaration and the terminal's width.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from rich.cells import cell_len, set_cell_size

from gitdash.export.columns import ABSENT, PENDING, UNMEASURED, UNREADABLE, Column
from gitdash.model.report import State
from gitdash.model.summary import RepositorySummary


class Tone(enum.StrEnum):
    """What a piece of text means; each tone is a component class in the style sheet."""

    PLAIN = "tone--plain"
    STRONG = "tone--strong"
    DIM = "tone--dim"
    ACCENT = "tone--accent"
    OK = "tone--ok"
    NOTICE = "tone--notice"
    WARNING = "tone--warning"
    CRITICAL = "tone--critical"
    HEAD = "tone--head"
    SORTED = "tone--sorted"
    KEY = "tone--key"


class Piece(NamedTuple):
    """Text of one tone on one line."""

    text: str
    tone: Tone


Line: TypeAlias = Sequence[Piece]

CELL_GAP: Final = 2
"""Cells between two columns."""
MARGIN: Final = 1
"""Cells left of the first column and right of the last."""
LEFT_MARGIN: Final = 2
"""Cells left of the first column where rows can be marked: the cursor's sign, and that of the mark."""
NAME_WIDTH_LEAST: Final = 20
"""The name column takes what the others leave, but never less than this: others are hidden first."""
_NAME_SHARE: Final = 4
"""Where columns are chosen by the width, nor less than this part of it: 30 of 120 cells tell paths apart."""
STATE_TONES: Final = {
    State.OK: Tone.OK,
    State.NOTICE: Tone.NOTICE,
    State.WARNING: Tone.WARNING,
    State.CRITICAL: Tone.CRITICAL,
    State.FOREIGN: Tone.NOTICE,
    State.UNREADABLE: Tone.CRITICAL,
}
_ROLE_TONES: Final = {"plain": Tone.DIM, "member": Tone.PLAIN, "pool": Tone.STRONG, "member+pool": Tone.STRONG}
_QUIET_TEXTS: Final = frozenset({ABSENT, UNMEASURED, PENDING, "0", "0 B"})
_WIDER: Final = {"state": len(State.UNREADABLE)}
"""Columns whose longest word must be legible."""
_BOTH_ROLES: Final = "member+pool"
_BOTH_ROLES_SHORT: Final = "m+pool"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedColumn:
    """A column that fits, and where it stands."""

    column: Column
    left: int
    """First cell, counted from the left edge of the table."""
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """The columns of one terminal width."""

    width: int
    columns: tuple[PlacedColumn, ...]

    def column_at(self, x: int) -> Column | None:
        """Return the column at cell `x`, its left gap included; None beyond the last."""
        for placed in self.columns:
            if x < placed.left + placed.width + CELL_GAP // 2:
                return placed.column
        return None


def choose_layout(columns: Sequence[Column], width: int) -> TableLayout:
    """Choose the columns that fit into `width` cells, by priority (the lowest number stays longest), in their order."""
    fixed = [column for column in columns if column.key != "name"]
    by_priority = sorted(fixed, key=lambda column: column.priority)
    name_width = max(NAME_WIDTH_LEAST, width // _NAME_SHARE)
    available = width - LEFT_MARGIN - MARGIN - name_width
    chosen: set[str] = set()
    for column in by_priority:
        needed = column_width(column) + CELL_GAP
        if needed > available:
            break
        chosen.add(column.key)
        available -= needed
    return TableLayout(width=width, columns=tuple(_place(columns, chosen, name_width + max(available, 0))))


def _place(columns: Sequence[Column], chosen: set[str], name_width: int) -> list[PlacedColumn]:
    placed = []
    left = LEFT_MARGIN
    for column in columns:
        if column.key == "name":
            width = name_width
        elif column.key in chosen:
            width = column_width(column)
        else:
            continue
        placed.append(PlacedColumn(column=column, left=left, width=width))
        left += width + CELL_GAP
    return placed


def column_width(column: Column) -> int:
    """Return how many cells a column wants: with the gap beside it also for a title with an arrow and a blank."""
    return max(legible_width(column), cell_len(column.title) + 1)


def legible_width(column: Column) -> int:
    """Return how many cells a column needs."""
    return max(column.width, cell_len(column.title), _WIDER.get(column.key, 0))


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` cut or padded to exactly `width` cells; a cut is marked by an ellipsis at the end."""
    if text.isascii():
        if len(text) > width:
            return text[: width - 1] + "…" if width else ""
        return text.rjust(width) if right else text.ljust(width)
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…" if width else ""
    padding = " " * (width - length)
    return padding + text if right else text + padding


def shorten_middle(text: str, width: int) -> str:
    """Return `text` within `width` cells; where it is too long the middle goes: of a path both ends tell most."""
    if cell_len(text) <= width or width < 5:
        return text if cell_len(text) <= width else fit(text, width)
    tail_width = (width - 1) * 3 // 5
    head_width = width - 1 - tail_width
    tail = text[-tail_width:]
    while cell_len(tail) > tail_width:
        tail = tail[1:]
    return fit(set_cell_size(text, head_width) + "…" + tail, width).rstrip(" ")


def head_pieces(layout: TableLayout, sort_key: str, *, descending: bool, note: str = "") -> list[Piece]:
    """Return the head line; the sorted column carries an arrow: up for smallest first, down for largest first.

    The arrow may stand in the gap beside the column. `note` stands after the title of the names.
    """
    pieces: list[Piece] = []
    end = 0
    for placed in layout.columns:
        title = placed.column.title
        tone = Tone.HEAD
        if placed.column.key == sort_key:
            is_right = placed.column.align == "right"
            title = sorted_title(title, placed.width + CELL_GAP - 1, descending=descending, right=is_right)
            tone = Tone.SORTED
        if note and placed.column.key == "name":
            title = fit(f"{title} · {note}", placed.width).rstrip()
        left = placed.left
        if placed.column.align == "right":
            left += placed.width - cell_len(title)
        pieces += [Piece(" " * (left - end), Tone.HEAD), Piece(title, tone)]
        end = left + cell_len(title)
    pieces.append(Piece(" " * max(layout.width - end, 0), Tone.HEAD))
    return pieces


def sorted_title(title: str, room: int, *, descending: bool, right: bool) -> str:
    """Return the title of the sorted column with its arrow.

    A blank stands between them, for in ASCII the arrow is a `v`, but not if they need more than `room` cells with it.
    """
    arrow = "▼" if descending else "▲"
    blank = " " if cell_len(title) + 2 <= room else ""
    return f"{arrow}{blank}{title}" if right else f"{title}{blank}{arrow}"


def title_above(title: str, width: int, gap: int, *, right: bool) -> str:
    """Return a title in `gap + width` cells; one with an arrow, at the right, may reach into the gap before it."""
    if not right:
        return " " * gap + fit(title, width)
    return fit(title, max(width, min(cell_len(title), width + gap - 1)), right=True).rjust(gap + width)


def row_pieces(
    layout: TableLayout,
    summary: RepositorySummary,
    now_s: float,
    *,
    is_cursor: bool,
    is_busy: bool,
    is_marked: bool = False,
) -> list[Piece]:
    """Return the line of one repository, exactly `layout.width` cells wide.

    The sign at the left edge is for terminals without colours: a bar for the cursor, a dot while work is going on.
    """
    pieces = margin_pieces("▌" if is_cursor else "·" if is_busy else " ", "✓" if is_marked else " ")
    end = LEFT_MARGIN
    for placed in layout.columns:
        if placed.left > end:
            pieces.append(Piece(" " * (placed.left - end), Tone.PLAIN))
        draw = _DRAW.get(placed.column.key, _draw_value)
        pieces.extend(draw(placed, summary, now_s))
        end = placed.left + placed.width
    pieces.append(Piece(" " * max(layout.width - end, 0), Tone.PLAIN))
    return pieces


def margin_pieces(cursor_sign: str, mark_sign: str) -> list[Piece]:
    """Return the left margin of a line."""
    return [Piece(cursor_sign, Tone.ACCENT), Piece(mark_sign, Tone.KEY)]


def _draw_name(placed: PlacedColumn, summary: RepositorySummary, now_s: float) -> list[Piece]:
    text = shorten_middle(placed.column.text(summary, now_s), placed.width)
    folder, slash, name = text.rpartition("/")
    padding = " " * (placed.width - cell_len(text))
    return [Piece(folder + slash, Tone.DIM), Piece(name + padding, Tone.STRONG)]


def _draw_state(placed: PlacedColumn, summary: RepositorySummary, now_s: float) -> list[Piece]:
    return [Piece(fit(placed.column.text(summary, now_s), placed.width), STATE_TONES[summary.state])]


def _draw_role(placed: PlacedColumn, summary: RepositorySummary, now_s: float) -> list[Piece]:
    tone = _ROLE_TONES.get(summary.role, Tone.PLAIN)
    text = placed.column.text(summary, now_s)
    if text == _BOTH_ROLES and placed.width < len(_BOTH_ROLES):
        text = _BOTH_ROLES_SHORT
    return [Piece(fit(text, placed.width), tone)]


def _draw_value(placed: PlacedColumn, summary: RepositorySummary, now_s: float) -> list[Piece]:
    return value_pieces(placed.column.text(summary, now_s), placed.width, right=placed.column.align == "right")


def value_pieces(text: str, width: int, *, right: bool = True) -> list[Piece]:
    """Return a value of a table in `width` cells: its unit in a quieter tone, so that the eye compares the numbers."""
    if text == UNREADABLE:
        return [Piece(fit(UNREADABLE, width, right=right), Tone.WARNING)]
    if text in _QUIET_TEXTS:
        return [Piece(fit(text, width, right=right), Tone.DIM)]
    fitted = fit(text, width, right=right)
    number, space, unit = fitted.rpartition(" ")
    if right and unit.isalpha():
        return [Piece(number, Tone.PLAIN), Piece(space + unit, Tone.DIM)]
    return [Piece(fitted, Tone.PLAIN)]


_DRAW: Final[dict[str, Callable[[PlacedColumn, RepositorySummary, float], list[Piece]]]] = {
    "name": _draw_name,
    "state": _draw_state,
    "role": _draw_role,
}


def spread(left: Line, right: Line, width: int) -> list[Piece]:
    """Return one line of `width` cells with `left` and `right` at its ends; without `right` if both do not fit."""
    left_length, right_length = line_length(left), line_length(right)
    if left_length + right_length + 1 > width:
        return cut_line(left, width)
    return [*left, Piece(" " * (width - left_length - right_length), Tone.PLAIN), *right]


def line_length(line: Line) -> int:
    """Return the number of cells of a line."""
    return sum(cell_len(piece.text) for piece in line)


def cut_line(line: Line, width: int) -> list[Piece]:
    """Return `line` cut or padded to exactly `width` cells."""
    pieces: list[Piece] = []
    left = width
    for piece in line:
        length = cell_len(piece.text)
        if length > left:
            pieces.append(Piece(fit(piece.text, left), piece.tone))
            return pieces
        pieces.append(piece)
        left -= length
    pieces.append(Piece(" " * left, Tone.PLAIN))
    return pieces
