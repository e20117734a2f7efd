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
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from gitdash.assessment.sentences import shell_word
from gitdash.history.records import GivenUp
from gitdash.inspection.alternates import inspect_alternates
from gitdash.inspection.mounts import Mount, is_below, mount_of, read_mounts
from gitdash.inspection.reading import Problems
from gitdash.maintenance.lost_parts import SHARDS, entries_of, git_directories, identity_of, is_missing, lost_part
from gitdash.model.repository import Unreadable
from gitdash.units import counted, printable_path

_NAMED_COUNT: Final = 4
"""So many are named in a sentence."""
_Identity = tuple[int, int]
"""Device and inode."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """One repository needs objects of another, or may."""

    folder: bytes
    """Its git directory."""
    path: bytes
    """As it is known."""
    what: str
    """One clause without its name."""
    is_sure: bool = False
    lost: GivenUp | None = None
    """It is only that a part of it is missing, and a person may say that this part is gone for good."""


def sharer_of(common_dir: bytes, others: Iterable[bytes], given_up: Container[GivenUp] = frozenset()) -> str | None:
    """Return which of some repositories, given by their paths, may need objects of this one, and what to do about it.

    That is who has them or borrows them, and who cannot be looked at. A repository that is this one under another name
    has the same references, and so needs nothing else. Some are named, of more the number is said. None if none does,
    and of those in `given_up` none just because a part of it is missing.
    """
    claims = [claim for claim in _claims(common_dir, others) if claim.lost is None or claim.lost not in given_up]
    claims.sort(key=lambda claim: claim.path, reverse=True)
    by_folder = {os.path.realpath(claim.folder): claim for claim in claims}
    known = sorted(by_folder.values(), key=lambda claim: (not claim.is_sure, claim.lost is not None, claim.path))
    return _told(known) if known else None


def _told(claims: Sequence[_Claim]) -> str:
    named = claims[:_NAMED_COUNT]
    text = "; ".join(f"{printable_path(claim.path)} {claim.what}" for claim in named)
    if len(claims) > len(named):
        text = f"{text}; and {counted(len(claims) - len(named), 'more', 'more')}"
    lost = [claim for claim in named if claim.lost is not None]
    if claims[0].is_sure or not lost:
        return text
    words = " ".join(shell_word(claim.path) for claim in lost)
    which = "that" if len(lost) == 1 else "those"
    return f"{text}; if what is missing of {which} is gone for good: `gitdash forget {words}`"


def _claims(common_dir: bytes, others: Iterable[bytes]) -> Iterator[_Claim]:
    own, here = own_identities(common_dir + b"/objects"), None
    with contextlib.suppress(OSError):
        here = _identity(common_dir)
    # many borrow from one
    reached_from = cache(lambda path: frozenset(reached(path)))
    for path in others:
        for folder in git_directories(path):
            try:
                if not _is_no_folder(folder, here):
                    yield from _claims_of(folder, path, own, reached_from)
            except OSError as error:
                if not is_lost_and_found(path):
                    yield _Claim(folder, path, unsearched(error))


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
        if not (is_missing(error) or error.errno == errno.ELOOP):
            raise
        return not (folder.endswith(b"/.git") and os.path.islink(folder))
    return (found.st_dev, found.st_ino) == here or not stat.S_ISDIR(found.st_mode)


def _claims_of(
    git_dir: bytes, path: bytes, own: frozenset[_Identity], reached_from: Callable[[bytes], frozenset[_Identity]]
) -> Iterator[_Claim]:
    """Yield how a repository needs this store, or may; at most once. Raises OSError."""
    objects_dir = git_dir + b"/objects"
    if not own.isdisjoint(reached(objects_dir)):
        yield _Claim(git_dir, path, "has the same objects", is_sure=True)
        return
    missing = lost_part(git_dir)
    if missing is not None:
        yield _Claim(git_dir, path, f"may borrow from it: {missing}", lost=identity_of(git_dir))
        return
    found = inspect_alternates(objects_dir, Problems())
    if isinstance(found, Unreadable):
        yield _Claim(git_dir, path, f"may borrow from it, for its alternates cannot be read: {found.reason}")
    elif found is None:
        return
    elif any(not own.isdisjoint(reached_from(lender.path)) for lender in found.alternates if lender.exists):
        yield _Claim(git_dir, path, "borrows from it", is_sure=True)
    elif found.incomplete is not None:
        yield _Claim(git_dir, path, f"may borrow from it, for not all of its lenders are known: {found.incomplete}")


def own_identities(objects_dir: bytes) -> frozenset[_Identity]:
    """Return what a store consists of that another may lead to.

    What cannot be looked at is left out: nor can it be through what leads there, and that is noticed.
    """
    paths = [objects_dir, *(objects_dir + b"/" + name for name in (b"pack", *SHARDS))]
    with contextlib.suppress(OSError):
        paths += [entry.path for entry in entries_of(objects_dir + b"/pack")]
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
        for entry in entries_of(folder)
        if entry.is_symlink()
    ]
    yield from (found for path in paths if (found := _identity(path)) is not None)


def _identity(path: bytes) -> _Identity | None:
    """Return what tells a folder or file from others; None if it is not there. Raises OSError."""
    try:
        found = os.stat(path)
    except OSError as error:
        if not is_missing(error):
            raise
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
