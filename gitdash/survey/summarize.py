"""From a report to the flat row that every table shows. Pure: no clock, no disk.

It does not format: values stay raw, and text for people is made in `export.columns`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec

from gitdash.model.disk_facts import DiskFacts, LinkedFile
from gitdash.model.finding import Severity
from gitdash.model.inspection import (
    AlternatesFacts,
    BitmapFacts,
    BitmapSource,
    Inspection,
    LooseFacts,
    ObjectFormat,
    PackFacts,
)
from gitdash.model.report import RepositoryReport, State, Totals
from gitdash.model.repository import Role, Unreadable
from gitdash.model.saved import Saved
from gitdash.model.sizes import Bound, ExclusiveSizes, SizeMeasurement
from gitdash.model.summary import RepositorySummary
from gitdash.survey.saving import is_dedicated_pool, saved_by, saved_sum
from gitdash.units import printable_path, sum_bytes

_Part = TypeVar("_Part")
_PACK_HEADER_BYTES: Final = 12
_HASH_BYTES: Final = {ObjectFormat.SHA1: 20, ObjectFormat.SHA256: 32}
"""Of the checksum at the end of a pack; gitformat-pack(5)."""


def summarize(report: RepositoryReport) -> RepositorySummary:
    """Return the row of a report."""
    repository = report.repository
    inspection = report.inspection
    worst = report.findings[0] if report.findings else None
    saved = saved_by(report)
    severities = [finding.severity for finding in report.findings]
    return RepositorySummary(
        path=repository.path,
        name=name_below(repository.path, repository.root),
        root=repository.root,
        kind=repository.kind,
        role=_role(report.roles),
        state=report.state,
        exclusive_bytes=_exclusive(report.sizes.exclusive, lambda sizes: sizes.exclusive_bytes),
        duplicate_bytes=_exclusive(report.sizes.exclusive, lambda sizes: sizes.duplicate_bytes),
        reachable_bytes=_measured(report.sizes.reachable),
        reachable_bound=_bound(report.sizes.reachable),
        reachable_own_bytes=_measured(report.sizes.reachable_own),
        reachable_own_bound=_bound(report.sizes.reachable_own),
        saved_bytes=saved.bytes if isinstance(saved, Saved) else saved,
        saved_bound=saved.bound if isinstance(saved, Saved) else Bound.EXACT,
        is_dedicated_pool=is_dedicated_pool(report),
        borrower_count=len(report.borrowers),
        lenders=report.lenders,
        finding_count=len(report.findings),
        critical_count=severities.count(Severity.CRITICAL),
        warning_count=severities.count(Severity.WARNING),
        notice_count=severities.count(Severity.NOTICE),
        worst_rule=worst.rule if worst else None,
        worst_summary=worst.summary if worst else None,
        rules=tuple(dict.fromkeys(finding.rule for finding in report.findings)),
        counts_store=report.counts_store,
        linked_files=_linked_files(report),
        linked_exclusive=_linked_exclusive(report),
        **_file_facts(inspection, lender_has_bitmap=report.lender_bitmap is not None),
    )


def name_below(path: bytes, root: bytes) -> str:
    """Return the path below its root, or the last component if it is the root itself. Printable."""
    prefix = root if root.endswith(b"/") else root + b"/"
    if path.startswith(prefix) and len(path) > len(prefix):
        return printable_path(path[len(prefix) :])
    return printable_path(path.rstrip(b"/").rpartition(b"/")[2] or path)


def totals_of(reports: Iterable[RepositoryReport]) -> Totals:
    """Return the sums over reports; what several rows share counts once, hard-linked files as far as they are known.

    A store counts in the row that has `counts_store`. The folder of a submodule or a linked worktree that lies inside
    another row's git directory is part of that row's disk figure already.
    """
    rows = list(reports)
    states = [row.state for row in rows]
    stores = [row for row in rows if row.counts_store]
    outermost = _outermost(rows)
    saved = saved_sum(stores)
    return Totals(
        repository_count=len(rows),
        object_store_count=len(stores),
        disk_bytes=sum_bytes(_disk_bytes(row) or 0 for row in outermost)
        - repeated_bytes(map(_linked_files, outermost)),
        disk_unknown_count=sum(_disk_bytes(row) is None for row in outermost),
        exclusive_bytes=max(
            sum_bytes(sizes.exclusive_bytes for sizes in map(_exclusive_sizes, stores) if sizes)
            - repeated_bytes(map(_linked_exclusive, stores)),
            0,
        ),
        duplicate_bytes=sum_bytes(sizes.duplicate_bytes for sizes in map(_exclusive_sizes, stores) if sizes),
        exclusive_unknown_count=sum(map(_lacks_exclusive, stores)),
        saved_bytes=saved.bytes if saved.known_count else None,
        saved_bound=saved.bound,
        saved_known_count=saved.known_count,
        saved_unknown_count=saved.unknown_count,
        unreadable_count=states.count(State.UNREADABLE),
        notice_count=states.count(State.NOTICE),
        warning_count=states.count(State.WARNING),
        critical_count=states.count(State.CRITICAL),
    )


def _outermost(rows: list[RepositoryReport]) -> list[RepositoryReport]:
    git_dirs = {row.repository.git_dir for row in rows}
    return [row for row in rows if not any(above in git_dirs for above in _parents(row.repository.git_dir))]


def _parents(path: bytes) -> Iterator[bytes]:
    while (path := path.rpartition(b"/")[0]) != b"":
        yield path


def repeated_bytes(files_of_each: Iterable[Sequence[LinkedFile]]) -> int:
    """Return how many bytes are counted again in a sum over repositories that have links to the same files."""
    met: set[tuple[int, int]] = set()
    again_bytes = 0
    for file in chain.from_iterable(files_of_each):
        identity = (file.device, file.inode)
        if identity in met:
            again_bytes += file.bytes
        met.add(identity)
    return again_bytes


def _linked_files(report: RepositoryReport) -> tuple[LinkedFile, ...]:
    if isinstance(report.inspection, Inspection) and isinstance(report.inspection.disk, DiskFacts):
        return report.inspection.disk.linked_files
    return ()


def _linked_exclusive(report: RepositoryReport) -> tuple[LinkedFile, ...]:
    """Return the linked packs of a store whose objects are all its own; without those that a lender has as well."""
    sizes, inspection = report.sizes.exclusive, report.inspection
    if not isinstance(sizes, ExclusiveSizes) or sizes.duplicate_count or isinstance(inspection, Unreadable):
        return ()
    linked = _linked_files(report)
    if not linked or isinstance(inspection.packs, Unreadable):
        return ()
    # names of linked files are not kept: of files that are as large as a pack, others than that pack are next to none
    pack_sizes = {pack.bytes for pack in inspection.packs.packs}
    around_bytes = _PACK_HEADER_BYTES + _HASH_BYTES[inspection.object_format]
    return tuple(
        msgspec.structs.replace(file, bytes=file.bytes - around_bytes)
        for file in linked
        if file.bytes in pack_sizes and file.bytes > around_bytes
    )


def _disk_bytes(report: RepositoryReport) -> int | None:
    if isinstance(report.inspection, Inspection) and isinstance(report.inspection.disk, DiskFacts):
        return report.inspection.disk.bytes
    return None


def _lacks_exclusive(report: RepositoryReport) -> bool:
    """Tell whether a figure is missing; a linked worktree has no store of its own and so needs none."""
    return report.repository.has_own_store and _exclusive_sizes(report) is None


def _exclusive_sizes(report: RepositoryReport) -> ExclusiveSizes | None:
    sizes = report.sizes.exclusive
    return sizes if isinstance(sizes, ExclusiveSizes) else None


def _role(roles: tuple[Role, ...]) -> str:
    if Role.MEMBER in roles and Role.POOL in roles:
        return "member+pool"
    return roles[0].value


def _file_facts(inspection: Inspection | Unreadable, *, lender_has_bitmap: bool) -> dict[str, Any]:
    if isinstance(inspection, Unreadable):
        return dict.fromkeys(_PART_COLUMNS, inspection) | {
            "alternate_count": inspection,
            "bitmap": None,
            "object_format": None,
            "inspected_at_s": None,
        }
    packs, loose, references = inspection.packs, inspection.loose, inspection.references
    return {
        "disk_bytes": _value(inspection.disk, lambda disk: disk.bytes),
        "allocated_bytes": _value(inspection.disk, lambda disk: disk.allocated_bytes),
        "objects_bytes": inspection.objects_bytes,
        "pack_count": _value(packs, lambda part: part.count),
        "pack_bytes": _value(packs, lambda part: part.bytes),
        "outside_midx_count": _value(packs, lambda part: part.outside_midx_count),
        "loose_count": _value(loose, lambda part: part.count),
        "loose_stale_count": _value(loose, lambda part: part.stale_count),
        "garbage_bytes": _garbage_bytes(packs, loose),
        "reference_count": _value(references, lambda part: part.count),
        "bitmap": _bitmap(inspection.bitmaps, lender_has_bitmap=lender_has_bitmap),
        "alternate_count": _alternate_count(inspection.alternates),
        "object_format": inspection.object_format.value,
        "inspected_at_s": inspection.inspected_at_s,
    }


_PART_COLUMNS = (
    "disk_bytes",
    "allocated_bytes",
    "objects_bytes",
    "pack_count",
    "pack_bytes",
    "outside_midx_count",
    "loose_count",
    "loose_stale_count",
    "garbage_bytes",
    "reference_count",
)


def _value(part: _Part | Unreadable, read: Callable[[_Part], int | None]) -> int | Unreadable | None:
    return part if isinstance(part, Unreadable) else read(part)


def _garbage_bytes(packs: PackFacts | Unreadable, loose: LooseFacts | Unreadable) -> int | Unreadable:
    if isinstance(packs, Unreadable):
        return packs
    return loose if isinstance(loose, Unreadable) else sum_bytes((packs.garbage_bytes, loose.garbage_bytes))


def _bitmap(bitmaps: tuple[BitmapFacts, ...], *, lender_has_bitmap: bool) -> str | None:
    if bitmaps:
        return "midx" if bitmaps[0].source is BitmapSource.MULTI_PACK_INDEX else "pack"
    return "lender" if lender_has_bitmap else None


def _alternate_count(alternates: AlternatesFacts | Unreadable | None) -> int | Unreadable:
    if isinstance(alternates, Unreadable):
        return alternates
    return len(alternates.alternates) if alternates is not None else 0


def _exclusive(
    sizes: ExclusiveSizes | Unreadable | None, read: Callable[[ExclusiveSizes], int]
) -> int | Unreadable | None:
    return read(sizes) if isinstance(sizes, ExclusiveSizes) else sizes


def _measured(size: SizeMeasurement | Unreadable | None) -> int | Unreadable | None:
    return size.bytes if isinstance(size, SizeMeasurement) else size


def _bound(size: SizeMeasurement | Unreadable | None) -> Bound:
    return size.bound if isinstance(size, SizeMeasurement) else Bound.EXACT
