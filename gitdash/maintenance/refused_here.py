"""Refusals because of what a repository is: whom it lends to, whom it borrows from, what is missing or kept in it.

Pure. Sources stand in each record.
"""

from typing import Final

from gitdash.assessment.sentences import listed
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.heuristics import (
    config_of,
    has_kept_pack,
    is_member,
    is_partial,
    is_shallow,
    object_count,
    own_bitmap_names,
    packs_of,
)
from gitdash.maintenance.kept_files import kept_sentences
from gitdash.maintenance.lending import lending_hints
from gitdash.maintenance.refusal_rule import ALL, PACKING, REWRITING, JudgedRule, RefusalRule
from gitdash.maintenance.tasks import ALLOWED_IN_LENDER, steps_of
from gitdash.model.inspection import AlternatesFacts, Inspection, MultiPackIndexFacts
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task
from gitdash.units import printable_path

_WITHOUT_LENDER: Final = frozenset(
    {Task.SWEEP, Task.ORPHAN_INDEXES, Task.INDEX_PACK, Task.MULTI_PACK_INDEX, Task.VERIFY}
)
"""They look at nothing that a lender holds, or find out whether it is there."""
_IN_PARTIAL_CLONE: Final = _WITHOUT_LENDER | {Task.COMMIT_GRAPH, Task.PACK_REFS, Task.LOOSE_OBJECTS}
_WALKING: Final = REWRITING | {Task.GEOMETRIC_REPACK, Task.MULTI_PACK_BITMAP, Task.UNLINK, Task.COMMIT_GRAPH}
"""They start from references: what a broken one hides would count as unreachable."""


_PROMISORS_KEPT_SINCE: Final = (2, 55)
_COPIES_LENT: Final = "it borrows objects, and would get a copy of everything that it needs of the lenders'"
_NOT_IN_MEMBER: Final = {
    Task.GEOMETRIC_REPACK: "it borrows objects, and git would join the lenders' packs into its own, and remove own"
    " loose copies of what they have; incremental-repack joins packs and keeps them",
    Task.FULL_REPACK: f"{_COPIES_LENT}; deduplicate packs what is its own, and checks the lenders before",
    Task.MULTI_PACK_BITMAP: "a bitmap must name all that is reachable, and some of it is the lender's; the bitmap of a"
    " lender serves here, too",
    Task.RECLAIM: f"{_COPIES_LENT}; unlink first",
}
"""Tasks that are refused in members: what their commands do there, and what to do instead."""


def precious_objects(report: RepositoryReport, _facts: ActionFacts, _task: Task) -> str | None:
    """Refuse what git itself would refuse, or should."""
    config = config_of(report)
    is_precious = config is not None and config.precious_objects
    return "extensions.preciousObjects forbids to delete any object or pack" if is_precious else None


def lender_missing(report: RepositoryReport, _facts: ActionFacts, _task: Task) -> str | None:
    """Refuse while objects may be missing that are only lent."""
    alternates = report.inspection.alternates if isinstance(report.inspection, Inspection) else None
    if isinstance(alternates, Unreadable):
        return f"its lenders cannot be read: {alternates.reason}"
    if not isinstance(alternates, AlternatesFacts):
        return None
    lost = [lender for lender in alternates.alternates if lender.problem or not lender.exists]
    if lost:
        return f"its lender {printable_path(lost[0].path)} cannot be used: {lost[0].problem or 'missing'}"
    return alternates.incomplete


def partial_clone(report: RepositoryReport, facts: ActionFacts, task: Task) -> str | None:
    """Refuse what dies where objects are missing on purpose, or takes the mark from packs of a promisor."""
    if not is_partial(report) or task in _IN_PARTIAL_CLONE:
        return None
    if task is Task.GEOMETRIC_REPACK and facts.git_is_at_least(*_PROMISORS_KEPT_SINCE):
        return None
    newer = f" before git {'.'.join(map(str, _PROMISORS_KEPT_SINCE))}" if task is Task.GEOMETRIC_REPACK else ""
    return f"objects are missing on purpose, which {task.value} does not cope with{newer}"


def shallow(report: RepositoryReport, _facts: ActionFacts, _task: Task) -> str | None:
    """Refuse what git does not do, or would do wrongly, where the history is cut."""
    return "its history is cut (shallow)" if is_shallow(report) else None


