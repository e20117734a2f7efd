"""The table of packs: a head, and a line for each pack. Pure."""

from dataclasses import dataclass
from typing import Final

from gitdash.export.columns import ABSENT, UNREADABLE
from gitdash.model.inspection import MultiPackIndexFacts, PackFile
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import (
    CELL_GAP,
    MARGIN,
    Line,
    Piece,
    Tone,
    fit,
    shorten_middle,
    sorted_title,
    title_above,
)
from gitdash.tui.repository.pack_order import PackOrder
from gitdash.units import human_age, human_bytes, human_count, printable

_NAME_WIDTH_LEAST: Final = 13
_TONES: Final = {ABSENT: Tone.DIM, "no": Tone.DIM, "plain": Tone.DIM, UNREADABLE: Tone.WARNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    key: str
    title: str
    width: int
    is_right: bool = True
    from_width: int = 0
    """The least width of a table that has it."""


_COLUMNS: Final = (
    _Column(key="name", title="pack", width=0, is_right=False),
    _Column(key="objects", title="objects", width=8),
    _Column(key="size", title="size", width=9),
    _Column(key="density", title="per object", width=10, from_width=79),
    _Column(key="kind", title="kind", width=10, is_right=False),
    _Column(key="midx", title="midx", width=4, is_right=False),
    _Column(key="bitmap", title="bitmap", width=6, is_right=False, from_width=70),
    _Column(key="rev", title="rev", width=3, is_right=False, from_width=96),
    _Column(key="index", title="index", width=9, from_width=110),
    _Column(key="age", title="age", width=4),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackTable:
    """What a line is made of beyond its pack."""

    width: int
    now_s: float
    order: PackOrder
    multi_pack_index: MultiPackIndexFacts | Unreadable | None
    longest_name: int
    """Cells that the name column needs at most."""
    damaged_names: frozenset[str] = frozenset()
    """Names of packs whose own header or whose index cannot be read."""

    def head(self) -> Line:
        """Return the titles; the sorted column carries an arrow."""
        pieces: list[Piece] = []
        for column, width in self._columns():
            is_sorted = column.key == self.order.key
            title = column.title
            if is_sorted:
                room = width + len(_gap(pieces)) - 1
                title = sorted_title(title, room, descending=self.order.descending, right=column.is_right)
            tone = Tone.SORTED if is_sorted else Tone.HEAD
            pieces.append(Piece(title_above(title, width, len(_gap(pieces)), right=column.is_right), tone))
        return pieces

    def key_at(self, x: int) -> str:
        """Return the key of the column at cell `x`, its left gap included; empty beyond the last."""
        end = MARGIN - CELL_GAP
        for column, width in self._columns():
            end += CELL_GAP + width
            if x < end:
                return column.key
        return ""

    def row(self, pack: PackFile) -> Line:
        """Return the line of one pack."""
        pieces: list[Piece] = []
        texts = self._texts(pack)
        for column, width in self._columns():
            text = texts[column.key]
            is_name = column.key == "name"
            tone = Tone.STRONG if is_name else _TONES.get(text, Tone.PLAIN)
            fitted = fit(shorten_middle(text, width) if is_name else text, width, right=column.is_right)
            pieces += [Piece(_gap(pieces), Tone.PLAIN), Piece(fitted, tone)]
        return pieces

    def _columns(self) -> list[tuple[_Column, int]]:
        """Return the columns that fit, and how wide each is: the name takes what the others leave."""
        shown = [column for column in _COLUMNS if self.width >= column.from_width]
        used = MARGIN + sum(column.width + CELL_GAP for column in shown) - CELL_GAP
        name_width = max(min(self.width - used, self.longest_name), _NAME_WIDTH_LEAST)
        return [(column, column.width or name_width) for column in shown]

    def _texts(self, pack: PackFile) -> dict[str, str]:
        unknown = UNREADABLE if pack.has_index else ABSENT
        count = pack.object_count
        per_object = human_bytes(round(pack.bytes / count)) if count else unknown if count is None else ABSENT
        return {
            "name": printable(pack.name),
            "objects": unknown if count is None else human_count(count),
            "size": human_bytes(pack.bytes),
            "density": per_object,
            "kind": self._kind(pack),
            "midx": self._in_multi_pack_index(pack),
            "bitmap": _yes(pack.has_bitmap),
            "rev": _yes(pack.has_reverse_index),
            "index": human_bytes(pack.index_bytes) if pack.has_index else ABSENT,
            "age": human_age(self.now_s - pack.mtime_s),
        }

    def _kind(self, pack: PackFile) -> str:
        kinds = (
            ("damaged", pack.name in self.damaged_names),
            ("no index", not pack.has_index),
            ("kept", pack.kept),
            ("cruft", pack.cruft),
            ("promisor", pack.promisor),
        )
        return "+".join(word for word, applies in kinds if applies) or "plain"

    def _in_multi_pack_index(self, pack: PackFile) -> str:
        match self.multi_pack_index:
            case None:
                return ABSENT
            case Unreadable():
                return UNREADABLE
            case MultiPackIndexFacts():
                return _yes(pack.in_multi_pack_index)


def _gap(before: list[Piece]) -> str:
    return " " * (CELL_GAP if before else MARGIN)


def _yes(has: bool) -> str:
    return "yes" if has else "no"
