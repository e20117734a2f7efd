"""References: the tips that sizes are measured from.

Source: gitrepository-layout(5), "refs", "packed-refs", "worktrees"; git-check-ref-format(1); git's
refs/files-backend.c. The references of the reftable backend cannot be read here: that needs git.

Does not look into objects, so a reference to a missing object is a tip like any other.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from gitdash.formats.packed_references import count_packed_references, each_packed_reference
from gitdash.formats.reading import FormatError
from gitdash.formats.reference import DirectReference, SymbolicReference, read_reference
from gitdash.inspection.files import FileError, FileMissingError, file_error, read_file, read_start
from gitdash.inspection.folders import list_folder
from gitdash.inspection.reference_facts import (
    PACKED_REFERENCES_MAXIMUM_BYTES,
    REFERENCE_MAXIMUM_BYTES,
    REFTABLE_HEAD,
    read_loose_reference,
)
from gitdash.model.inspection import ObjectFormat
from gitdash.units import printable

SYMBOLIC_DEPTH: Final = 5
"""git's SYMREF_MAXDEPTH: the reference that is asked for and those on the way to an id."""

MAXIMUM_REFERENCES: Final = 1_000_000
"""From more no size is measured: each costs half a kilobyte and, where its object is missing, 20 microseconds."""

