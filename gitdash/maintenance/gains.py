"""What a task is good for, in numbers, and the free space that it needs.

Pure. What a pack will weigh nobody knows before it is written; needs are upper bounds.
"""

from collections.abc import Callable, Sequence
from typing import Final

from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.heuristics import (
    batch_bytes,
    is_member,
    object_count,
    own_bitmap_names,
    packs_of,
    replaces_commit_graph,
)
from gitdash.measurement.geometric import geometric_plan
from gitdash.model.inspection import Inspection, LooseFacts, PackFacts, ReferenceFacts
from gitdash.model.report import RepositoryReport
from gitdash.model.sizes import ExclusiveSizes
from gitdash.model.task import Task
from gitdash.units import counted, human_bytes, sum_bytes

REWRITE_FACTOR: Final = 2
"""Free space for a rewrite, in object stores: the new packs stand beside the old ones, and git's own files as well."""
_INDEX_BYTES_PER_OBJECT: Final = 64
"""An index has 32 for SHA-1 and 44 for SHA-256, a multi-pack-index with reverse index and bitmap a little more."""
_REFERENCE_BYTES: Final = 256
"""A line of packed-refs, or a row of a reftable, generously."""
_TWICE_STORE: Final = frozenset({Task.FULL_REPACK, Task.BITMAP, Task.DEDUPLICATE, Task.RECLAIM})


def store_bytes(report: RepositoryReport) -> int:
    """Return what packs with their indexes and loose objects take."""
    packs, loose = _packs(report), _loose(report)
    return sum_bytes([packs.bytes if packs else 0, packs.index_bytes if packs else 0, loose.bytes if loose else 0])


def needed_bytes(task: Task, report: RepositoryReport, facts: ActionFacts) -> int:
    """Return the free space that a task needs; 0 if it writes nothing of note."""
    if task in _TWICE_STORE and not (task is Task.BITMAP and is_member(report)):
        return REWRITE_FACTOR * store_bytes(report)
    loose, references = _loose(report), _references(report)
    loose_bytes = (loose.bytes + _INDEX_BYTES_PER_OBJECT * loose.count) if loose else 0
    index_bytes = _INDEX_BYTES_PER_OBJECT * object_count(report)
    needs = {
        Task.LOOSE_OBJECTS: loose_bytes,
        Task.INCREMENTAL_REPACK: batched_bytes(report) + index_bytes,
        Task.GEOMETRIC_REPACK: REWRITE_FACTOR * geometric_plan(packs_of(report)).joined_bytes
        + loose_bytes
        + index_bytes,
        Task.MULTI_PACK_BITMAP: loose_bytes + 2 * index_bytes,
        Task.MULTI_PACK_INDEX: index_bytes,
        Task.COMMIT_GRAPH: index_bytes,
        Task.UNLINK: facts.lent_bytes_elsewhere,
        Task.PACK_REFS: (
            2 * references.packed_bytes + _REFERENCE_BYTES * references.loose_count + sum(references.reftable_bytes)
            if references
            else 0
        ),
        Task.INDEX_PACK: sum_bytes(pack.bytes for pack in packs_of(report) if not pack.has_index),
    }
    return needs.get(task, 0)


def batched_bytes(report: RepositoryReport) -> int:
    """Return the bytes of the packs that an incremental repack may join."""
    packs = packs_of(report)
    batch = batch_bytes(packs)
    return sum_bytes(pack.bytes for pack in packs if pack.bytes < batch)


def has_no_gain(task: Task, report: RepositoryReport) -> bool:
    """Return whether it is known that a task would free nothing, where that is all that it is for."""
    sizes = report.sizes.exclusive
    return task is Task.DEDUPLICATE and isinstance(sizes, ExclusiveSizes) and not sizes.duplicate_bytes


def gain_after_unlink(task: Task) -> str | None:
    """Return what is expected of a task that comes after UNLINK, where that is something else."""
    return "nothing is to be gained: unlink, which comes first, leaves no lender" if task is Task.DEDUPLICATE else None


def gain(task: Task, report: RepositoryReport, facts: ActionFacts) -> str:
    """Return what is expected of a task, one clause for people."""
    if task is Task.SWEEP:
        return _sweep_gain(facts)
    if task is Task.RECLAIM:
        return _reclaim_gain(facts)
    if task is Task.BITMAP and is_member(report):
        return f"removes {counted(len(own_bitmap_names(report)), 'bitmap')}, so that git uses the lender's"
    special = _GAINS.get(task)
    if special is not None:
        return special(report)
    return _PLAIN_GAINS[task].format(objects=counted(object_count(report), "object"))


def _loose_gain(report: RepositoryReport) -> str:
    return f"packs {_loose_text(report)}"


def _loose_text(report: RepositoryReport) -> str:
    loose = _loose(report)
    count, size_bytes = (loose.count, loose.bytes) if loose else (0, 0)
    return f"{counted(count, 'loose object')} of {human_bytes(size_bytes)}"


def _incremental_gain(report: RepositoryReport) -> str:
    packs = packs_of(report)
    small_count = sum(pack.bytes < batch_bytes(packs) for pack in packs)
    may_join = f"may join {small_count} of {human_bytes(batched_bytes(report))}"
    return f"one index over {counted(len(packs), 'pack')}; {may_join}"


def _geometric_gain(report: RepositoryReport) -> str:
    joined = geometric_plan(packs_of(report))
    how_many = f"{len(joined.joined)} of {counted(len(packs_of(report)), 'pack')}"
    return f"joins {how_many} ({human_bytes(joined.joined_bytes)}){_and_loose(report)}"