def worktree_references(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse to drop what a reference needs that git does not look at."""
    name = facts.worktree_with_references
    return None if name is None else f"its work tree {name} has references of its own, which git prune does not look at"


def lends_objects(report: RepositoryReport, facts: ActionFacts, task: Task) -> str | None:
    """Refuse what is not on the list of what is safe for borrowers, known and unknown."""
    if task in ALLOWED_IN_LENDER:
        return None
    hints, remembered = lending_hints(report), facts.remembered_borrower
    if hints:
        return f"others may borrow from it: {listed(hints)}" + (f"; {remembered}" if remembered is not None else "")
    if remembered is not None:
        return f"others may need its objects: {remembered}"
    is_unknown = task is Task.RECLAIM and facts.why_borrowers_are_unknown is not None
    return f"others may borrow from it: {facts.why_borrowers_are_unknown}" if is_unknown else None


def borrows_objects(report: RepositoryReport, _facts: ActionFacts, task: Task) -> str | None:
    """Refuse what removes own copies of lent objects, or copies them, unasked, and bitmaps that cannot be complete."""
    return _NOT_IN_MEMBER[task] if is_member(report) else None


def no_lender(report: RepositoryReport, _facts: ActionFacts, _task: Task) -> str | None:
    """Refuse what only a member can do."""
    return None if is_member(report) else "it borrows from no other repository"


def unreferenced_lender(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse to give up copies where it is plain that no reference of the lender keeps its own."""
    return facts.objection_to_lender


def broken_references(report: RepositoryReport, facts: ActionFacts, task: Task) -> str | None:
    """Refuse to start from references that lead nowhere."""
    if facts.broken_references is not None:
        return facts.broken_references
    references = report.inspection.references if isinstance(report.inspection, Inspection) else None
    if references is None or isinstance(references, Unreadable):
        return None
    if task is Task.RECLAIM and not references.loose_count and references.packed_count == 0:
        return "it has no references, so that everything in it would go"
    if references.empty_loose_names:
        return f"empty references: {listed(references.empty_loose_names, of_count=references.empty_loose_count)}"
    return "tables of references are missing" if references.reftable_missing_count else None


def multi_pack_index_chain(report: RepositoryReport, _facts: ActionFacts, _task: Task) -> str | None:
    """Refuse what git cannot do with an incremental multi-pack-index."""
    index = report.inspection.multi_pack_index if isinstance(report.inspection, Inspection) else None
    is_chain = isinstance(index, MultiPackIndexFacts) and index.layer_count > 1
    return "its multi-pack-index is a chain; geometric-repack makes one of it" if is_chain else None


def kept_packs(report: RepositoryReport, _facts: ActionFacts, _task: Task) -> str | None:
    """Refuse a bitmap of one pack where other packs must stay; git would write none and end well."""
    if is_member(report) or not has_kept_pack(report):
        return None
    return "packs with .keep stay, so no one pack holds everything; multi-pack-bitmap covers them"


def nothing_to_do(report: RepositoryReport, facts: ActionFacts, task: Task) -> str | None:
    """Refuse what has nothing to work on, which git would call an error."""
    if task is Task.SWEEP:
        return _nothing_to_sweep(facts)
    if task is Task.RECLAIM:
        # where nobody counted, the act itself finds out
        is_empty = facts.droppable is not None and not facts.droppable.count
        return "nothing here is unreachable for two weeks" if is_empty else None
    return _nothing_to_pack(report, facts, task)


def _nothing_to_pack(report: RepositoryReport, facts: ActionFacts, task: Task) -> str | None:
    packs = packs_of(report)
    if task in {Task.MULTI_PACK_INDEX, Task.INCREMENTAL_REPACK} and not any(pack.has_index for pack in packs):
        return "there are no packs"
    if task is Task.MULTI_PACK_BITMAP and not object_count(report):
        return "there are no objects"
    if task is Task.INDEX_PACK and not steps_of(task, report, facts):
        return "no pack lacks an index whose name could be given to git"
    if task is Task.BITMAP and is_member(report):
        return _no_bitmap_to_remove(report)
    return None


def _nothing_to_sweep(facts: ActionFacts) -> str | None:
    """Where nobody looked, the act itself looks."""
    if facts.stale_files is None or any(file.kept_because is None for file in facts.stale_files):
        return None
    kept = kept_sentences(facts.stale_files)
    return f"nothing may go: {listed(kept)}" if kept else "no command left anything behind"


def _no_bitmap_to_remove(report: RepositoryReport) -> str | None:
    """In a member the task removes bitmaps, which is right only if a lender's serves instead."""
    if report.lender_bitmap is None:
        return "it borrows objects, so a bitmap cannot be complete here; one of its lender would serve here, too"
    return None if own_bitmap_names(report) else "it has no bitmap, and that of its lender serves here, too"


RULES: Final[tuple[JudgedRule, ...]] = (
    (
        RefusalRule(
            id="precious-objects",
            tasks=PACKING,
            meaning="its keeper forbade to delete objects",
            source="extensions.preciousObjects",
        ),
        precious_objects,
    ),
    (
        RefusalRule(
            id="lender-missing",
            tasks=ALL - _WITHOUT_LENDER,
            meaning="half of the objects are not there: git dies, or keeps too little",
            source="gitrepository-layout(5) alternates",
        ),
        lender_missing,
    ),
    (
        RefusalRule(
            id="partial-clone",
            tasks=ALL - _IN_PARTIAL_CLONE,
            meaning="repacks die at a missing object, or join packs of a promisor"
            " with others, after which a missing object counts as lost",
            source="git-clone(1) --filter; tried with git 2.39 to 2.55",
        ),
        partial_clone,
    ),
    (
        RefusalRule(
            id="shallow",
            tasks=frozenset({Task.BITMAP, Task.MULTI_PACK_BITMAP, Task.COMMIT_GRAPH, Task.RECLAIM}),
            meaning="git writes neither bitmap nor commit-graph, and what the cut hides counts as unreachable",
            source="gitrepository-layout(5) shallow",
        ),
        shallow,
    ),
    (
        RefusalRule(
            id="worktree-references",
            tasks=frozenset({Task.RECLAIM}),
            meaning="git prune drops what only `refs/worktree` and the like of a linked work tree reach",
            source="git-worktree(1), REFS; tried with git 2.39 to 2.55",
        ),
        worktree_references,
    ),
    (
        RefusalRule(
            id="lends-objects",
            tasks=ALL - ALLOWED_IN_LENDER,
            meaning="a borrower may need what nothing here reaches",
            source="known borrowers, those that are away included, and whatever hints at others; reclaim searches the"
            " folders around it once more",
        ),
        lends_objects,
    ),
    (
        RefusalRule(
            id="borrows-objects",
            tasks=frozenset(_NOT_IN_MEMBER),
            meaning="without -l all that is borrowed is copied here, and prune-packed removes own loose copies of what"
            " a lender has, whose own may go later",
            source="git-repack(1) -a, -l and -d; tried with git 2.39 to 2.55",
        ),
        borrows_objects,
    ),
    (
        RefusalRule(
            id="no-lender",
            tasks=frozenset({Task.DEDUPLICATE, Task.UNLINK}),
            meaning="there is nothing to do",
            source="objects/info/alternates",
        ),
        no_lender,
    ),
    (
        RefusalRule(
            id="unreferenced-lender",
            tasks=frozenset({Task.DEDUPLICATE}),
            meaning="what no reference of a lender reaches its next gc drops, and the copy here may be the last one",
            source="git-repack(1) -l; a lender without references, with grafts, or that is no repository",
        ),
        unreferenced_lender,
    ),
    (
        RefusalRule(
            id="broken-references",
            tasks=_WALKING,
            meaning="what a broken reference hides counts as unreachable",
            source="git rev-list --all; git's own test t5312",
        ),
        broken_references,
    ),
    (
        RefusalRule(
            id="multi-pack-index-chain",
            tasks=frozenset({Task.INCREMENTAL_REPACK}),
            meaning="git refuses",
            source="git-multi-pack-index(1) expire and repack",
        ),
        multi_pack_index_chain,
    ),
    (
        RefusalRule(
            id="kept-packs",
            tasks=frozenset({Task.BITMAP}),
            meaning="git writes no bitmap and ends well",
            source="git-repack(1) --write-bitmap-index",
        ),
        kept_packs,
    ),
    (
        RefusalRule(
            id="nothing-to-do",
            tasks=frozenset(
                {
                    Task.MULTI_PACK_INDEX,
                    Task.INCREMENTAL_REPACK,
                    Task.MULTI_PACK_BITMAP,
                    Task.INDEX_PACK,
                    Task.BITMAP,
                    Task.SWEEP,
                    Task.RECLAIM,
                }
            ),
            meaning="git calls it an error, or nothing would change",
            source="git-multi-pack-index(1), git-index-pack(1), ages of what is left over and of what is unreachable",
        ),
        nothing_to_do,
    ),
)
"""What the repository must be, or must not."""
