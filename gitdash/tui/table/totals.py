"""The sums over rows, kept up to date by adding and removing single ones. Pure."""

from collections import Counter
from collections.abc import Iterable
from copy import copy
from typing import Final, TypeAlias

from gitdash.model.disk_facts import LinkedFile
from gitdash.model.report import State
from gitdash.model.repository import RepositoryKind, Unreadable
from gitdash.model.saved import SavedSum
from gitdash.model.summary import RepositorySummary

# A member of an enumeration takes as long to look up as all else that a row needs here.
_LINKED_WORKTREE: Final = RepositoryKind.LINKED_WORKTREE
_SUBMODULE: Final = RepositoryKind.SUBMODULE


class RunningTotals:
    """Sums over all rows, equal to those of `gitdash.survey.summarize.totals_of`; what rows share counts once."""

    def __init__(self) -> None:
        self.repository_count = 0
        self.object_store_count = 0
        self.disk_bytes = 0
        self._linked: Counter[tuple[int, int]] = Counter()
        """How many rows have a link to a file, by device and inode."""
        self.disk_unknown_count = 0
        """Rows whose files could not be counted."""
        self._exclusive_bytes = 0
        self._linked_exclusive: Counter[tuple[int, int]] = Counter()
        self.duplicate_bytes = 0
        self.exclusive_unknown_count = 0
        """Object stores of which the sums of exclusive and duplicate bytes know nothing yet, or never will."""
        self.saved = SavedSum()
        self.states: Counter[State] = Counter()
        self.critical_count = 0
        """Findings of this severity; the other two likewise."""
        self.warning_count = 0
        self.notice_count = 0

    def copy(self) -> "RunningTotals":
        """Return the same sums, which go their own way from now on."""
        totals = copy(self)
        totals.saved, totals.states = copy(self.saved), self.states.copy()
        totals._linked, totals._linked_exclusive = self._linked.copy(), self._linked_exclusive.copy()
        return totals

    def add(self, summary: RepositorySummary) -> None:
        """Count a row."""
        self._change(summary, 1)
        self.saved.add(summary)

    def remove(self, summary: RepositorySummary) -> None:
        """Take back what `add` counted."""
        self._change(summary, -1)
        self.saved.remove(summary)

    def _change(self, summary: RepositorySummary, sign: int) -> None:
        self.repository_count += sign
        self.states[summary.state] += sign
        self.critical_count += sign * summary.critical_count
        self.warning_count += sign * summary.warning_count
        self.notice_count += sign * summary.notice_count
        if _counts_disk(summary):
            disk = summary.disk_bytes
            if isinstance(disk, int):
                self.disk_bytes += sign * disk - _count_again(self._linked, summary.linked_files, sign)
            else:
                self.disk_unknown_count += sign
        if not summary.counts_store:
            return
        self.object_store_count += sign
        exclusive = summary.exclusive_bytes
        if isinstance(exclusive, int):
            again_bytes = _count_again(self._linked_exclusive, summary.linked_exclusive, sign)
            self._exclusive_bytes += sign * exclusive - again_bytes
        elif _lacks_exclusive(summary):
            self.exclusive_unknown_count += sign
        self.duplicate_bytes += sign * _measured(summary.duplicate_bytes)

    @property
    def exclusive_bytes(self) -> int:
        """What is stored in one row each; a pack that several link counts once."""
        return max(self._exclusive_bytes, 0)


def _count_again(linked: Counter[tuple[int, int]], files: Iterable[LinkedFile], sign: int) -> int:
    """Note the linked files of a row, and return the bytes that another row counts; taken back if it is removed."""
    again_bytes = 0
    for file in files:
        identity = (file.device, file.inode)
        left = linked[identity] + min(sign, 0)
        again_bytes += sign * file.bytes if left else 0
        linked[identity] += sign
    return again_bytes


Sizes: TypeAlias = tuple[int | None, int | None, int | None]
"""Disk, exclusive and duplicate bytes; None for what counts and is not known."""


def counted_sizes(summary: RepositorySummary) -> Sizes:
    """Return what a row adds to the sums of its sizes; what rows share counts once."""
    disk = summary.disk_bytes if _counts_disk(summary) else 0
    if not summary.counts_store:
        exclusive, duplicate = 0, 0
    elif _lacks_exclusive(summary):
        return disk if isinstance(disk, int) else None, None, None
    else:
        exclusive, duplicate = _measured(summary.exclusive_bytes), _measured(summary.duplicate_bytes)
    return disk if isinstance(disk, int) else None, exclusive, duplicate


def _counts_disk(summary: RepositorySummary) -> bool:
    """Tell whether the row's files are its own: those inside another row's git directory are part of that row's figure.

    Judged by where such folders lie, so that a row can be counted before the one around it is known.
    """
    kind = summary.kind
    if kind is _LINKED_WORKTREE:
        return summary.counts_store
    if kind is _SUBMODULE:
        around, found, _ = summary.path.partition(b"/modules/")
        return not (found and around.startswith(summary.root))
    return True


def _measured(value: int | Unreadable | None) -> int:
    return value if isinstance(value, int) else 0


def _lacks_exclusive(summary: RepositorySummary) -> bool:
    """Tell whether a figure is missing; a linked worktree has no store of its own and so needs none."""
    return summary.kind is not _LINKED_WORKTREE and not isinstance(summary.exclusive_bytes, int)
