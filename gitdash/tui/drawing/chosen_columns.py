"""Where columns stand that a person has chosen, in the person's order. Pure.

Unlike `cells.choose_layout` it drops the last ones where there is no room for all. Sentences and paths can do with less
room than they would fill, names are never left out.
"""

from collections.abc import Sequence
from typing import Final

from gitdash.export.columns import Column
from gitdash.tui.drawing.cells import (
    CELL_GAP,
    LEFT_MARGIN,
    MARGIN,
    NAME_WIDTH_LEAST,
    PlacedColumn,
    TableLayout,
    column_width,
    legible_width,
)

_NAME_WIDTH: Final = 32
"""What the name column is given before sentences and paths are given more than their least."""
_LEAST_WIDTH: Final = 16
"""Words that want more than this can do with this."""


def chosen_layout(columns: Sequence[Column], width: int) -> TableLayout:
    """Place as many columns from the left as fit into `width` cells, and the one of names wherever it stands.

    It has to be among them.
    """
    least = {column.key: _least_width(column) for column in columns}
    # A window that is being dragged narrow is drawn before the notice stands there.
    left = max(width - LEFT_MARGIN - MARGIN - NAME_WIDTH_LEAST, 0)
    shown = []
    for column in columns:
        needed = 0 if column.key == "name" else least[column.key] + CELL_GAP
        if needed <= left:
            shown.append(column)
            left -= needed
        else:
            left = 0
    return TableLayout(width=width, columns=tuple(_placed(shown, _widths(shown, least, left))))


def _least_width(column: Column) -> int:
    if column.key == "name":
        return NAME_WIDTH_LEAST
    legible = legible_width(column)
    return min(legible, _LEAST_WIDTH) if column.align == "left" else legible


def _widths(columns: Sequence[Column], least: dict[str, int], left: int) -> dict[str, int]:
    """Share what is left: first names become legible, then all have what they want, then names have the rest."""
    widths = {column.key: least[column.key] for column in columns}
    wishes = [("name", _NAME_WIDTH), *((column.key, column_width(column)) for column in columns)]
    for key, wished in wishes:
        given = max(min(wished - widths[key], left), 0)
        widths[key] += given
        left -= given
    return widths | {"name": widths["name"] + left}


def _placed(columns: Sequence[Column], widths: dict[str, int]) -> list[PlacedColumn]:
    placed = []
    left = LEFT_MARGIN
    for column in columns:
        placed.append(PlacedColumn(column=column, left=left, width=widths[column.key]))
        left += widths[column.key] + CELL_GAP
    return placed
