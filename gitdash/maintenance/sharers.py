"""Who else needs a repository's objects: who borrows them, whose `objects` leads to them, or a mount of its folders.

Nothing in a store says so. What is known is looked at by device and inode, after links are followed; bind mounts stand
in the table of mounts, whose fourth field says which folder of a file system is to be seen there. One that is mounted
in another container only is not seen here. Sources: stat(2), proc_pid_mountinfo(5). Judges nothing.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from gitdash.inspection.alternates import inspect_alternates
from gitdash.inspection.mounts import Mount, is_below, mount_of, read_mounts
from gitdash.inspection.reading import Problems
from gitdash.model.repository import Unreadable
from gitdash.units import printable_path

_SHARDS: Final = tuple(b"%02x" % number for number in range(256))
_Identity = tuple[int, int]
"""Device and inode."""


def sharer_of(common_dir: bytes, others: Iterable[bytes]) -> str | None:
    """Return which of some repositories, given by their paths, has objects of this one or borrows them, one clause.

    A repository that is this one under another name has the same references, and so needs nothing else. None if none
    has or borrows any.
    """
    own = own_identities(common_dir + b"/objects")
    here = _identity(common_dir)
    # many borrow from one
    reached_from = cache(lambda path: frozenset(reached(path)))
    for path in others:
        for folder in (path, path + b"/.git"):
            if _identity(folder) == here:
                continue
            if not own.isdisjoint(reached(folder + b"/objects")):
                return f"{printable_path(path)} has the same objects"
            borrows = _borrows(folder + b"/objects", lambda path: not own.isdisjoint(reached_from(path)))
            if borrows is not None:
                return f"{printable_path(path)} {borrows}"
    return None


def _borrows(objects_dir: bytes, leads_here: Callable[[bytes], bool]) -> str | None:
    """Return how a repository borrows from a store, or may, for not all of its lenders are known; None if it cannot."""
    if not os.path.lexists(objects_dir + b"/info/alternates"):
        return None
    found = inspect_alternates(objects_dir, Problems())
    if isinstance(found, Unreadable):
        return f"may borrow from it, for its alternates cannot be read: {found.reason}"
    if found is None:
        return None
    if any(leads_here(lender.path) for lender in found.alternates if lender.exists):
        return "borrows from it"
    if found.incomplete is not None:
        return f"may borrow from it, for not all of its lenders are known: {found.incomplete}"
    return None


def own_identities(objects_dir: bytes) -> frozenset[_Identity]:
    """Return what a store consists of that another may lead to."""
    paths = [objects_dir, *(objects_dir + b"/" + name for name in (b"pack", *_SHARDS))]
    paths += [entry.path for entry in _entries(objects_dir + b"/pack")]
    return frozenset(found for path in paths if (found := _identity(path)) is not None)


def reached(objects_dir: bytes) -> Iterator[_Identity]:
    """Yield what a store consists of that may be another's: its folders, and what it has as a link."""
    paths = [objects_dir, objects_dir + b"/pack"]
    paths += [
        entry.path
        for folder in (objects_dir, objects_dir + b"/pack")
        for entry in _entries(folder)
        if entry.is_symlink()
    ]
    yield from (found for path in paths if (found := _identity(path)) is not None)


def _entries(folder: bytes) -> list["os.DirEntry[bytes]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _identity(path: bytes) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def mounted_part(common_dir: bytes, mounts: Sequence[Mount] | None = None) -> str | None:
    """Return how a part of an object store is to be seen in two places by mounts, one clause; None if it is not."""
    known = read_mounts() if mounts is None else mounts
    objects_dir = os.path.realpath(common_dir + b"/objects")
    inside = [mount for mount in known if is_below(mount.mount_point, objects_dir)]
    if inside:
        return f"{printable_path(inside[0].mount_point)} is a mount"
    holder = mount_of(objects_dir, known)
    if holder is None:
        return None
    root = holder.root + objects_dir[len(holder.mount_point) :]
    for mount in known:
        if mount.device == holder.device and is_below(mount.root, root):
            return f"it is mounted at {printable_path(mount.mount_point)}, too"
    return None
