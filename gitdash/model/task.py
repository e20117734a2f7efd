"""The kinds of maintenance, by the names that findings, the command line and the ledger use."""

import enum


class Task(enum.StrEnum):
    """One kind of maintenance. None but RECLAIM ever drops an object."""

    LOOSE_OBJECTS = "loose-objects"
    """Packs loose objects, unreachable ones too, and removes loose copies of what is packed here."""
    INCREMENTAL_REPACK = "incremental-repack"
    """Writes the multi-pack-index, expires packs that it does not need, and merges small packs by the batch rule."""
    GEOMETRIC_REPACK = "geometric-repack"
    """Merges packs until each has twice the objects of the next smaller."""
    FULL_REPACK = "full-repack"
    """Packs everything into one pack, what is unreachable into a cruft pack that never expires."""
    DEDUPLICATE = "deduplicate"
    """Repacks a member without what its lender has."""
    BITMAP = "bitmap"
    """Writes a pack bitmap with hash cache and lookup table, and pseudo-merges where they help."""
    MULTI_PACK_BITMAP = "multi-pack-bitmap"
    """Writes a multi-pack-index with a bitmap."""
    MULTI_PACK_INDEX = "multi-pack-index"
    """Writes the multi-pack-index and verifies it; one that does not verify is removed and written anew."""
    COMMIT_GRAPH = "commit-graph"
    """Writes the commit-graph with changed-path filters and verifies it, with the same recovery."""
    PACK_REFS = "pack-refs"
    """Packs loose references, or compacts reftables."""
    INDEX_PACK = "index-pack"
    """Makes the index of a pack that has none."""
    SWEEP = "sweep"
    """Removes what stopped commands left, older than its age, ours, and open in no process."""
    ORPHAN_INDEXES = "orphan-indexes"
    """Removes index files whose pack is gone."""
    VERIFY = "verify"
    """Checks that everything reachable is there; changes nothing."""
    UNLINK = "unlink"
    """Leaves the lenders: links their objects here, verifies, and switches, with a backup of the alternates file."""
    RECLAIM = "reclaim"
    """Drops what is unreachable and older than a grace period. Never part of a plan that nobody asked for."""

    @property
    def changes_repository(self) -> bool:
        """Whether it writes anything."""
        return self is not Task.VERIFY
