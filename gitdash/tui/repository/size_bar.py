"""One size as a bar: parts of different glyphs on the scale that all sizes of a repository share. Pure.

A bar of a figure that is not exact has an open end: `>` where the true one may be higher, `<` where it may be lower,
`~` where it may be either. What is there and too small for a cell is a thin stroke, so that it is not taken for zero.
"""

from dataclasses import dataclass
from typing import Final

from gitdash.model.sizes import Bound
from gitdash.tui.drawing.cells import Piece, Tone

OPEN_ENDS: Final = {Bound.EXACT: "", Bound.LOWER: ">", Bound.UPPER: "<", Bound.UNKNOWN: "~"}
_TOO_SMALL: Final = "▏"
_SPARE_CELLS: Final = 2
"""For the open end, and a stroke after a bar that fills the scale."""


@dataclass(frozen=True, slots=True)
class BarPart:
    """A stretch of one bar; it begins where the one before it ends."""

    bytes: int
    glyph: str
    tone: Tone


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeBar:
    """The bar of one size."""

    parts: tuple[BarPart, ...]
    start_bytes: int = 0
    """Where on the scale it begins."""
    bound: Bound = Bound.EXACT

    @property
    def end_bytes(self) -> int:
        """Where on the scale it ends."""
        return self.start_bytes + sum(part.bytes for part in self.parts)


def bar_pieces(bar: SizeBar, scale_bytes: int, width: int) -> list[Piece]:
    """Return a bar in `width` cells at most, of which `scale_bytes` take all but two."""
    cells = max(width - _SPARE_CELLS, 1)
    position = cell_of(bar.start_bytes, scale_bytes, cells)
    pieces = [Piece(" " * position, Tone.PLAIN)]
    end_bytes = bar.start_bytes
    for part in bar.parts:
        end_bytes += part.bytes
        length = max(cell_of(end_bytes, scale_bytes, cells) - position, 0)
        if length:
            pieces.append(Piece(part.glyph * length, part.tone))
        elif part.bytes:
            pieces.append(Piece(_TOO_SMALL, part.tone))
            length = 1
        position += length
    pieces.append(Piece(OPEN_ENDS[bar.bound], Tone.WARNING))
    return [piece for piece in pieces if piece.text]


def cell_of(position: int, scale: int, cells: int) -> int:
    """Return the cell at which a position on the scale stands."""
    return min((2 * position * cells + scale) // (2 * scale), cells) if scale else 0
