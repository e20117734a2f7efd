"""What was before a job and after it. Pure."""

from collections.abc import Callable, Iterator
from typing import Final

from gitdash.model.job import JobFigures
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.units import human_bytes, human_count

_FIGURES: Final[tuple[tuple[str, Callable[[JobFigures], int | None], Callable[[int], str]], ...]] = (
    ("disk", lambda figures: figures.disk_bytes, human_bytes),
    ("packs", lambda figures: figures.pack_count, human_count),
    ("loose objects", lambda figures: figures.loose_count, human_count),
    ("reachable", lambda figures: figures.reachable_bytes, human_bytes),
    ("references", lambda figures: figures.reference_count, human_count),
    ("findings", lambda figures: figures.finding_count, human_count),
)
_UNKNOWN: Final = {"reachable": "not measured"}
"""What stands for a figure that is not known; git measures that one, the others are read."""
_UNREAD: Final = "not read"
_MOST_STAYED: Final = 2
"""Figures that are named though they stayed: enough to know the repository by."""


def difference_groups(before: JobFigures | None, after: JobFigures | None) -> list[Line]:
    """Return each figure that is other than before, then some that are not; empty if nothing is known of it.

    A sign for what is not known would not do: elsewhere `?` says that something is there and could not be read.
    """
    if before is None or after is None:
        return []
    changed = list(_changed(before, after))
    stayed = list(_stayed(before, after))[:_MOST_STAYED]
    groups: list[Line] = [
        [Piece(f"{label} ", Tone.DIM), Piece(text, tone)] for label, text, tone in [*changed, *stayed]
    ]
    if stayed and not changed:
        groups[0] = [Piece("nothing changed: ", Tone.DIM), *groups[0]]
    return groups


def _changed(before: JobFigures, after: JobFigures) -> Iterator[tuple[str, str, Tone]]:
    for label, read, write in _FIGURES:
        old, new = read(before), read(after)
        if old != new:
            texts = [_UNKNOWN.get(label, _UNREAD) if value is None else write(value) for value in (old, new)]
            yield label, " -> ".join(texts), Tone.STRONG


def _stayed(before: JobFigures, after: JobFigures) -> Iterator[tuple[str, str, Tone]]:
    for label, read, write in _FIGURES:
        value = read(after)
        if value is not None and value == read(before):
            yield label, write(value), Tone.PLAIN
