"""The title line: what is looked at and how far the survey is. Pure."""

from collections.abc import Sequence
from typing import Final

from gitdash.tui.cells import Line, Piece, Tone, cut_line, line_length, shorten_middle
from gitdash.tui.source import SurveyProgress
from gitdash.units import human_duration, printable_path

_VERBS: Final = {"inspected": "inspecting", "measured": "measuring"}


def title_line(roots: Sequence[bytes], home: bytes, progress: SurveyProgress | None, width: int) -> Line:
    """Return the program's name, the roots, and at the right the progress."""
    right = progress_pieces(progress)
    name = [Piece(" gitdash ", Tone.KEY), Piece(" ", Tone.PLAIN)]
    room = width - line_length(name) - line_length(right) - 1
    if room < 8:
        return cut_line([*name, *right], width)
    left = [*name, Piece(shorten_middle(roots_text(roots, home), room), Tone.PLAIN)]
    return [*left, Piece(" " * max(width - line_length(left) - line_length(right), 0), Tone.PLAIN), *right]


def roots_text(roots: Sequence[bytes], home: bytes) -> str:
    """Return the roots for people, the home folder as `~`."""
    return ", ".join(_root_text(root, home.rstrip(b"/")) for root in roots)


def _root_text(root: bytes, home: bytes) -> str:
    if home and (root == home or root.startswith(home + b"/")):
        return "~" + printable_path(root[len(home) :])
    return printable_path(root)


def progress_pieces(progress: SurveyProgress | None) -> list[Piece]:
    """Return how far the survey is, at which rate, and what remains if that is known."""
    if progress is None:
        return []
    if progress.step not in _VERBS:
        others = f" · {progress.other_count:,} not repositories" if progress.other_count else ""
        return [Piece(f"{progress.known_count:,} surveyed in {human_duration(progress.elapsed_s)}{others} ", Tone.DIM)]
    known = f"{progress.known_count:,}{'' if progress.complete else '+'}"
    counts = f"{_VERBS[progress.step]} {progress.done_count:,} of {known}"
    return [Piece(counts, Tone.ACCENT), Piece(f"{_rate_text(progress)} ", Tone.DIM)]


def _rate_text(progress: SurveyProgress) -> str:
    """The rate of the whole step so far, and the time that the rest will take at that rate."""
    if not progress.done_count or progress.elapsed_s < 0.2:
        return ""
    rate = progress.done_count / progress.elapsed_s
    text = f" · {rate:,.0f}/s" if rate >= 10 else f" · {rate:.1f}/s"
    left = progress.known_count - progress.done_count
    if progress.complete and left > 0:
        text += f" · {human_duration(left / rate)} left"
    return text
