"""What a git directory occupies.

Source: lstat(2), inode(7) for st_size, st_blocks and st_nlink. It is the sum of st_size of all files below, a file with
several links once; folders themselves are not counted, so that a repository weighs the same on every file system.
Uses what the walk and the pass over the shards have collected, and asks nothing again.
"""

from gitdash.inspection.listing import Listing
from gitdash.model.disk_facts import DiskFacts
from gitdash.units import sum_bytes


def disk_facts(listing: Listing, *, incomplete: bool) -> DiskFacts:
    """Return the sums of a listing whose shards have been scanned."""
    sums = listing.total()
    parts = sums.bytes_by_part
    return DiskFacts(
        bytes=sum_bytes(parts.values()),
        allocated_bytes=sums.allocated_bytes,
        file_count=sums.file_count,
        objects_bytes=parts.get(b"objects", 0),
        modules_bytes=parts.get(b"modules", 0),
        worktrees_bytes=parts.get(b"worktrees", 0),
        logs_bytes=parts.get(b"logs", 0),
        lfs_bytes=parts.get(b"lfs", 0),
        linked_bytes=sums.linked_bytes,
        linked_files=sums.linked_files(),
        incomplete=incomplete or bool(listing.unreadable),
    )
