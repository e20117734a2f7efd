"""What a report counts for in what a fleet saves by borrowing. Pure."""

from collections.abc import Iterable

import msgspec

from gitdash.model.inspection import Inspection, ReferenceFacts
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Role, StorageLayout, Unreadable
from gitdash.model.saved import Saved, SavedSum, saved_of
from gitdash.model.sizes import Bound


def saved_by(report: RepositoryReport) -> Saved | Unreadable | None:
    """Return what a member saves; None for others, and for a linked worktree, whose store is another repository's."""
    if Role.MEMBER not in report.roles or not report.repository.has_own_store:
        return None
    return saved_of(report.sizes.reachable, report.sizes.exclusive)


def is_dedicated_pool(report: RepositoryReport) -> bool:
    """Tell whether a forge made it to lend: by its place in GitLab's storage, or by the mark of Gitaly's pools."""
    if report.repository.layout is StorageLayout.GITLAB_POOL:
        return True
    references = report.inspection.references if isinstance(report.inspection, Inspection) else None
    return isinstance(references, ReferenceFacts) and references.has_dangling_namespace


class _Row(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tenth of a summary, in a tenth of the time."""

    counts_store: bool
    has_own_store: bool
    is_member: bool
    is_dedicated_pool: bool
    borrower_count: int
    saved_bytes: int | Unreadable | None
    saved_bound: Bound
    objects_bytes: int | Unreadable | None


def saved_sum(reports: Iterable[RepositoryReport]) -> SavedSum:
    """Return the sum over reports; `SavedSum` says which count and how."""
    total = SavedSum()
    for report in reports:
        if report.roles != (Role.PLAIN,):
            total.add(_row(report))
    return total


def _row(report: RepositoryReport) -> _Row:
    saved, inspection = saved_by(report), report.inspection
    return _Row(
        counts_store=report.counts_store,
        has_own_store=report.repository.has_own_store,
        is_member=Role.MEMBER in report.roles,
        is_dedicated_pool=is_dedicated_pool(report),
        borrower_count=len(report.borrowers),
        saved_bytes=saved.bytes if isinstance(saved, Saved) else saved,
        saved_bound=saved.bound if isinstance(saved, Saved) else Bound.EXACT,
        objects_bytes=inspection if isinstance(inspection, Unreadable) else inspection.objects_bytes,
    )
