"""The line that says how the whole fleet stands. Pure."""

from typing import Final, NamedTuple, TypeAlias

from gitdash.export.columns import LOWER_BOUND
from gitdash.model.report import State
from gitdash.tui.drawing.cells import Piece, Tone, line_length
from gitdash.tui.jobs.counts import JobCounts
from gitdash.tui.table.totals import RunningTotals
from gitdash.units import human_bytes

_Groups: TypeAlias = list[tuple[int, list[Piece]]]
"""Pieces that stand or fall together, with their priority; the lowest number comes in first."""
_GAP: Final = 2


class Moment(NamedTuple):
    """What stands in the line beside the sums."""

    passing_count: int | None = None
    """Rows that pass the filter; None if there is none."""
    marked_count: int = 0
    hidden_marked_count: int = 0
    """Those of them that the filter hides."""
    jobs: JobCounts = JobCounts(0, 0, 0)


def totals_line(totals: RunningTotals, width: int, moment: Moment = Moment()) -> list[Piece]:  # noqa: B008 - a constant
    """Return the sums on one line; where `width` does not hold all, the more important ones come in first."""
    groups = [
        *_count_groups(totals, moment.passing_count),
        *_size_groups(totals),
        *_finding_groups(totals),
        *_state_groups(totals),
        *_marked_groups(moment),
        *_job_groups(moment.jobs),
    ]
    pieces: list[Piece] = []
    for _, group in _fitting(groups, width):
        pieces.append(Piece(" " * _GAP if pieces else " ", Tone.PLAIN))
        pieces.extend(group)
    return pieces


def _fitting(groups: _Groups, width: int) -> _Groups:
    """Return the groups that fit, in their order; the first always does."""
    left = width
    kept: _Groups = []
    for group in sorted(groups, key=lambda group: group[0]):
        length = line_length(group[1]) + _GAP
        if length <= left or not kept:
            kept.append(group)
            left -= length
    return [group for group in groups if group in kept]


def _count_groups(totals: RunningTotals, passing_count: int | None) -> _Groups:
    count, stores = totals.repository_count, totals.object_store_count
    noun = " repository" if count == 1 else " repositories"
    shown = [] if passing_count is None else [Piece(f"{passing_count:,}", Tone.ACCENT), Piece(" of ", Tone.DIM)]
    return [
        (0, [*shown, Piece(f"{count:,}", Tone.STRONG), Piece(noun, Tone.DIM)]),
        (13, [Piece(f"{stores:,}", Tone.STRONG), Piece(" store" if stores == 1 else " stores", Tone.DIM)]),
    ]


def _size_groups(totals: RunningTotals) -> _Groups:
    disk = _sum_pieces(_lower_bound_sign(totals.disk_unknown_count), totals.disk_bytes, "disk")
    return [(4, disk), *_exclusive_groups(totals), *_saved_groups(totals)]


def _exclusive_groups(totals: RunningTotals) -> _Groups:
    unknown_count = totals.exclusive_unknown_count
    if totals.object_store_count and unknown_count >= totals.object_store_count:
        return []
    sign = _lower_bound_sign(unknown_count)
    return [
        (9, _sum_pieces(sign, totals.exclusive_bytes, "exclusive")),
        (8, _sum_pieces(sign, totals.duplicate_bytes, "duplicate")),
    ]


def _saved_groups(totals: RunningTotals) -> _Groups:
    """Nothing where nothing is saved, or where the pools take more than is known to be saved."""
    saved = totals.saved
    return [(7, _sum_pieces(saved.bound.sign, saved.bytes, "saved by pools"))] if saved.bytes > 0 else []


def _lower_bound_sign(unknown_count: int) -> str:
    return LOWER_BOUND if unknown_count else ""


def _sum_pieces(sign: str, size_bytes: int, label: str) -> list[Piece]:
    return [Piece(sign + human_bytes(size_bytes), Tone.STRONG), Piece(f" {label}", Tone.DIM)]


def _finding_groups(totals: RunningTotals) -> _Groups:
    """How many findings there are; by the signs they are told from rows of a state."""
    warnings, notices = totals.warning_count, totals.notice_count
    counted = (
        (1, totals.critical_count, "■", "critical", Tone.CRITICAL),
        (5, warnings, "▲", "warning" if warnings == 1 else "warnings", Tone.WARNING),
        (11, notices, "•", "notice" if notices == 1 else "notices", Tone.NOTICE),
    )
    return [
        (priority, [Piece(f"{sign} {count:,} {word}", tone)]) for priority, count, sign, word, tone in counted if count
    ]


def _state_groups(totals: RunningTotals) -> _Groups:
    """States that no finding stands for."""
    counted = ((6, State.UNREADABLE, Tone.CRITICAL), (12, State.FOREIGN, Tone.NOTICE))
    return [
        (priority, [Piece(f"{totals.states[state]:,} {state.value}", tone)])
        for priority, state, tone in counted
        if totals.states[state]
    ]


def _marked_groups(moment: Moment) -> _Groups:
    if not moment.marked_count:
        return []
    hidden = f", {moment.hidden_marked_count:,} hidden" if moment.hidden_marked_count else ""
    return [(2, [Piece(f"✓ {moment.marked_count:,} marked{hidden}", Tone.ACCENT)])]


def _job_groups(jobs: JobCounts) -> _Groups:
    counted = (
        (jobs.running, "running", Tone.PLAIN),
        (jobs.queued, "queued", Tone.PLAIN),
        (jobs.failed, "failed", Tone.WARNING),
    )
    pieces = [Piece(f" {count:,} {word}", tone) for count, word, tone in counted if count]
    return [(3, [Piece("jobs", Tone.DIM), *pieces])] if pieces else []
