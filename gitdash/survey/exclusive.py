"""Exclusive and duplicate bytes of a repository: its object store against those of all its lenders.

Imports numpy through `measurement.exclusive`: import this module only where it is used.
"""

import msgspec

from gitdash.maintenance.store_folder import object_store
from gitdash.measurement.exclusive import LenderIds, measure_exclusive
from gitdash.model.inspection import TEMPORARY_PACK_PREFIX, Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes
from gitdash.survey.alternates import compared_stores, lender_problem
from gitdash.survey.store_state import StoreStates


def exclusive_of(
    common_dir: bytes, inspection: Inspection | Unreadable, lender_ids: LenderIds, *, now_s: float
) -> ExclusiveSizes | Unreadable:
    """Return the figures of an inspected repository; `lender_ids` is shared by the members of one survey."""
    if isinstance(inspection, Unreadable):
        return inspection
    problem = lender_problem(inspection)
    if problem is not None:
        return problem
    unknown = _packs_without_index(inspection)
    if unknown:
        # what lies in such a pack is neither nothing nor known
        return Unreadable(f"{unknown[0]} has no index")
    own, *lenders = compared_stores(common_dir, inspection)
    stores_fingerprint = StoreStates(now_s).fingerprint((own, *lenders))
    sizes = measure_exclusive(
        object_store(own),
        [object_store(lender) for lender in lenders],
        lender_ids,
        object_format=inspection.object_format,
        now_s=now_s,
    )
    if isinstance(sizes, Unreadable):
        return sizes
    return msgspec.structs.replace(sizes, stores_fingerprint=stores_fingerprint)


def with_exclusive(report: RepositoryReport, *, now_s: float) -> RepositoryReport:
    """Return the report with its figures, measured unless they are known; a linked worktree has none of its own."""
    if not report.repository.has_own_store or isinstance(report.sizes.exclusive, ExclusiveSizes):
        return report
    size = exclusive_of(report.repository.common_dir, report.inspection, LenderIds(), now_s=now_s)
    return msgspec.structs.replace(report, sizes=msgspec.structs.replace(report.sizes, exclusive=size))


def _packs_without_index(inspection: Inspection) -> list[str]:
    if isinstance(inspection.packs, Unreadable):
        return []
    return [name for name in inspection.packs.missing_index_names if not name.startswith(TEMPORARY_PACK_PREFIX)]
