"""What the files below a git directory take: a fact like the others of `inspection`."""

import msgspec


class LinkedFile(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A file that has links elsewhere, too; equal device and inode are the same file."""

    device: int
    inode: int
    bytes: int


class DiskFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """All files below the git directory (for a linked worktree: below its own git directory only)."""

    bytes: int
    """Sum of st_size; a file with several links below it counts once."""
    allocated_bytes: int
    """Sum of st_blocks * 512."""
    file_count: int
    objects_bytes: int
    """The part below `objects`."""
    modules_bytes: int = 0
    """The part below `modules` (submodules)."""
    worktrees_bytes: int = 0
    logs_bytes: int = 0
    lfs_bytes: int = 0
    linked_bytes: int = 0
    """The part in files that have links elsewhere, too, as a clone of a local path makes them: deleting this repository
    frees none of those."""
    linked_files: tuple[LinkedFile, ...] = ()
    """The largest of these files, so that sums over repositories count each once."""
    incomplete: bool = False
    """Some folder could not be read: the sums are lower bounds."""
