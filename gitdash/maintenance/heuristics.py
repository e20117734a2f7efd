"""How a task is done where there is a choice: sizes, versions and roles decide, by Gitaly's rules and git's own.

Sources: Gitaly `optimization_strategy.go` (commit-graph, bitmaps), git builtin/gc.c (the batch of an incremental
repack), git-config(1) `bitmapPseudoMerge`. Pure; when a task is due, findings say.
"""

from collections.abc import Iterable
from typing import Final

from gitdash.measurement.strategy import PSEUDO_MERGES_SINCE
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.inspection import BitmapSource, CommitGraphFacts, Inspection, MultiPackIndexFacts, PackFile
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import RepositoryKind, Role, Unreadable

BATCH_MAXIMUM_BYTES: Final = 2**31 - 1
"""git's bound of the automatic batch, for 32-bit machines."""

PSEUDO_MERGE_MINIMUM_REFERENCES: Final = 1_000
"""From here on a query by bitmap spends its time on references without one.

A lender's total with 3,000 references took 1.8 s, and 0.16 s with pseudo-merges (git 2.55); with 100 there was nothing
to gain.
"""

BITMAP_MINIMUM_OBJECTS: Final = 5_000
"""git walks fewer in about 10 ms."""


def batch_bytes(packs: Iterable[PackFile]) -> int:
    """Return the batch size of an incremental repack: second largest pack + 1, at most 2^31 - 1.

    Packs of 9, 5 and 4 bytes give 6; one pack gives 1, and so does none: then nothing is joined.
    """
    sizes = sorted((pack.bytes for pack in packs), reverse=True)
    second_bytes = sizes[1] if len(sizes) > 1 else 0
    return min(second_bytes + 1, BATCH_MAXIMUM_BYTES)


def replaces_commit_graph(graph: CommitGraphFacts | Unreadable | None) -> bool:
    """Return whether the commit-graph is written anew: none, one file, or a layer without filters or dates.

    git adds no filters while any layer lacks them (Gitaly `ShouldWriteCommitGraph`).
    """
    if graph is None or isinstance(graph, Unreadable):
        return True
    is_whole = graph.bloom_filters and graph.generation_data and not graph.missing_layer_count
    return graph.chain_length == 0 or not is_whole


def is_member(report: RepositoryReport) -> bool:
    """Return whether it borrows objects, as far as anyone can tell: alternates that cannot be read count."""
    has_file = isinstance(report.inspection, Inspection) and report.inspection.alternates is not None
    return has_file or Role.MEMBER in report.roles


def lends(report: RepositoryReport) -> bool:
    """Return whether it is known to lend objects, or to be there for that; `lending` also knows mere hints."""
    return Role.POOL in report.roles or bool(report.borrowers)


def config_of(report: RepositoryReport) -> ConfigFacts | None:
    """Return the config; None if it cannot be read."""
    if isinstance(report.inspection, Unreadable) or isinstance(report.inspection.config, Unreadable):
        return None
    return report.inspection.config


def packs_of(report: RepositoryReport) -> tuple[PackFile, ...]:
    """Return the packs; none if they cannot be read."""
    if isinstance(report.inspection, Unreadable) or isinstance(report.inspection.packs, Unreadable):
        return ()
    return report.inspection.packs.packs


def is_partial(report: RepositoryReport) -> bool:
    """Return whether objects may be missing on purpose."""
    config = config_of(report)
    return (config is not None and config.partial_clone) or any(pack.promisor for pack in packs_of(report))


def is_shallow(report: RepositoryReport) -> bool:
    """Return whether the history is cut."""
    return isinstance(report.inspection, Inspection) and report.inspection.shallow


def has_kept_pack(report: RepositoryReport) -> bool:
    """Return whether a `.keep` file protects a pack."""
    return any(pack.kept for pack in packs_of(report))


def can_have_bitmap(report: RepositoryReport) -> bool:
    """Return whether git can write a bitmap here: every object that is reachable must be in the packs."""
    return not (is_member(report) or is_shallow(report) or is_partial(report))


def wants_bitmap(report: RepositoryReport) -> bool:
    """Return whether a repack writes a bitmap with the multi-pack-index: there is one, or others clone from here."""
    if not can_have_bitmap(report) or not isinstance(report.inspection, Inspection):
        return False
    is_served = report.repository.kind is RepositoryKind.BARE or lends(report)
    return bool(report.inspection.bitmaps) or (is_served and object_count(report) >= BITMAP_MINIMUM_OBJECTS)


def object_count(report: RepositoryReport) -> int:
    """Return the objects stored here, those in two packs twice."""
    loose = report.inspection.loose if isinstance(report.inspection, Inspection) else None
    loose_count = 0 if loose is None or isinstance(loose, Unreadable) else loose.count
    return loose_count + sum(pack.object_count or 0 for pack in packs_of(report))


def stale_loose_count(report: RepositoryReport) -> int:
    """Return how many loose objects no repack has taken for long: most of them are unreachable."""
    loose = report.inspection.loose if isinstance(report.inspection, Inspection) else None
    return 0 if loose is None or isinstance(loose, Unreadable) else loose.stale_count


def wants_pseudo_merges(report: RepositoryReport) -> bool:
    """Return whether pseudo-merges help: a lender, or 1,000 references and more."""
    if lends(report):
        return True
    references = report.inspection.references if isinstance(report.inspection, Inspection) else None
    count = None if references is None or isinstance(references, Unreadable) else references.count
    return count is not None and count >= PSEUDO_MERGE_MINIMUM_REFERENCES


def may_have_pseudo_merges(report: RepositoryReport, git_version: tuple[int, ...]) -> bool:
    """Return whether pseudo-merges help, and git knows them."""
    return git_version >= PSEUDO_MERGES_SINCE and wants_pseudo_merges(report)


def own_bitmap_names(report: RepositoryReport) -> tuple[str, ...]:
    """Return the names of the bitmap files of packs and of the multi-pack-index."""
    if not isinstance(report.inspection, Inspection):
        return ()
    return tuple(bitmap.name for bitmap in report.inspection.bitmaps)


def pack_bitmap_names(report: RepositoryReport) -> tuple[str, ...]:
    """Return the names of the bitmap files of packs alone."""
    bitmaps = report.inspection.bitmaps if isinstance(report.inspection, Inspection) else ()
    return tuple(bitmap.name for bitmap in bitmaps if bitmap.source is BitmapSource.PACK)


def has_multi_pack_bitmap(report: RepositoryReport) -> bool:
    """Return whether the multi-pack-index has a bitmap."""
    bitmaps = report.inspection.bitmaps if isinstance(report.inspection, Inspection) else ()
    return any(bitmap.source is BitmapSource.MULTI_PACK_INDEX for bitmap in bitmaps)


def has_damaged_index(report: RepositoryReport) -> bool:
    """Return whether the multi-pack-index cannot be read, or names packs that are not there."""
    index = report.inspection.multi_pack_index if isinstance(report.inspection, Inspection) else None
    return isinstance(index, Unreadable) or (isinstance(index, MultiPackIndexFacts) and index.missing_pack_count > 0)
