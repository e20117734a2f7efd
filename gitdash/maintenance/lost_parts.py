"""Repositories of which that part is not there which would say from whom they borrow, or hold what they need.

It may be gone for good, or on a disk that is away, under a mount that is not there, behind a link that leads to nothing
now. Nothing on disk tells which; their references do not either, for the commits that they name may be the borrower's
own, and only what those go back to the lender's. So a person says it, of one folder by its path, device and inode, and
it counts no longer than the part is missing. Source: gitrepository-layout(5), stat(2). Judges nothing.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Final

from gitdash.history.records import GivenUp

SHARDS: Final = tuple(b"%02x" % number for number in range(256))
"""The folders of loose objects."""
BEREFT: Final = "it has references, and its objects are not there"


def git_directories(path: bytes) -> tuple[bytes, bytes]:
    """Return where the git directory of a repository may be."""
    return path, path + b"/.git"


def lost_part(git_dir: bytes) -> str | None:
    """Return what is missing of a git directory, one clause without its name; None if nothing of that kind.

    Raises OSError where that is not known.
    """
    if git_dir.endswith(b"/.git") and leads_nowhere(git_dir):
        return "its .git is a link to what is not there"
    for part in (b"/objects", b"/objects/info", b"/objects/info/alternates"):
        if leads_nowhere(git_dir + part):
            return f"its {os.fsdecode(part[1:])} is a link to what is not there"
    return BEREFT if is_bereft(git_dir) else None


def lost_folders(path: bytes) -> Iterator[tuple[GivenUp, str]]:
    """Yield the git directories at a path of which something is missing, and what; none where that is not known."""
    for git_dir in git_directories(path):
        with contextlib.suppress(OSError):
            missing = lost_part(git_dir)
            if missing is not None:
                yield identity_of(git_dir), missing


def identity_of(git_dir: bytes) -> GivenUp:
    """Return what tells a git directory from others: if it is a link to nothing, the link. Raises OSError."""
    found = os.lstat(git_dir) if leads_nowhere(git_dir) else os.stat(git_dir)
    return GivenUp(git_dir=os.path.realpath(git_dir), place=(found.st_dev, found.st_ino))


def is_bereft(git_dir: bytes) -> bool:
    """Tell whether a repository has references and neither an object nor alternates, as while a disk is away.

    Of reftables nobody knows without reading them: each has one from the start. Raises OSError.
    """
    objects_dir = git_dir + b"/objects"
    if not os.path.lexists(git_dir + b"/HEAD") or entries_of(objects_dir + b"/pack"):
        return False
    if os.path.lexists(objects_dir + b"/info/alternates"):
        return False
    if any(entry.name in SHARDS for entry in entries_of(objects_dir)):
        return False
    loose = os.walk(git_dir + b"/refs", onerror=_raise)
    return os.path.lexists(git_dir + b"/packed-refs") or any(names for _, _, names in loose)


def leads_nowhere(path: bytes) -> bool:
    """Tell whether a path is a link to what is not there, or in a circle. Raises OSError where that is not known."""
    if not os.path.islink(path):
        return False
    try:
        os.stat(path)
    except OSError as error:
        if is_missing(error) or error.errno == errno.ELOOP:
            return True
        raise
    return False


def entries_of(folder: bytes) -> list["os.DirEntry[bytes]"]:
    """List a folder; nothing if it is not there. Raises OSError where that is not known."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        _raise(error)
        return []


def is_missing(error: OSError) -> bool:
    """Tell whether something is not there, and not only out of reach."""
    return error.errno in {errno.ENOENT, errno.ENOTDIR}


def _raise(error: OSError) -> None:
    if not is_missing(error):
        raise error
