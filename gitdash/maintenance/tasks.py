"""What each task consists of: the exact git commands, and the acts of gitdash's own, in order.

Sources: git-repack(1), git-pack-objects(1), git-multi-pack-index(1), git-commit-graph(1), git-fsck(1), git-prune(1);
Gitaly's housekeeping and the steps of VFS for Git; each tried with git 2.39.5, 2.47.3 and 2.55.0, with packed, loose,
unreachable and borrowed objects. Pure: whether a task may run, `refusals` says.

Two things decide how a command is put. Nothing but RECLAIM drops an object: repacks keep what is unreachable, by a
cruft pack without expiry or, in a lender, by `--keep-unreachable`. And in a member `prune-packed`, which every
`repack -d` runs, and `--local` both remove own copies of what a lender has: only DEDUPLICATE does that, after the
lenders are checked. So in a member loose objects are packed as elsewhere, and what is then removed are loose copies of
what *own* packs have, which no git command does, and so gitdash does it itself.
"""

from collections.abc import Callable
from typing import Final

from gitdash.maintenance import index_steps, packing_steps
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.steps import LEAVE_LENDERS, LINK_LENT_OBJECTS, SWEEP, act_step, verification
from gitdash.model.plan import Step
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task

ALLOWED_IN_LENDER: Final = frozenset(
    {
        Task.LOOSE_OBJECTS,
        Task.INCREMENTAL_REPACK,
        Task.GEOMETRIC_REPACK,
        Task.FULL_REPACK,
        Task.BITMAP,
        Task.MULTI_PACK_BITMAP,
        Task.MULTI_PACK_INDEX,
        Task.COMMIT_GRAPH,
        Task.PACK_REFS,
        Task.INDEX_PACK,
        Task.SWEEP,
        Task.ORPHAN_INDEXES,
        Task.VERIFY,
    }
)
"""What may be done to a repository from which others borrow: all that keeps every object where borrowers find it."""


def steps_of(task: Task, report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """Return what a task does to a repository, in order; git is called with the common directory as `--git-dir`."""
    return _STEPS[task](report, facts)


def _sweep(_report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """No shell can see which process has a file open, so none should do it."""
    return (act_step(SWEEP),)


def _verify(_report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    return (verification(),)


def _unlink(_report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    return (
        act_step(LINK_LENT_OBJECTS, replaces_packs=True),
        act_step(LEAVE_LENDERS, replaces_packs=True),
        verification(),
    )


_STEPS: Final[dict[Task, Callable[[RepositoryReport, ActionFacts], tuple[Step, ...]]]] = {
    Task.LOOSE_OBJECTS: packing_steps.loose_objects,
    Task.INCREMENTAL_REPACK: index_steps.incremental_repack,
    Task.GEOMETRIC_REPACK: packing_steps.geometric_repack,
    Task.FULL_REPACK: packing_steps.full_repack,
    Task.DEDUPLICATE: packing_steps.deduplicate,
    Task.BITMAP: packing_steps.bitmap,
    Task.MULTI_PACK_BITMAP: index_steps.multi_pack_bitmap,
    Task.MULTI_PACK_INDEX: index_steps.multi_pack_index,
    Task.COMMIT_GRAPH: index_steps.commit_graph,
    Task.PACK_REFS: index_steps.pack_refs,
    Task.INDEX_PACK: index_steps.index_pack,
    Task.SWEEP: _sweep,
    Task.ORPHAN_INDEXES: index_steps.orphan_indexes,
    Task.VERIFY: _verify,
    Task.UNLINK: _unlink,
    Task.RECLAIM: packing_steps.reclaim,
}
