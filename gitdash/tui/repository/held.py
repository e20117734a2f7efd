"""Processes that hold deleted packs of a repository, below its look-up times. Pure."""

from collections.abc import Iterator
from typing import Final

from gitdash.model.held_packs import HeldPacks
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.repository.view import RepositoryView
from gitdash.units import counted, human_bytes

_SHOWN: Final = 5
"""Processes; those that keep less are counted."""


def held_lines(view: RepositoryView, width: int) -> Iterator[Line]:
    """Return who holds what, or that nobody does; nothing before it has been looked for."""
    held = view.held_packs
    if isinstance(held, Unreadable):
        yield from wrapped(f"Who holds deleted packs is not known: {held.reason}", Tone.DIM, width)
    elif held is not None and held.holders:
        yield from _holder_lines(held, width)
    elif held is not None:
        yield from wrapped("; ".join(("No process that is seen holds deleted packs", *held.gaps)), Tone.DIM, width)


def _holder_lines(held: HeldPacks, width: int) -> Iterator[Line]:
    title = f" {human_bytes(held.bytes)} is not free yet"
    yield [Piece(title, Tone.STRONG), Piece("  held by processes that have deleted files open", Tone.DIM)]
    for holder in held.holders[:_SHOWN]:
        yield from wrapped(holder.sentence, Tone.WARNING, width, indent=1, hanging=2)
    more_count = len(held.holders) - _SHOWN
    if more_count > 0:
        yield from wrapped(f"and {counted(more_count, 'more process', 'more processes')}", Tone.DIM, width)
    for gap in held.gaps:
        yield from wrapped(gap, Tone.DIM, width)
