"""The lines of the screen of lenders: heads of columns, lenders, members, and why there are none. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from gitdash.export.columns import UNMEASURED, column_named
from gitdash.export.pools import PoolRow
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.cells import (
    CELL_GAP,
    STATE_TONES,
    Line,
    Piece,
    Tone,
    fit,
    shorten_middle,
    sorted_title,
    spread,
    title_above,
    value_pieces,
)
from gitdash.tui.drawing.fitting import fitting
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.pools.figures import members_text, net_text, state_piece, store_name, sum_text
from gitdash.tui.pools.order import PoolOrder
from gitdash.tui.pools.pool_list import Entry, LenderEntry, MemberEntry, NoteEntry
from gitdash.units import counted

_NAME_WIDTH_LEAST: Final = 24
_NAME_WIDTH_MOST: Final = 88
"""The path of a forge's pool, and some cells more; figures further away would belong to no name."""
_STATE_WIDTH: Final = 10
_OPEN, _CLOSED, _ALONE = "▾ ", "▸ ", "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    """A column of figures."""

    key: str
    width: int
    priority: int
    """Where room is short, the column with the lowest number stays longest."""
    of_lender: Callable[[PoolRow], str]
    of_member: Callable[[RepositorySummary], str]


def _own(key: str) -> Callable[[RepositorySummary], str]:
    text = column_named(key).text
    return lambda summary: text(summary, 0.0)


def _lenders_own(key: str) -> Callable[[PoolRow], str]:
    text = _own(key)
    return lambda row: UNMEASURED if row.summary is None else text(row.summary)


_FIGURES: Final = (
    _Figure(key="members", width=8, priority=1, of_lender=members_text, of_member=lambda _: UNMEASURED),
    _Figure(key="objects", width=9, priority=4, of_lender=_lenders_own("objects"), of_member=_own("objects")),
    _Figure(key="exclusive", width=10, priority=5, of_lender=_lenders_own("exclusive"), of_member=_own("exclusive")),
    _Figure(
        key="duplicate",
        width=10,
        priority=2,
        of_lender=lambda row: sum_text(row.duplicate),
        of_member=_own("duplicate"),
    ),
    _Figure(key="saved", width=10, priority=0, of_lender=lambda row: sum_text(row.saved), of_member=_own("saved")),
    _Figure(key="net", width=16, priority=3, of_lender=net_text, of_member=lambda _: UNMEASURED),
)
"""From the left. What stands in a column of a member is its own; of a lender, the sums over its members, but for its
own objects and those that are nowhere else."""


def title_line(order: PoolOrder, *, is_only_unsafe: bool, width: int) -> Line:
    """Return the title, and what was chosen to see in which order."""
    words = ["unsafe only"] if is_only_unsafe else []
    words.append(f"by {order.key} {'▼' if order.descending else '▲'} ")
    return spread([Piece(" Lenders and their members", Tone.STRONG)], [Piece("   ".join(words), Tone.DIM)], width)


def head_line(order: PoolOrder, width: int) -> Line:
    """Return the titles of the columns; the sorted one carries an arrow."""
    pieces = []
    gap = 1
    for key, column_width, is_right in _columns(width):
        is_sorted = key == order.key
        room = column_width + gap - 1
        title = sorted_title(key, room, descending=order.descending, right=is_right) if is_sorted else key
        text = title_above(title, column_width, gap, right=is_right)
        pieces.append(Piece(text, Tone.SORTED if is_sorted else Tone.HEAD))
        gap = CELL_GAP
    return pieces


def key_at(x: int, width: int) -> str | None:
    """Return the key of the column at cell `x`, its left gap included; None beyond the last."""
    end = 1 - CELL_GAP
    for key, column_width, _ in _columns(width):
        end += CELL_GAP + column_width
        if x < end:
            return key
    return None


def _columns(width: int) -> list[tuple[str, int, bool]]:
    """Return key, width and whether it stands at the right of each column."""
    figures, name_width = _layout(width)
    columns = [("name", name_width, False), ("worst", _STATE_WIDTH, False)]
    return columns + [(figure.key, figure.width, True) for figure in figures]


def entry_line(entry: Entry, width: int) -> Line:
    """Return one line of the list."""
    match entry:
        case LenderEntry():
            return _lender_line(entry, width)
        case MemberEntry():
            return _member_line(entry, width)
        case _:
            return _note_line(entry, width)


def _lender_line(entry: LenderEntry, width: int) -> Line:
    row = entry.row
    has_borrowers = bool(row.members or row.indirect_member_count or row.unseen_member_count)
    sign = _ALONE if not has_borrowers else _OPEN if entry.is_open else _CLOSED
    figures, name_width = _layout(width)
    name = row.name if row.summary is not None else store_name(row.name)
    pieces = [Piece(" ", Tone.PLAIN), Piece(sign, Tone.ACCENT), *name_pieces(name, name_width - len(sign))]
    pieces += _state_pieces(state_piece(row))
    for figure in figures:
        pieces += _figure_pieces(figure.of_lender(row), figure.width)
    return pieces


def _member_line(entry: MemberEntry, width: int) -> Line:
    summary = entry.summary
    stem = "  └─ " if entry.is_last else "  ├─ "
    figures, name_width = _layout(width)
    pieces = [Piece(" " + stem, Tone.DIM), *name_pieces(summary.name, name_width - len(stem))]
    pieces += _state_pieces(Piece(summary.state.value, STATE_TONES[summary.state]))
    for figure in figures:
        lends = figure.key == "members" and entry.pool is not None
        text = members_text(entry.pool) if lends and entry.pool else figure.of_member(summary)
        pieces += _figure_pieces(text, figure.width)
    return pieces


def _note_line(entry: NoteEntry, width: int) -> Line:
    stem = "   │ " if entry.has_more else "     "
    stem += "  " if entry.is_of_member else ""
    note = entry.note
    sign = "" if note.tone is Tone.DIM else "! "
    return [Piece(stem, Tone.DIM), Piece(fit(sign + note.text, max(width - len(stem), 0)), note.tone)]


def name_pieces(name: str, width: int) -> list[Piece]:
    """Return a name in exactly `width` cells, its folders in a quieter tone."""
    text = shorten_middle(name, width)
    folder, slash, last = text.rpartition("/")
    padding = " " * (width - cell_len(text))
    return [Piece(folder + slash, Tone.DIM), Piece(last + padding, Tone.STRONG)]


def _state_pieces(state: Piece) -> list[Piece]:
    return [Piece(" " * CELL_GAP + fit(state.text, _STATE_WIDTH), state.tone)]


def _figure_pieces(text: str, width: int) -> list[Piece]:
    return [Piece(" " * CELL_GAP, Tone.PLAIN), *value_pieces(text, width)]


def _layout(width: int) -> tuple[list[_Figure], int]:
    """Return the columns of figures that fit, and how many cells are left for the name."""
    figures, left = fitting(_FIGURES, width - 1 - _NAME_WIDTH_LEAST - CELL_GAP - _STATE_WIDTH)
    return figures, min(_NAME_WIDTH_LEAST + left, _NAME_WIDTH_MOST)


def no_lender_lines(repository_count: int, width: int, *, is_complete: bool) -> Sequence[Line]:
    """Return what a lender is, and that there is none."""
    so_far = "" if is_complete else " looked at so far"
    repositories = counted(repository_count, "repository", "repositories")
    return [
        [],
        *wrapped(f"No lender among the {repositories}{so_far}.", Tone.STRONG, width),
        [],
        *wrapped(
            "A lender is a repository whose objects others read instead of storing them again: the pool of a forge's"
            " forks, or what `git clone` was given by --reference or --shared. Who borrows names it in its"
            " objects/info/alternates.",
            Tone.DIM,
            min(width, 80),
        ),
    ]


def all_safe_lines(lender_count: int, key: str, width: int) -> Sequence[Line]:
    """Return that nothing is unsafe about any lender; `key` shows all again, if it is not empty."""
    hint = f" {key} shows all." if key else ""
    return [[], *wrapped(f"Nothing unsafe is known of the {counted(lender_count, 'lender')}.{hint}", Tone.OK, width)]
