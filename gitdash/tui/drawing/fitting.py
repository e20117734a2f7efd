"""Which columns of a table fit beside a name. Pure."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from gitdash.tui.drawing.cells import CELL_GAP


class Fitted(Protocol):
    """A column of some width that may be left out."""

    @property
    def width(self) -> int:
        """Cells, without the gap before it."""

    @property
    def priority(self) -> int:
        """Where room is short, the column with the lowest number stays longest."""


Column = TypeVar("Column", bound=Fitted)


def fitting(columns: Sequence[Column], width: int) -> tuple[list[Column], int]:
    """Return the columns that fit into `width` cells, each after a gap, in their order; and how many cells are left."""
    left = width
    chosen = set()
    for column in sorted(columns, key=lambda one: one.priority):
        if column.width + CELL_GAP > left:
            break
        chosen.add(column.priority)
        left -= column.width + CELL_GAP
    return [column for column in columns if column.priority in chosen], max(left, 0)
