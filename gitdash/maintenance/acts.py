"""Which function does which act of gitdash's own, by the names that steps use."""

from collections.abc import Callable
from typing import Final

from gitdash.maintenance import removing, tasks
from gitdash.maintenance.deduplicating import check_lenders
from gitdash.maintenance.sweeping import sweep
from gitdash.maintenance.unlinking import leave_lenders, link_lent_objects
from gitdash.maintenance.work import Work

ACT_FUNCTIONS: Final[dict[str, Callable[[Work], None]]] = {
    tasks.CHECK_LENDERS: check_lenders,
    tasks.LEAVE_LENDERS: leave_lenders,
    tasks.LINK_LENT_OBJECTS: link_lent_objects,
    tasks.REMOVE_BITMAPS: removing.remove_bitmaps,
    tasks.REMOVE_COMMIT_GRAPH: removing.remove_commit_graph,
    tasks.REMOVE_MULTI_PACK_INDEX: removing.remove_multi_pack_index,
    tasks.REMOVE_ORPHAN_INDEXES: removing.remove_orphan_indexes,
    tasks.REMOVE_PACKED_LOOSE: removing.remove_packed_loose,
    tasks.SWEEP: sweep,
}
"""Each gets the task under way, and raises a GitdashError or OSError where it does not do its act."""
