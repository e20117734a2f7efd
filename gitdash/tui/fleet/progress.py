"""The title line: what is looked at and how far the survey is. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.export.rate import left_text, rate_text
from gitdash.survey.events import Waiting
from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line, fit, line_length, shorten_middle
from gitdash.tui.drawing.roots import root_text, roots_text
from gitdash.tui.source import SurveyProgress
from gitdash.units import human_age, human_duration, printable

_VERBS: Final = {"inspected": "inspecting", "measured": "measuring"}
_NOUNS: Final = {"inspected": "", "measured": " sizes"}
_DONE: Final = {"inspected": "repositories inspected", "measured": "sizes measured"}
_WAITING_PATH_WIDTH: Final = 32
_RECENT_S: Final = 60.0
"""Until then a survey has just ended, and its age is not worth a word."""
_VIEW_NAME_WIDTH: Final = 24
_LEAST_ROOTS_WIDTH: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is shown in which order, and what is not, as far as the table itself does not say it."""

    view_name: str | None = None
    """None if what is shown is no view."""
    hidden_order: str | None = None
    """The column that rows are sorted by, with its arrow; None if the table shows it."""
    skipped_key: str = ""
    """Opens the list of what was skipped; empty if no key does."""


def title_line(
    roots: Sequence[bytes],
    home: bytes,
    progress: SurveyProgress | None,
    width: int,
    now_s: float,
    look: Look = Look(),
) -> Line:
    """Return the program's name, the name of the view, the roots, the order, and at the right the progress."""
    right = progress_pieces(progress, home, now_s, look.skipped_key)
    name = [Piece(" gitdash ", Tone.KEY), Piece(" ", Tone.PLAIN)]
    if look.view_name is not None:
        name += [Piece(fit(printable(look.view_name), _VIEW_NAME_WIDTH).rstrip(), Tone.STRONG), Piece(" · ", Tone.DIM)]
    order = [] if look.hidden_order is None else [Piece(f"sorted by {look.hidden_order} ", Tone.ACCENT)]
    dot = [Piece(" · ", Tone.DIM)] if order else []
    room = width - line_length([*name, *dot, *order, *right]) - 1
    if room < _LEAST_ROOTS_WIDTH:
        return cut_line([*name, *order, *right], width)
    left = [*name, Piece(shorten_middle(roots_text(roots, home), room), Tone.PLAIN), *dot, *order]
    return [*left, Piece(" " * max(width - line_length(left) - line_length(right), 0), Tone.PLAIN), *right]


def progress_pieces(progress: SurveyProgress | None, home: bytes, now_s: float, skipped_key: str) -> list[Piece]:
    """Return how far the survey is, or, when it is over, what it found and how long ago."""
    if progress is None:
        return []
    skipped = _skipped_text(progress, skipped_key)
    if progress.step not in _VERBS:
        return [Piece(f"{_end_text(progress, now_s)}{skipped} ", Tone.DIM)]
    if progress.waiting is not None:
        more = [Piece(f"{_waiting_text(progress.waiting, home)}{skipped} ", Tone.WARNING)]
    else:
        more = [Piece(f"{_rate_text(progress)}{skipped} ", Tone.DIM)]
    return [Piece(_counts_text(progress), Tone.ACCENT), *more]


def _counts_text(progress: SurveyProgress) -> str:
    return f"{_VERBS[progress.step]} {_how_many(progress)}{_NOUNS[progress.step]}"


def _how_many(progress: SurveyProgress) -> str:
    return f"{progress.done_count:,} of {progress.known_count:,}{'' if progress.complete else '+'}"


def _waiting_text(waiting: Waiting, home: bytes) -> str:
    """What a folder that does not answer looks like from outside; its time limit ends it."""
    path = shorten_middle(root_text(waiting.path, home), _WAITING_PATH_WIDTH)
    return f" · {waiting.step} {path} for {human_duration(round(waiting.for_s))}"


def _end_text(progress: SurveyProgress, now_s: float) -> str:
    age_s = now_s - progress.at_s if progress.at_s is not None else 0.0
    ago = f", {human_age(age_s)} ago" if age_s >= _RECENT_S else ""
    if progress.step == "cancelled":
        what = f"survey cancelled: {_how_many(progress)} {_DONE[progress.cancelled_step]}"
    else:
        what = f"{progress.known_count:,} surveyed in {human_duration(progress.elapsed_s)}"
    return what + ago


def _skipped_text(progress: SurveyProgress, key: str) -> str:
    """The key that opens the list stands beside the count."""
    opened_by = f" ({key})" if key else ""
    return f" · {progress.other_count:,} skipped{opened_by}" if progress.other_count else ""


def _rate_text(progress: SurveyProgress) -> str:
    """The rate so far, and of the inspection the time that the rest will take at that rate.

    For measuring there is no such time. One size takes a thousand times as long as another, the quick ones come first,
    and what a slow one costs depends on bitmaps and histories, which no count and no sum of bytes tells. Of 2,000 small
    repositories and a few large ones (1.5 GiB in 43 s), what was left was, after three quarters of the time, four times
    as much as the count of sizes said, and a three hundredth of what their bytes said.
    """
    texts = [rate_text(progress.done_count, progress.elapsed_s)]
    if progress.step == "inspected" and progress.complete:
        texts.append(left_text(progress.done_count, progress.known_count, progress.elapsed_s))
    return "".join(f" · {text}" for text in texts if text)
