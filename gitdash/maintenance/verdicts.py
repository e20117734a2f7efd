"""What became of a task that no error stopped, told by what is there before and after. Pure."""

from collections.abc import Sequence

from gitdash.maintenance.lock import LOCK_NAME
from gitdash.model.inspection import Inspection
from gitdash.model.ledger import Outcome, Reason, StoreFigures
from gitdash.model.plan import Refusal
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task
from gitdash.units import human_bytes

_OF_STORES = ("objects/", "packed-refs.", "refs/", "reftable/")
"""Locks that a task may have found held; others, such as index.lock, none of them takes."""


def locks_of_store(report: RepositoryReport) -> list[str]:
    """Return the locks that a task may have met, relative to the git directory; ours is none of them."""
    locks = report.inspection.locks if isinstance(report.inspection, Inspection) else ()
    of_stores = [lock.path for lock in locks if lock.path.startswith(_OF_STORES)]
    return [path for path in of_stores if not path.endswith(LOCK_NAME.decode())]


def unbegun(refusals: Sequence[Refusal]) -> tuple[Outcome, Reason | None, str]:
    """Return outcome, reason and sentence of a task that was not begun for these reasons."""
    sentence = "; ".join(refusal.reason for refusal in refusals)
    if all(refusal.is_no_need for refusal in refusals):
        return Outcome.NOTHING_TO_DO, None, sentence
    if all(refusal.is_no_need or refusal.is_for_now for refusal in refusals):
        return Outcome.SKIPPED, Reason.LOCK_HELD, sentence
    return Outcome.REFUSED, Reason.REFUSED, sentence


def success(
    task: Task, before: StoreFigures, after: StoreFigures, *, changed: bool, held: Sequence[str]
) -> tuple[Outcome, Reason | None, str]:
    """Return outcome, reason and sentence of a task that no error stopped; `held` are the locks that it met."""
    if not task.changes_repository:
        return Outcome.DONE, None, "everything reachable is there"
    if changed:
        return Outcome.DONE, None, _difference(before, after)
    if held:
        return Outcome.SKIPPED, Reason.LOCK_HELD, f"nothing changed, and {held[0]} is there"
    return Outcome.NOTHING_TO_DO, None, "nothing changed"


def _difference(before: StoreFigures, after: StoreFigures) -> str:
    """Say what is different, for people; the figures themselves stand beside it."""
    parts = []
    for name, old, new in (
        ("packs", before.pack_count, after.pack_count),
        ("loose objects", before.loose_count, after.loose_count),
        ("references", before.reference_count, after.reference_count),
    ):
        if old is not None and new is not None and old != new:
            parts.append(f"{name} {old:,} -> {new:,}")
    if before.disk_bytes is not None and after.disk_bytes is not None and before.disk_bytes != after.disk_bytes:
        parts.append(f"{human_bytes(before.disk_bytes)} -> {human_bytes(after.disk_bytes)} on disk")
    return ", ".join(parts) or "done"
