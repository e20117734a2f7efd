"""Which columns are chosen, in which order, and the page that shows it. Pure."""

from collections.abc import Collection, Sequence
from typing import Final

from gitdash.export.columns import Column
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.units import counted

NAME_KEY: Final = "name"
"""The column that is always shown."""
_KEY_WIDTH: Final = 14


class ColumnChoice:
    """Columns to choose among: those that are shown at first, in their order, and then the others."""

    def __init__(self, columns: Sequence[Column], chosen: Sequence[str], automatic: Sequence[str]) -> None:
        """`automatic` are the keys of those that fit; they are shown if none is `chosen`."""
        self.columns = {column.key: column for column in columns}
        self._automatic = tuple(automatic)
        self.is_automatic = not chosen
        """The width decides."""
        self.keys = list(self.columns)
        """All, in their order."""
        self.shown: set[str] = set(chosen or automatic)
        self._bring_forward(chosen)

    def _bring_forward(self, keys: Sequence[str]) -> None:
        self.keys = [*keys, *(key for key in self.columns if key not in keys)]

    def toggle(self, key: str) -> None:
        """Show or hide a column, but never that of names."""
        if key != NAME_KEY:
            self.shown ^= {key}
            self.is_automatic = False

    def move(self, key: str, step: int) -> int:
        """Move a column by some places, and return which place it has now."""
        place = self.keys.index(key)
        self.keys.remove(key)
        self.keys.insert(max(place + step, 0), key)
        self.is_automatic = False
        return self.keys.index(key)

    def reset(self) -> None:
        """Let the width decide."""
        self.is_automatic = True
        self.shown = set(self._automatic)
        self._bring_forward(())

    def chosen(self) -> tuple[str, ...]:
        """Return the keys of the columns to show; none if the width decides."""
        return () if self.is_automatic else tuple(key for key in self.keys if key in self.shown)


def columns_page(choice: ColumnChoice, hidden: Collection[str], width: int) -> Page:
    """Return the page: what holds, and all columns; `hidden` are the keys of those chosen that do not fit."""
    summary = [Piece(fit(f" {_summary(choice, len(hidden))}", width), Tone.WARNING if hidden else Tone.DIM)]
    lines: list[Line] = [summary]
    items = []
    for key in choice.keys:
        items.append(len(lines))
        lines.extend(_column_lines(choice, key, width, is_hidden=key in hidden))
    return Page(lines, items, pinned=summary)


def _summary(choice: ColumnChoice, hidden_count: int) -> str:
    if choice.is_automatic:
        return "As many columns as fit, the most important first."
    columns = counted(len(choice.shown), "column", "columns, in this order")
    if not hidden_count:
        return f"{columns}."
    return f"{columns}; {counted(hidden_count, 'does', 'do')} not fit into this width."


def _column_lines(choice: ColumnChoice, key: str, width: int, *, is_hidden: bool) -> list[Line]:
    is_shown = key in choice.shown
    sentence = wrapped(choice.columns[key].help, Tone.DIM, width, indent=_KEY_WIDTH + 7)
    head = [
        Piece(" [x] " if is_shown else " [ ] ", Tone.KEY if is_shown else Tone.DIM),
        Piece(f"{key:<{_KEY_WIDTH}}", Tone.WARNING if is_hidden else Tone.STRONG if is_shown else Tone.PLAIN),
        Piece("! " if is_hidden else "  ", Tone.WARNING),
        *sentence[0][1:],
    ]
    return [head, *sentence[1:]]
