"""The line that says how the whole fleet stands, or, where a filter holds, what it shows. Pure."""

from typing import Final, NamedTuple, TypeAlias

from gitdash.export.columns import LOWER_BOUND
from gitdash.export.pools import cost_text
from gitdash.model.report import State
from gitdash.tui.drawing.cells import Piece, Tone, line_length
from gitdash.tui.jobs.counts import JobCounts
from gitdash.tui.table.totals import RunningTotals
from gitdash.units import human_bytes

_Groups: TypeAlias = list[tuple[int, list[Piece]]]
"""Pieces that stand or fall together, with their priority; the lowest number comes in first."""
_GAP: Final = 2
_SEVERITIES: Final = (1, 3, 4, 11, 12)
"""Priorities of what is wrong, the worst first: where one has no room the lesser ones stay out, for beside a notice
a line without warnings would say that there are none."""


class Moment(NamedTuple):
    """What stands in the line beside the sums of what is shown."""

    fleet_count: int | None = None
    """Repositories in all where a filter holds; None where there is none."""
    passing_count: int = 0
    """Rows that pass the filter."""
    marked: RunningTotals | None = None
    """Sums over the marked rows; None if nothing is marked."""
    hidden_marked_count: int = 0
    """Marked rows that the filter hides."""
    jobs: JobCounts = JobCounts(0, 0, 0)


def totals_line(
    totals: RunningTotals | None,
    width: int,
    moment: Moment = Moment(),  # noqa: B008 - a constant
) -> list[Piece]:
    """Return the sums on one line; where `width` does not hold all, the more important ones come in first.

    `totals` are None while what passes the filter is not summed up yet.
    """
    groups = _groups(totals, moment, in_words=True)
    if _length(groups) > width:
        groups = _groups(totals, moment, in_words=False)
    pieces: list[Piece] = []
    for _, group in _fitting(groups, width):
        pieces.append(Piece(" " * _GAP if pieces else " ", Tone.PLAIN))
        pieces.extend(group)
    return pieces


def _groups(totals: RunningTotals | None, moment: Moment, *, in_words: bool) -> _Groups:
    return [
        *_count_groups(totals, moment),
        *([] if totals is None or _is_nothing_shown(moment) else _sum_groups(totals, in_words=in_words)),
        *_marked_groups(moment),
        *_job_groups(moment.jobs),
    ]


def _length(groups: _Groups) -> int:
    return sum(line_length(group) + _GAP for _, group in groups)


def _fitting(groups: _Groups, width: int) -> _Groups:
    """Return the groups that fit, in their order; the first always does."""
    left = width
    kept: _Groups = []
    lacks_a_severity = False
    for group in sorted(groups, key=lambda group: group[0]):
        is_severity = group[0] in _SEVERITIES
        length = line_length(group[1]) + _GAP
        if kept and (length > left or (is_severity and lacks_a_severity)):
            lacks_a_severity = lacks_a_severity or is_severity
            continue
        kept.append(group)
        left -= length
    return [group for group in groups if group in kept]


def _count_groups(totals: RunningTotals | None, moment: Moment) -> _Groups:
    """Without a filter how many there are; with one how many of them are shown, and that the sums are of these."""
    if moment.fleet_count is None:
        return [] if totals is None else [(0, _count_pieces(totals.repository_count))]
    shown = Piece(f"{moment.passing_count:,}", Tone.ACCENT)
    groups = [(0, [shown, Piece(" of ", Tone.DIM), *_count_pieces(moment.fleet_count)])]
    if totals is None or _is_nothing_shown(moment):
        return groups
    return [*groups, (0, [Piece("of the ", Tone.DIM), shown, Piece(":", Tone.DIM)])]


def _is_nothing_shown(moment: Moment) -> bool:
    """Tell whether the filter leaves no row, and so nothing to sum up."""
    return moment.fleet_count is not None and not moment.passing_count


def _count_pieces(count: int) -> list[Piece]:
    noun = " repository" if count == 1 else " repositories"
    return [Piece(f"{count:,}", Tone.STRONG), Piece(noun, Tone.DIM)]


def _sum_groups(totals: RunningTotals, *, in_words: bool) -> _Groups:
    stores = totals.object_store_count
    noun = " store" if stores == 1 else " stores"
    return [
        *_state_groups(totals),
        (13, [Piece(f"{stores:,}", Tone.STRONG), Piece(noun, Tone.DIM)]),
        *_size_groups(totals, in_words=in_words),
        *_finding_groups(totals, in_words=in_words),
    ]


