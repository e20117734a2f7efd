"""The sums over the fleet, kept up to date by adding and removing single rows, and the line that shows them."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from gitdash.model.report import State
from gitdash.model.repository import RepositoryKind, Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.tui.cells import Piece, Tone, line_length
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
        self.exclusive_bytes = 0
        self.duplicate_bytes = 0
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
        if not summary.counts_store:
            return
        self.object_store_count += sign
        self.exclusive_bytes += sign * _measured(summary.exclusive_bytes)
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
        (2, [Piece(human_bytes(totals.disk_bytes), Tone.STRONG), Piece(" disk", Tone.DIM)]),
        (8, [Piece(human_bytes(totals.exclusive_bytes), Tone.STRONG), Piece(" exclusive", Tone.DIM)]),
        (6, [Piece(human_bytes(totals.duplicate_bytes), Tone.STRONG), Piece(" duplicate", Tone.DIM)]),
    ]


def _state_groups(totals: RunningTotals) -> list[tuple[int, list[Piece]]]:
    groups = []
    for position, (state, tone) in enumerate(_STATE_TONES):
        if count := totals.states[state]:
            priority = (1, 5, 3, 7, 4, 10)[position]
            groups.append((priority, [Piece(f"{count:,} {state.value}", tone)]))
    return groups
