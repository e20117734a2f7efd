"""The sums over the fleet, kept up to date by adding and removing single rows, and the line that shows them."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from gitdash.export.columns import LOWER_BOUND
from gitdash.model.report import State
from gitdash.model.repository import RepositoryKind, Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.cells import Piece, Tone, line_length
from gitdash.units import human_bytes

_STATE_TONES: Final = (
    (State.CRITICAL, Tone.CRITICAL),
    (State.UNREADABLE, Tone.CRITICAL),
    (State.WARNING, Tone.WARNING),
    (State.FOREIGN, Tone.NOTICE),
    (State.NOTICE, Tone.NOTICE),
    (State.OK, Tone.OK),
)


class RunningTotals:
    """Sums over all rows, equal to those of `gitdash.survey.summarize.totals_of`; what rows share counts once."""

    def __init__(self) -> None:
        self.repository_count = 0
        self.object_store_count = 0
        self.disk_bytes = 0
        self.disk_unknown_count = 0
        """Rows whose files could not be counted."""
        self.exclusive_bytes = 0
        self.duplicate_bytes = 0
        self.exclusive_unknown_count = 0
        """Object stores of which the sums of exclusive and duplicate bytes know nothing yet, or never will."""
        self.states: Counter[State] = Counter()

    def add(self, summary: RepositorySummary) -> None:
        """Count a row."""
        self._change(summary, 1)

    def remove(self, summary: RepositorySummary) -> None:
        """Take back what `add` counted."""
        self._change(summary, -1)

    def _change(self, summary: RepositorySummary, sign: int) -> None:
        self.repository_count += sign
        self.states[summary.state] += sign
        if _counts_disk(summary):
            self.disk_bytes += sign * _measured(summary.disk_bytes)
            self.disk_unknown_count += sign * (not isinstance(summary.disk_bytes, int))
        if not summary.counts_store:
            return
        self.object_store_count += sign
        self.exclusive_bytes += sign * _measured(summary.exclusive_bytes)
        self.exclusive_unknown_count += sign * _lacks_exclusive(summary)
        self.duplicate_bytes += sign * _measured(summary.duplicate_bytes)


def _counts_disk(summary: RepositorySummary) -> bool:
    """Tell whether the row's files are its own: those inside another row's git directory are part of that row's figure.

    Judged by where such folders lie, so that a row can be counted before the one around it is known.
    """
    if summary.kind is RepositoryKind.LINKED_WORKTREE:
        return summary.counts_store
    if summary.kind is RepositoryKind.SUBMODULE:
        around, found, _ = summary.path.partition(b"/modules/")
        return not (found and around.startswith(summary.root))
    return True


def _measured(value: int | Unreadable | None) -> int:
    return value if isinstance(value, int) else 0


def _lacks_exclusive(summary: RepositorySummary) -> bool:
    """Tell whether a figure is missing; a linked worktree has no store of its own and so needs none."""
    return summary.kind is not RepositoryKind.LINKED_WORKTREE and not isinstance(summary.exclusive_bytes, int)


def totals_line(totals: RunningTotals, width: int) -> list[Piece]:
    """Return the sums on one line, the least important left out where `width` does not hold all."""
    groups = _size_groups(totals) + _state_groups(totals)
    while len(groups) > 1 and _length(groups) > width:
        groups.remove(max(groups, key=lambda group: group[0]))
    pieces: list[Piece] = []
    for position, (_, group) in enumerate(groups):
        pieces.append(Piece(" " if position == 0 else "  ", Tone.PLAIN))
        pieces.extend(group)
    return pieces


def _length(groups: Sequence[tuple[int, list[Piece]]]) -> int:
    return sum(line_length(group) + 2 for _, group in groups)


def _size_groups(totals: RunningTotals) -> list[tuple[int, list[Piece]]]:
    """Groups of pieces with their priority; the lowest stays longest."""
    count = totals.repository_count
    noun = " repository" if count == 1 else " repositories"
    stores = totals.object_store_count
    return [
        (0, [Piece(f"{count:,}", Tone.STRONG), Piece(noun, Tone.DIM)]),
        (9, [Piece(f"{stores:,}", Tone.STRONG), Piece(" store" if stores == 1 else " stores", Tone.DIM)]),
        (2, _sum_pieces("disk", totals.disk_bytes, totals.disk_unknown_count)),
        *_exclusive_groups(totals),
    ]


def _exclusive_groups(totals: RunningTotals) -> list[tuple[int, list[Piece]]]:
    unknown_count = totals.exclusive_unknown_count
    if totals.object_store_count and unknown_count >= totals.object_store_count:
        return []
    return [
        (8, _sum_pieces("exclusive", totals.exclusive_bytes, unknown_count)),
        (6, _sum_pieces("duplicate", totals.duplicate_bytes, unknown_count)),
    ]


def _sum_pieces(label: str, size_bytes: int, unknown_count: int) -> list[Piece]:
    sign = LOWER_BOUND if unknown_count else ""
    return [Piece(sign + human_bytes(size_bytes), Tone.STRONG), Piece(f" {label}", Tone.DIM)]


def _state_groups(totals: RunningTotals) -> list[tuple[int, list[Piece]]]:
    groups = []
    for position, (state, tone) in enumerate(_STATE_TONES):
        if count := totals.states[state]:
            priority = (1, 3, 4, 7, 5, 10)[position]
            groups.append((priority, [Piece(f"{count:,} {state.value}", tone)]))
    return groups
