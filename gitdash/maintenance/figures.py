"""What an action may change, read off a report: the same before and after. Pure."""

from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import BitmapSource, Inspection, LooseFacts, PackFacts, ReferenceFacts
from gitdash.model.ledger import NO_BITMAP, StoreFigures
from gitdash.model.report import RepositoryReport

_BITMAP_NAMES = {BitmapSource.PACK: "pack", BitmapSource.MULTI_PACK_INDEX: "midx"}


def figures_of(report: RepositoryReport, *, own_lock_bytes: int = 0) -> StoreFigures:
    """Return what is known of a repository at this moment, without a lock of ours in it.

    The files of a linked worktree are not those of its object store, so they say nothing of what is done to that.
    """
    inspection = report.inspection
    if not isinstance(inspection, Inspection):
        return StoreFigures()
    packs = inspection.packs if isinstance(inspection.packs, PackFacts) else None
    loose = inspection.loose if isinstance(inspection.loose, LooseFacts) else None
    references = inspection.references if isinstance(inspection.references, ReferenceFacts) else None
    disk = inspection.disk if isinstance(inspection.disk, DiskFacts) and report.repository.has_own_store else None
    return StoreFigures(
        pack_count=packs.count if packs else None,
        pack_bytes=packs.bytes if packs else None,
        loose_count=loose.count if loose else None,
        loose_bytes=loose.bytes if loose else None,
        disk_bytes=disk.bytes - own_lock_bytes if disk else None,
        garbage_bytes=packs.garbage_bytes + loose.garbage_bytes if packs and loose else None,
        reference_count=references.count if references else None,
        bitmap=_bitmap(inspection, packs),
        finding_count=len(report.findings),
    )


def _bitmap(inspection: Inspection, packs: PackFacts | None) -> str | None:
    """Return which bitmap git opens; None if there is one that cannot be read."""
    if inspection.bitmaps:
        return _BITMAP_NAMES[inspection.bitmaps[0].source]
    return None if packs is None or any(pack.has_bitmap for pack in packs.packs) else NO_BITMAP
