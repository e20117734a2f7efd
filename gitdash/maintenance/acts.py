"""Which function does which act of gitdash's own, by the names that steps use."""

from collections.abc import Callable
from typing import Final

from gitdash.maintenance import removing, steps
from gitdash.maintenance.copies import check_copies
from gitdash.maintenance.deduplicating import check_lenders
from gitdash.maintenance.giving_up import give_up_lent_copies
from gitdash.maintenance.sweeping import sweep
from gitdash.maintenance.unlinking import leave_lenders, link_lent_objects
from gitdash.maintenance.work import Work

ACT_FUNCTIONS: Final[dict[str, Callable[[Work], None]]] = {
    steps.CHECK_COPIES: check_copies,
    steps.CHECK_LENDERS: check_lenders,
    steps.GIVE_UP_LENT_COPIES: give_up_lent_copies,
    steps.LEAVE_LENDERS: leave_lenders,
    steps.LINK_LENT_OBJECTS: link_lent_objects,
    steps.REMOVE_BITMAPS: removing.remove_bitmaps,
    steps.REMOVE_COMMIT_GRAPH: removing.remove_commit_graph,
    steps.REMOVE_MULTI_PACK_INDEX: removing.remove_multi_pack_index,
    steps.REMOVE_ORPHAN_INDEXES: removing.remove_orphan_indexes,
    steps.REMOVE_PACK_BITMAPS: removing.remove_pack_bitmaps,
    steps.REMOVE_PACKED_LOOSE: removing.remove_packed_loose,
    steps.SWEEP: sweep,
}
"""Each gets the task under way, and raises a GitdashError or OSError where it does not do its act."""
