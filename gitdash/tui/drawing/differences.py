"""Figures of before and after, side by side. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.units import human_bytes, human_count

FiguresT = TypeVar("FiguresT")
_UNREAD: Final = "not read"
"""A sign for what is not known would not do: elsewhere `?` says that something is there and could not be read."""
_MOST_STAYED: Final = 2
"""Figures that are named though they stayed: enough to know the repository by."""


class Figure(NamedTuple, Generic[FiguresT]):
    """One figure that may differ."""

    label: str
    value_of: Callable[[FiguresT], int | str | None]
    """Returns the figure; None if it is not known."""
    is_bytes: bool = False
    unknown: str = _UNREAD
    """What stands for it where it is not known."""


def difference_groups(
    figures: Sequence[Figure[FiguresT]],
    before: FiguresT | None,
    after: FiguresT | None,
    *,
    most_stayed: int = _MOST_STAYED,
) -> list[Line]:
    """Return each figure that is other than before, then some that are not; empty if nothing is known of it."""
    if before is None or after is None:
        return []
    changed = list(_changed(figures, before, after))
    stayed = list(_stayed(figures, before, after))[:most_stayed]
    groups: list[Line] = [
        [Piece(f"{label} ", Tone.DIM), Piece(text, tone)] for label, text, tone in [*changed, *stayed]
    ]
    if stayed and not changed:
        groups[0] = [Piece("nothing changed: ", Tone.DIM), *groups[0]]
    return groups


def _changed(figures: Sequence[Figure[FiguresT]], before: FiguresT, after: FiguresT) -> Iterator[tuple[str, str, Tone]]:
    for figure in figures:
        old, new = figure.value_of(before), figure.value_of(after)
        if old != new:
            texts = [_text(figure, value) for value in (old, new)]
            if texts[0] == texts[1]:
                # too little for three digits
                texts = [f"{value:,}{' B' if figure.is_bytes else ''}" for value in (old, new)]
            yield figure.label, " -> ".join(texts), Tone.STRONG


def _stayed(figures: Sequence[Figure[FiguresT]], before: FiguresT, after: FiguresT) -> Iterator[tuple[str, str, Tone]]:
    for figure in figures:
        value = figure.value_of(after)
        if value is not None and value == figure.value_of(before):
            yield figure.label, _text(figure, value), Tone.PLAIN


def _text(figure: Figure[FiguresT], value: int | str | None) -> str:
    if value is None:
        return figure.unknown
    if isinstance(value, str):
        return value
    return human_bytes(value) if figure.is_bytes else human_count(value)