def _and_loose(report: RepositoryReport) -> str:
    loose = _loose(report)
    return "" if loose is not None and not loose.count else f" and {_loose_text(report)}"


def _full_gain(report: RepositoryReport) -> str:
    packs, loose = packs_of(report), _and_loose(report)
    if len(packs) == 1 and not loose:
        return "1 pack is written anew, and what is unreachable stays"
    return f"{counted(len(packs), 'pack')}{loose} become one pack, and what is unreachable stays"


def _deduplication_gain(report: RepositoryReport) -> str:
    sizes = report.sizes.exclusive
    if has_no_gain(Task.DEDUPLICATE, report):
        return "nothing is to be gained: the lenders have nothing of what is here"
    if isinstance(sizes, ExclusiveSizes):
        return f"frees up to {human_bytes(sizes.duplicate_bytes)} in {counted(sizes.duplicate_count, 'object')}"
    return "frees what the lenders have, too; how much is not measured"


def _orphan_gain(report: RepositoryReport) -> str:
    packs = _packs(report)
    return f"removes {counted(len(packs.orphan_index_names) if packs else 0, 'index file')} without a pack"


def _graph_gain(report: RepositoryReport) -> str:
    """A graph that is written anew has all that the references reach, whether a lender has a graph or not."""
    graph = report.inspection.commit_graph if isinstance(report.inspection, Inspection) else None
    has_lent = is_member(report) and replaces_commit_graph(graph)
    beside = "; writes the whole history, the lender's commits among it" if has_lent else ""
    return f"walks through the history without reading commits{beside}"


def _references_gain(report: RepositoryReport) -> str:
    references = _references(report)
    count = references.loose_count if references else 0
    return f"packs {counted(count, 'loose reference')}" if count else "compacts how references are stored"


def _sweep_gain(facts: ActionFacts) -> str:
    if facts.stale_files is None:
        return "removes what stopped commands left"
    stale = [file for file in facts.stale_files if file.kept_because is None]
    locks = [file for file in stale if file.path.endswith((".lock", "packed-refs.new"))]
    marks = [file for file in stale if file.path.endswith(".keep")]
    temporary_count = len(stale) - len(locks) - len(marks)
    size = human_bytes(sum_bytes(file.bytes for file in stale))
    there = (
        (temporary_count, f"{counted(temporary_count, 'temporary file')} of {size}"),
        (len(marks), counted(len(marks), "mark of a transfer", "marks of transfers")),
        (len(locks), counted(len(locks), "lock")),
    )
    return f"removes {', '.join(text for count, text in there if count) or 'nothing'}"


def _reclaim_gain(facts: ActionFacts) -> str:
    # who is asked for the name knows what of the machine was not searched
    looked = f"; {looked_below(facts.searched_for_borrowers)}" if facts.searched_for_borrowers else ""
    return _dropped_gain(facts) + looked


def looked_below(folders: Sequence[str]) -> str:
    """Return where borrowers were looked for; whoever borrows elsewhere is known only if a scan has seen it."""
    return f"looked for borrowers below {', '.join(folders)}"


def _dropped_gain(facts: ActionFacts) -> str:
    found = facts.droppable
    if found is None:
        return "drops for good what is unreachable for two weeks; how much that is has not been counted"
    if not found.count:
        return "nothing is to be gained: nothing here is unreachable for two weeks"
    most = "" if found.is_exact else "at most "
    what = f"{most}{counted(found.count, 'object')} of {human_bytes(found.bytes)}"
    return f"drops for good {what}, unreachable for two weeks; each that went is told by its id"


_GAINS: Final[dict[Task, Callable[[RepositoryReport], str]]] = {
    Task.LOOSE_OBJECTS: _loose_gain,
    Task.INCREMENTAL_REPACK: _incremental_gain,
    Task.GEOMETRIC_REPACK: _geometric_gain,
    Task.FULL_REPACK: _full_gain,
    Task.DEDUPLICATE: _deduplication_gain,
    Task.ORPHAN_INDEXES: _orphan_gain,
    Task.PACK_REFS: _references_gain,
    Task.COMMIT_GRAPH: _graph_gain,
}
_PLAIN_GAINS: Final = {
    Task.BITMAP: "answers clones, fetches and size queries over {objects} without a walk",
    Task.MULTI_PACK_BITMAP: "answers clones, fetches and size queries over {objects} without a walk",
    Task.MULTI_PACK_INDEX: "one look-up instead of one for each pack, for {objects}",
    Task.INDEX_PACK: "makes the objects of packs visible that have no index",
    Task.VERIFY: "says whether everything reachable is there; changes nothing",
    Task.UNLINK: "depends on no lender any more; objects on the same file system take no more space until the lender"
    " repacks",
}


def _packs(report: RepositoryReport) -> PackFacts | None:
    packs = report.inspection.packs if isinstance(report.inspection, Inspection) else None
    return packs if isinstance(packs, PackFacts) else None


def _loose(report: RepositoryReport) -> LooseFacts | None:
    loose = report.inspection.loose if isinstance(report.inspection, Inspection) else None
    return loose if isinstance(loose, LooseFacts) else None


def _references(report: RepositoryReport) -> ReferenceFacts | None:
    references = report.inspection.references if isinstance(report.inspection, Inspection) else None
    return references if isinstance(references, ReferenceFacts) else None