PER_WORKTREE_FOLDERS: Final = (b"refs/bisect", b"refs/worktree", b"refs/rewritten")
_BAD_NAME: Final = re.compile(rb"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[./]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceTips:
    """Where everything reachable starts."""

    references: tuple[tuple[bytes, str], ...]
    """Full name and object id, sorted by name, with HEAD, and the HEADs and own references of all worktrees."""
    broken: tuple[tuple[bytes, str], ...]
    """Name, and why it was left out; git would refuse the whole query for most of them."""
    dangling: tuple[bytes, ...] = ()
    """Names of symbolic references to a reference that does not exist: git passes over them, nothing is lost."""


def is_valid_reference_name(name: bytes) -> bool:
    """Apply the rules of git-check-ref-format(1) to a full name."""
    return name != b"@" and not name.startswith((b".", b"/")) and not _BAD_NAME.search(name)


@dataclass(slots=True)
class _Collection:
    """References by full name, before symbolic ones are resolved."""

    object_format: ObjectFormat
    found: dict[bytes, DirectReference | SymbolicReference] = field(default_factory=dict)
    broken: list[tuple[bytes, str]] = field(default_factory=list)

    def add_loose(self, name: bytes, path: bytes, found: os.stat_result) -> None:
        """Read one file; what cannot be read is broken, and hides a packed reference of that name, as for git."""
        if not is_valid_reference_name(name):
            self.broken.append((name, "not a valid name of a reference"))
            return
        try:
            self.found[name] = read_loose_reference(path, self.object_format, found)
        except FileMissingError:
            # packed or deleted meanwhile
            return
        except FileError as error:
            self._break(name, error.reason)
        except FormatError as error:
            self._break(name, printable(error.message))

    def _break(self, name: bytes, reason: str) -> None:
        self.found.pop(name, None)
        self.broken.append((name, reason))


def read_tips(git_dir: bytes, common_dir: bytes, object_format: ObjectFormat) -> ReferenceTips:
    """Return the tips of everything reachable: references, HEAD, and HEADs and own references of all worktrees.

    Broken references are left out and named. Raises FileError or FormatError if packed-refs cannot be read, and
    FileError if a folder of references cannot be listed, for nobody knows how many are in it; for the reftable backend;
    and for more references than `MAXIMUM_REFERENCES`.
    """
    refuse_reftable(git_dir, object_format)
    collection = _Collection(object_format=object_format)
    # loose references are read first: git packs a reference before it removes the loose one
    entries = loose_entries(common_dir + b"/refs/", b"refs/")
    loose = list(islice(entries, MAXIMUM_REFERENCES + 1))
    if len(loose) > MAXIMUM_REFERENCES:
        raise _too_many(common_dir + b"/refs", len(loose))
    _add_packed(collection, common_dir)
    for name, path, found in loose:
        collection.add_loose(name, path, found)
    for folder, prefix in _worktrees(common_dir):
        _add_worktree(collection, folder, prefix)
    return _resolve(collection)


def refuse_reftable(git_dir: bytes, object_format: ObjectFormat) -> None:
    """Raise FileError if references are not in files, which would look like a repository without any."""
    path = git_dir + b"/HEAD"
    try:
        head = read_reference(read_start(path, REFERENCE_MAXIMUM_BYTES), object_format)
    except (FileError, FormatError):
        return
    if head == REFTABLE_HEAD:
        raise FileError(path, "reftable needs git")


def _raise(problem: FileError) -> None:
    raise problem


def loose_entries(
    path: bytes, name: bytes, on_problem: Callable[[FileError], None] = _raise
) -> Iterator[tuple[bytes, bytes, os.stat_result]]:
    """Yield name, path and lstat(2) result of each file below a folder of references, lock and hidden files not.

    A folder that cannot be listed is a problem, and raises FileError unless `on_problem` lets the rest go on. A link to
    a folder is one: git would follow it anywhere.
    """
    waiting = [(path, name)]
    while waiting:
        folder_path, folder_name = waiting.pop()
        try:
            listed = _listed(folder_path, may_be_a_file=folder_path != path)
        except FileError as error:
            on_problem(error)
            continue
        for entry, found in listed:
            if entry.startswith(b".") or entry.endswith(b".lock"):
                continue
            if stat.S_ISDIR(found.st_mode):
                waiting.append((folder_path + entry + b"/", folder_name + entry + b"/"))
                continue
            if stat.S_ISLNK(found.st_mode) and os.path.isdir(folder_path + entry):
                on_problem(FileError(folder_path + entry, "a symbolic link to a folder"))
                continue
            yield folder_name + entry, folder_path + entry, found


def _listed(folder: bytes, *, may_be_a_file: bool) -> Iterable[tuple[bytes, os.stat_result]]:
    """List a folder; one that is gone, or that a file may have taken the place of since, has nothing in it."""
    try:
        return zip(*list_folder(folder), strict=True)
    except FileMissingError:
        return ()
    except FileError:
        if may_be_a_file and not os.path.isdir(folder):
            return ()
        raise


def _add_packed(collection: _Collection, common_dir: bytes) -> None:
    try:
        data = read_file(common_dir + b"/packed-refs", PACKED_REFERENCES_MAXIMUM_BYTES)
    except FileMissingError:
        return
    count = count_packed_references(data, collection.object_format)
    if count > MAXIMUM_REFERENCES:
        raise _too_many(common_dir + b"/packed-refs", count)
    for name, object_id in each_packed_reference(data, collection.object_format):
        if is_valid_reference_name(name):
            collection.found[name] = DirectReference(object_id)
        else:
            collection.broken.append((name, "not a valid name of a reference"))


def _too_many(path: bytes, count: int) -> FileError:
    return FileError(path, f"{count} references are too many to measure from, the limit is {MAXIMUM_REFERENCES}")


def _worktrees(common_dir: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the git directory of each worktree and what git puts before the names of its references."""
    yield common_dir, b""
    if not os.path.isdir(common_dir + b"/worktrees"):
        return
    names, _ = list_folder(common_dir + b"/worktrees/")
    for name in names:
        yield common_dir + b"/worktrees/" + name, b"worktrees/" + name + b"/"


def _add_worktree(collection: _Collection, folder: bytes, prefix: bytes) -> None:
    path = folder + b"/HEAD"
    try:
        found = os.lstat(path)
    except OSError as error:
        if not prefix or not isinstance(error, FileNotFoundError | NotADirectoryError):
            collection.broken.append((prefix + b"HEAD", file_error(path, error).reason))
    else:
        collection.add_loose(prefix + b"HEAD", path, found)
    if not prefix:
        return
    for own in PER_WORKTREE_FOLDERS:
        for name, own_path, found in loose_entries(folder + b"/" + own + b"/", own + b"/"):
            collection.add_loose(prefix + name, own_path, found)


def _resolve(collection: _Collection) -> ReferenceTips:
    references: list[tuple[bytes, str]] = []
    broken = collection.broken
    dangling: list[bytes] = []
    for name, reference in collection.found.items():
        resolved = _follow(collection.found, name, reference)
        if isinstance(resolved, DirectReference):
            if resolved.object_id.strip("0"):
                references.append((name, resolved.object_id))
            else:
                broken.append((name, "the object id is all zeros"))
        elif resolved is None:
            broken.append((name, f"symbolic references deeper than {SYMBOLIC_DEPTH}, or in a circle"))
        elif not name.endswith(b"HEAD") or name.startswith(b"refs/"):
            dangling.append(name)
    return ReferenceTips(
        references=tuple(sorted(references)), broken=tuple(sorted(broken)), dangling=tuple(sorted(dangling))
    )


def _follow(
    found: dict[bytes, DirectReference | SymbolicReference],
    name: bytes,
    reference: DirectReference | SymbolicReference,
) -> DirectReference | SymbolicReference | None:
    """Return the object, the last symbolic reference whose target does not exist, or None if it is too deep."""
    prefix = name[: name.index(b"/", 10) + 1] if name.startswith(b"worktrees/") else b""
    for _ in range(SYMBOLIC_DEPTH):
        if isinstance(reference, DirectReference):
            return reference
        target = reference.target
        if prefix and target.startswith(PER_WORKTREE_FOLDERS):
            target = prefix + target
        following = found.get(target)
        if following is None:
            return reference
        reference = following
    return None
