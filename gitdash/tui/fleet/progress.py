"""The title line: what is looked at and how far the survey is. Pure."""

from collections.abc import Sequence
from typing import Final

from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line, line_length, shorten_middle
from gitdash.tui.source import SurveyProgress
from gitdash.units import human_age, human_duration, printable_path

_VERBS: Final = {"inspected": "inspecting", "measured": "measuring"}
_NOUNS: Final = {"inspected": "", "measured": " sizes"}
_STEADY_S: Final = 0.2
"""Before this a rate says nothing."""
_RECENT_S: Final = 60.0
"""Until then a survey has just ended, and its age is not worth a word."""


def title_line(roots: Sequence[bytes], home: bytes, progress: SurveyProgress | None, width: int, now_s: float) -> Line:
    """Return the program's name, the roots, and at the right the progress."""
    right = progress_pieces(progress, now_s)
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


def progress_pieces(progress: SurveyProgress | None, now_s: float) -> list[Piece]:
    """Return how far the survey is, or, when it is done, what it found and how long ago."""
    if progress is None:
        return []
    if progress.step not in _VERBS:
        return [Piece(f"{_end_text(progress, now_s)} ", Tone.DIM)]
    known = f"{progress.known_count:,}{'' if progress.complete else '+'}"
    counts = f"{_VERBS[progress.step]} {progress.done_count:,} of {known}{_NOUNS[progress.step]}"
    return [Piece(counts, Tone.ACCENT), Piece(f"{_rate_text(progress)}{_skipped_text(progress)} ", Tone.DIM)]


def _end_text(progress: SurveyProgress, now_s: float) -> str:
    age_s = now_s - progress.at_s if progress.at_s is not None else 0.0
    ago = f", {human_age(age_s)} ago" if age_s >= _RECENT_S else ""
    surveyed = f"{progress.known_count:,} surveyed in {human_duration(progress.elapsed_s)}{ago}"
    return surveyed + _skipped_text(progress)


def _skipped_text(progress: SurveyProgress) -> str:
    """The key that opens the list stands beside the count."""
    return f" · {progress.other_count:,} skipped (e)" if progress.other_count else ""


def _rate_text(progress: SurveyProgress) -> str:
    """The rate of the inspection so far, and the time that the rest will take at that rate.

    Measuring has neither: one size takes a thousand times as long as another, and the quick ones come first.
    """
    if progress.step != "inspected" or not progress.done_count or progress.elapsed_s < _STEADY_S:
        return ""
    rate = progress.done_count / progress.elapsed_s
    text = f" · {rate:,.0f}/s" if rate >= 10 else f" · {rate:.1f}/s"
    left = progress.known_count - progress.done_count
    if progress.complete and left > 0:
        text += f" · {human_duration(left / rate)} left"
    return text
