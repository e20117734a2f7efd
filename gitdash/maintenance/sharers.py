"""Who else needs a repository's objects: who borrows them, whose `objects` leads to them, or a mount of its folders.

Nothing in a store says so. What is known is looked at by device and inode, after links are followed; bind mounts stand
in the table of mounts, whose fourth field says which folder of a file system is to be seen there. One that is mounted
in another container only is not seen here. What cannot be looked at may need whatever it likes. Sources: stat(2),
proc_pid_mountinfo(5). Judges nothing.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from gitdash.inspection.alternates import inspect_alternates
from gitdash.inspection.mounts import Mount, is_below, mount_of, read_mounts
from gitdash.inspection.reading import Problems
from gitdash.model.repository import Unreadable
from gitdash.units import printable_path

_SHARDS: Final = tuple(b"%02x" % number for number in range(256))
_BEREFT: Final = "may borrow from it: it has references, and its objects are not there"
_Identity = tuple[int, int]
"""Device and inode."""


def sharer_of(common_dir: bytes, others: Iterable[bytes]) -> str | None:
    """Return which of some repositories, given by their paths, may need objects of this one, one clause.

    That is who has them or borrows them, and who cannot be looked at. A repository that is this one under another name
    has the same references, and so needs nothing else. None if none does.
    """
    own, here = own_identities(common_dir + b"/objects"), None
    with contextlib.suppress(OSError):
        here = _identity(common_dir)
    # many borrow from one
    reached_from = cache(lambda path: frozenset(reached(path)))
    for path in others:
        for folder in (path, path + b"/.git"):
            try:
                found = None if _is_no_folder(folder, here) else _claim(folder + b"/objects", own, reached_from)
            except OSError as error:
                found = None if is_lost_and_found(path) else unsearched(error)
            if found is not None:
                return f"{printable_path(path)} {found}"
    return None


def unsearched(error: OSError) -> str:
    """Return what is to be said of a folder that cannot be looked into, without its name."""
    return f"cannot be searched: {(error.strerror or str(error)).lower()}"


def is_lost_and_found(path: bytes) -> bool:
    """Tell whether a folder is that in which fsck(8) puts what it finds; no other user may look into it."""
    try:
        return os.path.basename(path) == b"lost+found" and os.lstat(path).st_uid == 0
    except OSError:
        return False


def _is_no_folder(folder: bytes, here: _Identity | None) -> bool:
    """Tell whether there is nothing to look at, or only the repository itself. Raises OSError if that is not known."""
    try:
        found = os.stat(folder)
    except OSError as error:
        if not (_is_missing(error) or error.errno == errno.ELOOP):
            raise
        if folder.endswith(b"/.git") and os.path.islink(folder):
            raise OSError(errno.ENOENT, "its .git is a link to what is not there") from error
        return True
    return (found.st_dev, found.st_ino) == here or not stat.S_ISDIR(found.st_mode)


def _claim(
    objects_dir: bytes, own: frozenset[_Identity], reached_from: Callable[[bytes], frozenset[_Identity]]
) -> str | None:
    """Return how a repository needs this store, or may. Raises OSError."""
    if not own.isdisjoint(reached(objects_dir)):
        return "has the same objects"
    found = inspect_alternates(objects_dir, Problems())
    if isinstance(found, Unreadable):
        return f"may borrow from it, for its alternates cannot be read: {found.reason}"
    if found is None:
        return (
            "may borrow from it: it has references, and its objects are not there" if _is_bereft(objects_dir) else None
        )
    if any(not own.isdisjoint(reached_from(lender.path)) for lender in found.alternates if lender.exists):
        return "borrows from it"
    if found.incomplete is not None:
        return f"may borrow from it, for not all of its lenders are known: {found.incomplete}"
    return None


def _is_bereft(objects_dir: bytes) -> bool:
    """Tell whether a repository has references and not one object, as while those are on a disk that is away.

    Of reftables nobody knows without reading them: each has one from the start. Raises OSError.
    """
    folder = os.path.dirname(objects_dir)
    if not os.path.lexists(folder + b"/HEAD") or _entries(objects_dir + b"/pack"):
        return False
    if any(entry.name in _SHARDS for entry in _entries(objects_dir)):
        return False
    loose = os.walk(folder + b"/refs", onerror=_raise)
    return os.path.lexists(folder + b"/packed-refs") or any(names for _, _, names in loose)


def own_identities(objects_dir: bytes) -> frozenset[_Identity]:
    """Return what a store consists of that another may lead to.

    What cannot be looked at is left out: nor can it be through what leads there, and that is noticed.
    """
    paths = [objects_dir, *(objects_dir + b"/" + name for name in (b"pack", *_SHARDS))]
    with contextlib.suppress(OSError):
        paths += [entry.path for entry in _entries(objects_dir + b"/pack")]
    own: set[_Identity] = set()
    for path in paths:
        with contextlib.suppress(OSError):
            found = os.stat(path)
            own.add((found.st_dev, found.st_ino))
    return frozenset(own)


def reached(objects_dir: bytes) -> Iterator[_Identity]:
    """Yield what a store consists of that may be another's: its folders, and what it has as a link.

    Raises OSError if it cannot be looked at.
    """
    paths = [objects_dir, objects_dir + b"/pack"]
    paths += [
        entry.path
        for folder in (objects_dir, objects_dir + b"/pack")
        for entry in _entries(folder)
        if entry.is_symlink()
    ]
    yield from (found for path in paths if (found := _identity(path)) is not None)


def _entries(folder: bytes) -> list["os.DirEntry[bytes]"]:
    """List a folder; nothing if it is not there. Raises OSError where that is not known."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        if not _is_missing(error):
            raise
        return []


def _identity(path: bytes) -> _Identity | None:
    """Return what tells a folder or file from others; None if it is not there. Raises OSError."""
    try:
        found = os.stat(path)
    except OSError as error:
        if not _is_missing(error):
            raise
        return None
    return found.st_dev, found.st_ino


def _raise(error: OSError) -> None:
    if not _is_missing(error):
        raise error


def _is_missing(error: OSError) -> bool:
    return error.errno in {errno.ENOENT, errno.ENOTDIR}


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
