"""What each task does, one sentence for people. Pure."""

from collections.abc import Mapping
from typing import Final

from gitdash.model.task import Task

MEANINGS: Final[Mapping[Task, str]] = {
    Task.SWEEP: "Removes what stopped commands left, old enough and open in no process.",
    Task.INDEX_PACK: "Makes the index of packs that have none.",
    Task.ORPHAN_INDEXES: "Removes index files whose pack is gone.",
    Task.LOOSE_OBJECTS: "Packs loose objects and removes loose copies of what is packed here.",
    Task.INCREMENTAL_REPACK: "Writes the multi-pack-index, expires packs that it does not need, joins small packs.",
    Task.GEOMETRIC_REPACK: "Joins packs until each has twice the objects of the next smaller.",
    Task.FULL_REPACK: "Packs everything into one pack, what is unreachable into a cruft pack that never expires.",
    Task.DEDUPLICATE: "Repacks a member without what its lender has, after a check of the lender.",
    Task.BITMAP: "Writes a pack bitmap with hash cache and lookup table.",
    Task.MULTI_PACK_BITMAP: "Writes a multi-pack-index with a bitmap.",
    Task.MULTI_PACK_INDEX: "Writes the multi-pack-index and verifies it.",
    Task.COMMIT_GRAPH: "Writes the commit-graph with changed-path filters and verifies it.",
    Task.PACK_REFS: "Packs loose references, or compacts reftables.",
    Task.VERIFY: "Checks that everything reachable is there; changes nothing.",
    Task.UNLINK: "Leaves the lenders: links their objects here, verifies, and keeps a backup of the alternates file.",
    Task.RECLAIM: "Drops what is unreachable and older than two weeks: the only task that drops objects.",
}
"""In the order in which they are offered: what drops objects last."""
