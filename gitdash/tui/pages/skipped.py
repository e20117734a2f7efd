"""The page of what looked like a repository and is none, or could not be searched, each with the reason. Pure."""

from collections.abc import Iterator, Sequence

from gitdash.model.repository import NotRepository
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.wrap import wrapped
from gitdash.units import printable, printable_path


def skipped_lines(candidates: Sequence[NotRepository], width: int, *, is_complete: bool) -> list[Line]:
    """Return a paragraph for each candidate, by path; they are counted first."""
    return [*_head(len(candidates), width, is_complete=is_complete), *_paragraphs(candidates, width)]


def _head(count: int, width: int, *, is_complete: bool) -> list[Line]:
    so_far = "" if is_complete else " so far"
    if not count:
        return [[Piece(f" Nothing was skipped{so_far}.", Tone.PLAIN)]]
    if count == 1:
        text = (
            f"1 folder or file was skipped{so_far}: it looked like a repository and is none, or could not be searched."
        )
    else:
        text = f"{count:,} folders and files were skipped{so_far}: no repositories, or they could not be searched."
    return wrapped(text, Tone.PLAIN, width)


def _paragraphs(candidates: Sequence[NotRepository], width: int) -> Iterator[Line]:
    for candidate in sorted(candidates, key=lambda one: one.path):
        yield []
        yield from wrapped(printable_path(candidate.path), Tone.STRONG, width)
        yield from wrapped(printable(candidate.reason), Tone.WARNING, width, indent=3)