def _size_groups(totals: RunningTotals, *, in_words: bool) -> _Groups:
    return [(5, _disk_pieces(totals)), *_exclusive_groups(totals), *_saved_groups(totals, in_words=in_words)]


def _disk_pieces(totals: RunningTotals) -> list[Piece]:
    return _sum_pieces(_lower_bound_sign(totals.disk_unknown_count), totals.disk_bytes, "disk")


def _exclusive_groups(totals: RunningTotals) -> _Groups:
    if not _knows_exclusive(totals):
        return []
    sign = _lower_bound_sign(totals.exclusive_unknown_count)
    return [
        (9, _sum_pieces(sign, totals.exclusive_bytes, "exclusive")),
        (10, _sum_pieces(sign, totals.duplicate_bytes, "duplicate")),
    ]


def _knows_exclusive(totals: RunningTotals) -> bool:
    return not totals.object_store_count or totals.exclusive_unknown_count < totals.object_store_count


def _saved_groups(totals: RunningTotals, *, in_words: bool) -> _Groups:
    """What pools save, or what they cost beyond that; nothing where no member is measured."""
    saved = totals.saved
    if saved.bytes > 0:
        return [(8, _sum_pieces(saved.bound.sign, saved.bytes, "saved by pools" if in_words else "saved"))]
    if not saved.bytes or not saved.known_count:
        return []
    # a bound would say at most what is known to be more by what the others save
    is_whole = not saved.unknown_count
    size = cost_text(saved.bytes, saved.bound) if is_whole else human_bytes(-saved.bytes)
    label = " more" if is_whole else " more so far"
    return [(8, [Piece("pools cost ", Tone.DIM), Piece(size, Tone.STRONG), Piece(label, Tone.DIM)])]


def _lower_bound_sign(unknown_count: int) -> str:
    return LOWER_BOUND if unknown_count else ""


def _sum_pieces(sign: str, size_bytes: int, label: str) -> list[Piece]:
    return [Piece(sign + human_bytes(size_bytes), Tone.STRONG), Piece(f" {label}", Tone.DIM)]


def _finding_groups(totals: RunningTotals, *, in_words: bool) -> _Groups:
    """How many findings there are: the word before them tells them from rows of a state.

    The worst keep their word where room is short; the signs of the others stand in the table, too.
    """
    warnings, notices = totals.warning_count, totals.notice_count
    counted = (
        (1, totals.critical_count, "■", "critical", Tone.CRITICAL),
        (4, warnings, "▲", "warning" if warnings == 1 else "warnings", Tone.WARNING),
        (11, notices, "•", "notice" if notices == 1 else "notices", Tone.NOTICE),
    )
    groups = [
        (priority, [Piece(f"{sign} {count:,}{f' {word}' if in_words or priority == 1 else ''}", tone)])
        for priority, count, sign, word, tone in counted
        if count
    ]
    # The worst of them stays longest, so the word goes with it.
    return [(groups[0][0], [Piece("findings ", Tone.DIM), *groups[0][1]]), *groups[1:]] if groups else []


def _state_groups(totals: RunningTotals) -> _Groups:
    """States that no finding stands for."""
    counted = ((3, State.UNREADABLE, Tone.CRITICAL), (12, State.FOREIGN, Tone.NOTICE))
    return [
        (priority, [Piece(f"{totals.states[state]:,} {state.value}", tone)])
        for priority, state, tone in counted
        if totals.states[state]
    ]


def _marked_groups(moment: Moment) -> _Groups:
    """How many are marked with what they take, and what is nowhere else: what deleting all of them would free."""
    totals = moment.marked
    if totals is None:
        return []
    hidden = f", {moment.hidden_marked_count:,} hidden" if moment.hidden_marked_count else ""
    text = f"✓ {totals.repository_count:,} marked{hidden} "
    groups: _Groups = [(2, [Piece(text, Tone.ACCENT), *_disk_pieces(totals)])]
    if totals.object_store_count and _knows_exclusive(totals):
        sign = _lower_bound_sign(totals.exclusive_unknown_count)
        groups.append((6, _sum_pieces(sign, totals.exclusive_bytes, "exclusive in them")))
    return groups


def _job_groups(jobs: JobCounts) -> _Groups:
    counted = (
        (jobs.running, "running", Tone.PLAIN),
        (jobs.queued, "queued", Tone.PLAIN),
        (jobs.failed, "failed", Tone.WARNING),
        (jobs.refused, "refused", Tone.WARNING),
        (jobs.skipped, "skipped", Tone.NOTICE),
    )
    pieces = [Piece(f" {count:,} {word}", tone) for count, word, tone in counted if count]
    return [(7, [Piece("jobs", Tone.DIM), *pieces])] if pieces else []
