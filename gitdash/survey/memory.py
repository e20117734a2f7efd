"""What a survey remembers of earlier ones and leaves to later ones, whether there is a state file or not."""

import os
from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

import msgspec

from gitdash.model.inspection import Inspection
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository, Unreadable
from gitdash.model.sizes import SizeMeasurement, Sizes
from gitdash.model.summary import RepositorySummary
from gitdash.survey.judging import policy_digest
from gitdash.survey.patience import is_below_any

if TYPE_CHECKING:
    from gitdash.history.store import History, KnownInspection


_PAGE_COUNT = 256
"""Stored reports that are read at once: half a megabyte."""


class Memory:
    """The state file as a survey sees it."""

    def __init__(self, history: "History | None", *, now_s: float, policy_for: Callable[[bytes], Policy]) -> None:
        self._history = history
        self._roots: Sequence[bytes] = ()
        self._known: dict[bytes, KnownInspection] = {}
        """Read ahead and not asked for yet."""
        self._read_up_to: bytes | None = None
        """The path up to which was read ahead; None if there is no more."""
        self._now_s = now_s
        self._policy_for = policy_for

    @property
    def problem(self) -> str | None:
        """Why something could not be remembered, for people; None if all is well."""
        return None if self._history is None else self._history.problem

    def recall(self, roots: Sequence[bytes]) -> None:
        """Say below which roots `stored` will be asked; before this, nothing is known."""
        self._roots = roots
        self._read_up_to = b""

    def stored(self, repository: Repository) -> tuple[RepositoryReport | None, bytes | None]:
        """Return the last report, once, and the fingerprint with which its inspection is still true.

        No fingerprint if a fact in it depends on an age that has passed since, or on a policy that has changed.
        """
        known = self._known_inspection(repository.path)
        if known is None:
            return None, None
        from gitdash.history.records import decode_report

        report = decode_report(known.report)
        if report is None or not isinstance(report.inspection, Inspection):
            return None, None
        is_valid = known.valid_until_s is None or self._now_s < known.valid_until_s
        is_same_policy = report.judged_by == policy_digest(self._policy_for(repository.path))
        return report, known.fingerprint if is_valid and is_same_policy else None

    def _known_inspection(self, path: bytes) -> "KnownInspection | None":
        """Read ahead in the order of paths, which is nearly that of discovery, so that little is kept."""
        while self._history is not None and self._read_up_to is not None and self._read_up_to < path:
            page = self._history.inspections(self._roots, after=self._read_up_to, limit=_PAGE_COUNT)
            self._known.update(page)
            self._read_up_to = max(page) if len(page) == _PAGE_COUNT else None
        return self._known.pop(path, None)

    def with_newer_sizes(self, report: RepositoryReport) -> RepositoryReport:
        """Return the report with the sizes that someone else has measured for the same files meanwhile."""
        newer = self._history.report(report.repository.path) if self._history is not None else None
        if newer is None or not _same_files(newer, report):
            return report
        ours, theirs = report.sizes, newer.sizes
        sizes = msgspec.structs.replace(
            ours,
            reachable=_better(ours.reachable, theirs.reachable),
            reachable_own=_better(ours.reachable_own, theirs.reachable_own),
        )
        return msgspec.structs.replace(report, sizes=sizes)

    def save(self, report: RepositoryReport, summary: RepositorySummary) -> None:
        """Remember a report; its sizes are from history when it is read again."""
        if self._history is not None:
            self._history.save_report(msgspec.structs.replace(report, sizes=_as_stored(report.sizes)), summary)

    def flush(self) -> None:
        """Write what waits."""
        if self._history is not None:
            self._history.flush()

    def forget_gone(
        self, roots: Sequence[bytes], found: Container[bytes], silent: Sequence[bytes]
    ) -> tuple[bytes, ...]:
        """Return known repositories below the roots that were not found, and forget those that are gone from disk.

        A root below which nothing is left at all keeps its memory: it may be a file system that is not mounted now.
        What lies below a silent folder is neither found nor gone, and not looked at.
        """
        if self._history is None:
            return ()
        gone: dict[bytes, None] = {}
        for root in roots:
            known = self._history.paths([root])
            missing = [path for path in known if path not in found and not is_below_any(path, silent)]
            gone.update(dict.fromkeys(missing))
            if len(missing) < len(known):
                self._history.forget([path for path in missing if not os.path.lexists(path)])
        return tuple(gone)


def _as_stored(sizes: Sizes) -> Sizes:
    return msgspec.structs.replace(
        sizes,
        reachable=_marked(sizes.reachable),
        reachable_own=_marked(sizes.reachable_own),
    )


def _marked(size: SizeMeasurement | Unreadable | None) -> SizeMeasurement | Unreadable | None:
    return msgspec.structs.replace(size, from_history=True) if isinstance(size, SizeMeasurement) else size


def _better(
    ours: SizeMeasurement | Unreadable | None, theirs: SizeMeasurement | Unreadable | None
) -> SizeMeasurement | Unreadable | None:
    """Return our answer if we have one; a number is better than a reason why there is none."""
    return theirs if ours is None or (isinstance(ours, Unreadable) and isinstance(theirs, SizeMeasurement)) else ours


def _same_files(one: RepositoryReport, other: RepositoryReport) -> bool:
    return (
        isinstance(one.inspection, Inspection)
        and isinstance(other.inspection, Inspection)
        and one.inspection.fingerprint == other.inspection.fingerprint
        and one.lenders_fingerprint == other.lenders_fingerprint
    )
