"""Alternates: the object stores that a repository borrows from, followed as git follows them.

Source: gitrepository-layout(5), "objects/info/alternates"; git's odb.c (link_alt_odb_entries) and t5613: depth first
in the order of the files, relative to the store whose file names it, at most five levels below the own file,
duplicates and the store itself silently dropped. Where git prints an error and goes on, the entry has a problem.

Environment variables that name more alternates are the caller's business.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gitdash.formats.alternates import AlternatesEntries, read_alternates
from gitdash.formats.reading import FormatError
from gitdash.gitcmd.masking import mask_credentials, presentable_bytes
from gitdash.inspection.files import FileError, FileMissingError, file_error, read_file
from gitdash.inspection.reading import Problems
from gitdash.model.inspection import Alternate, AlternatesFacts
from gitdash.model.repository import Unreadable
from gitdash.units import printable

_MAXIMUM_BYTES: Final = 4 << 20
_MAXIMUM_ALTERNATES: Final = 1000
"""More than anyone has, and few enough that a hostile file cannot fill memory or the screen."""
_MAXIMUM_DEPTH: Final = 6
"""git ignores what an alternates file of the sixth store in a chain lists (nesting of 5 below the own file)."""

_NO_FOLDER: Final = "not a directory"


@dataclass(slots=True)
class _Walk:
    seen: set[bytes]
    problems: Problems
    found: list[Alternate] = field(default_factory=list)
    incomplete: str | None = None

    def miss(self, path: bytes, reason: str) -> None:
        """Note that stores are missing from the list."""
        self.problems.note(path, reason)
        self.incomplete = self.incomplete or f"{presentable_bytes(path)}: {reason}"


def inspect_alternates(objects_dir: bytes, problems: Problems) -> AlternatesFacts | Unreadable | None:
    """Follow the alternates of a store; None if it has no alternates file."""
    path = objects_dir + b"/info/alternates"
    try:
        listed = os.lstat(path)
    except OSError as error:
        reason = file_error(path, error)
        return _without(objects_dir) if isinstance(reason, FileMissingError) else Unreadable(reason.reason)
    try:
        entries = read_alternates(read_file(path, _MAXIMUM_BYTES, listed=listed))
    except FileMissingError:
        return None
    except FileError as error:
        return Unreadable(error.reason)
    except FormatError as error:
        return Unreadable(printable(str(error)))
    store = os.path.realpath(objects_dir)
    walk = _Walk(seen={store}, problems=problems)
    _follow_all(walk, store, entries)
    return AlternatesFacts(
        alternates=tuple(walk.found),
        mtime_s=listed.st_mtime,
        comment_count=entries.comment_count,
        incomplete=walk.incomplete,
    )


def stores_behind_link(objects_dir: bytes) -> tuple[Alternate, ...]:
    """Return the stores that an alternates file names which is a symbolic link, as git follows it.

    What else such a file holds is nobody's business here: only folders that are there come out.
    """
    path = objects_dir + b"/info/alternates"
    if not os.path.islink(path):
        return ()
    try:
        entries = read_alternates(read_file(os.path.realpath(path), _MAXIMUM_BYTES))
    except (FileError, FormatError):
        return ()
    store = os.path.realpath(objects_dir)
    walk = _Walk(seen={store}, problems=Problems())
    _follow_all(walk, store, entries)
    return tuple(alternate for alternate in walk.found if alternate.exists and alternate.problem != _NO_FOLDER)


def _without(objects_dir: bytes) -> Unreadable | None:
    """Return what is to be said of a store in which no alternates file is to be seen."""
    for folder in (objects_dir, objects_dir + b"/info"):
        if os.path.islink(folder) and not os.path.exists(folder):
            return Unreadable(f"{printable(os.fsdecode(os.path.basename(folder)))} is a symbolic link to nothing")
    return None


def _follow_all(walk: _Walk, store: bytes, entries: AlternatesEntries) -> None:
    """Walk depth first without recursion."""
    waiting = [_resolved(store, entries, 1)]
    while waiting:
        following = next(waiting[-1], None)
        if following is None:
            waiting.pop()
            continue
        path, depth = following
        if path in walk.seen:
            continue
        walk.seen.add(path)
        if len(walk.found) >= _MAXIMUM_ALTERNATES:
            walk.miss(b"objects/info/alternates", f"stopped after {_MAXIMUM_ALTERNATES} alternates")
            return
        alternate = _alternate(path, depth)
        walk.found.append(alternate)
        if alternate.problem is None:
            nested = _nested(walk, path)
            if nested is not None:
                waiting.append(_resolved(path, nested, depth + 1))


def _resolved(store: bytes, entries: AlternatesEntries, depth: int) -> Iterator[tuple[bytes, int]]:
    for path in entries.paths:
        # a path with a NUL cannot come from a file; one that is too long stays as it is
        yield os.path.realpath(os.path.join(store, path)), depth


def _alternate(path: bytes, depth: int) -> Alternate:
    try:
        found = os.stat(path)
    except OSError as error:
        # git takes each line for a path, a URL with a password in it, too; a path that exists is no secret
        shown_path = mask_credentials(path.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        return Alternate(path=shown_path, exists=False, depth=depth, problem=file_error(path, error).reason)
    problem = None
    if not stat.S_ISDIR(found.st_mode):
        problem = _NO_FOLDER
    elif depth > _MAXIMUM_DEPTH:
        problem = f"nested too deep: git ignores more than {_MAXIMUM_DEPTH} levels"
    elif not os.access(path, os.R_OK | os.X_OK):
        problem = "not readable"
    return Alternate(path=path, exists=True, depth=depth, problem=problem, device=found.st_dev, inode=found.st_ino)


def _nested(walk: _Walk, store: bytes) -> AlternatesEntries | None:
    """Return the entries of a lender's own file; one that cannot be read is missed, though git may be able to."""
    path = store + b"/info/alternates"
    try:
        return read_alternates(read_file(path, _MAXIMUM_BYTES))
    except FileMissingError:
        return None
    except FileError as error:
        walk.miss(path, error.reason)
    except FormatError as error:
        walk.miss(path, str(error))
    return None
