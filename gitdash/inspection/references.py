"""References: facts about how they are stored, and the tips that sizes are measured from.

Source: gitrepository-layout(5), "refs", "packed-refs", "worktrees"; git-check-ref-format(1); git's
refs/files-backend.c. A repository of the reftable backend gets facts about its tables only: reading their content
needs git.

Does not look into objects, so a reference to a missing object is a tip like any other.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gitdash.formats.packed_references import count_packed_references, read_packed_references
from gitdash.formats.reading import FormatError
from gitdash.formats.reference import DirectReference, SymbolicReference, read_reference
from gitdash.formats.reftable_list import read_tables_list
from gitdash.inspection.files import FileError, FileMissingError, read_file, read_start
from gitdash.inspection.listing import Listing, list_folder
from gitdash.model.inspection import ObjectFormat, ReferenceBackend, ReferenceFacts
from gitdash.model.repository import Unreadable
from gitdash.units import printable, printable_path

PACKED_REFERENCES_MAXIMUM_BYTES: Final = 512 << 20
"""About five million references."""

_REFERENCE_MAXIMUM_BYTES: Final = 4096
_TABLES_LIST_MAXIMUM_BYTES: Final = 1 << 20
_EMPTY_NAMES_SHOWN: Final = 20
_SYMBOLIC_DEPTH: Final = 5
"""git's SYMREF_MAXDEPTH."""

_PER_WORKTREE_FOLDERS: Final = (b"refs/bisect", b"refs/worktree", b"refs/rewritten")
_REFTABLE_HEAD: Final = SymbolicReference(b"refs/heads/.invalid")
_BAD_NAME: Final = re.compile(rb"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[./]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceTips:
    """Where everything reachable starts."""

    references: tuple[tuple[bytes, str], ...]
    """Full name and object id, sorted by name, with HEAD, and the HEADs and own references of all worktrees."""
    broken: tuple[tuple[bytes, str], ...]
    """Name, and why it was left out; git would refuse the whole query for most of them."""


def is_valid_reference_name(name: bytes) -> bool:
    """Apply the rules of git-check-ref-format(1) to a full name."""
    return name != b"@" and not name.startswith((b".", b"/")) and not _BAD_NAME.search(name)


def inspect_references(
    listing: Listing, backend: ReferenceBackend, object_format: ObjectFormat
) -> ReferenceFacts | Unreadable:
    """Return how references are stored; a packed-refs file that cannot be read makes all of it unreadable."""
    if backend is ReferenceBackend.REFTABLE:
        return _inspect_reftable(listing)
    seen = listing.references
    found = listing.top().get(b"packed-refs")
    packed_count = 0
    if found is not None:
        try:
            data = read_file(listing.path(b"packed-refs"), PACKED_REFERENCES_MAXIMUM_BYTES, listed=found)
            packed_count = count_packed_references(data, object_format)
        except FileError as error:
            return Unreadable(f"packed-refs: {error.reason}")
        except FormatError as error:
            return Unreadable(printable(f"packed-refs: {error}"))
    return ReferenceFacts(
        loose_count=seen.count,
        packed_count=packed_count,
        packed_bytes=found[6] if found else 0,
        empty_loose_names=tuple([printable_path(name) for name, _ in seen.empty[:_EMPTY_NAMES_SHOWN]]),
        empty_loose_oldest_mtime_s=min([mtime_s for _, mtime_s in seen.empty], default=None),
        has_dangling_namespace=seen.has_dangling_namespace,
    )


def _inspect_reftable(listing: Listing) -> ReferenceFacts | Unreadable:
    entries = listing.folders.get(b"reftable", {})
    try:
        names = read_tables_list(read_file(listing.path(b"reftable/tables.list"), _TABLES_LIST_MAXIMUM_BYTES))
    except FileError as error:
        return Unreadable(f"reftable/tables.list: {error.reason}")
    except FormatError as error:
        return Unreadable(printable(f"reftable/tables.list: {error}"))
    unlisted = entries.keys() - set(names) - {b"tables.list", b"tables.list.lock"}
    return ReferenceFacts(
        loose_count=0,
        packed_count=None,
        packed_bytes=0,
        has_dangling_namespace=False,
        reftable_bytes=tuple(entries[name].st_size for name in names if name in entries),
        reftable_missing_count=sum(name not in entries for name in names),
        reftable_unlisted_count=len(unlisted),
    )


def inspect_head(path: bytes, found: os.stat_result | None, object_format: ObjectFormat) -> str | Unreadable:
    """Return what HEAD names: a branch, or a commit id if detached."""
    if found is None:
        return Unreadable("HEAD is missing")
    try:
        head = _read_loose(path, object_format, found)
    except FileError as error:
        return Unreadable(error.reason)
    except FormatError as error:
        return Unreadable(printable(str(error)))
    if head == _REFTABLE_HEAD:
        return Unreadable("kept in reftable, which needs git")
    return head.object_id if isinstance(head, DirectReference) else printable_path(head.target)


def _read_loose(path: bytes, object_format: ObjectFormat, found: os.stat_result) -> DirectReference | SymbolicReference:
    """Read a reference; a link to a name below refs is the old form of a symbolic reference."""
    if stat.S_ISLNK(found.st_mode):
        return SymbolicReference(_link_target(path))
    data = read_start(path, _REFERENCE_MAXIMUM_BYTES, listed=found)
    return read_reference(data, object_format)


def _link_target(path: bytes) -> bytes:
    try:
        target = os.readlink(path)
    except OSError as error:
        raise FileError(path, "a symbolic link that cannot be read") from error
    if not target.startswith(b"refs/"):
        raise FileError(path, "a symbolic link that is no reference")
    return target


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
            self.found[name] = _read_loose(path, self.object_format, found)
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

    Broken references are left out and named. Raises FileError or FormatError only if packed-refs itself cannot be
    read, and FileError for the reftable backend.
    """
    _refuse_reftable(git_dir, object_format)
    collection = _Collection(object_format=object_format)
    # loose references are read first: git packs a reference before it removes the loose one
    loose = list(_loose_entries(common_dir + b"/refs/", b"refs/", collection.broken))
    _add_packed(collection, common_dir)
    for name, path, found in loose:
        collection.add_loose(name, path, found)
    for folder, prefix in _worktrees(common_dir):
        _add_worktree(collection, folder, prefix)
    return _resolve(collection)


def _refuse_reftable(git_dir: bytes, object_format: ObjectFormat) -> None:
    path = git_dir + b"/HEAD"
    try:
        head = read_reference(read_start(path, _REFERENCE_MAXIMUM_BYTES), object_format)
    except (FileError, FormatError):
        return
    if head == _REFTABLE_HEAD:
        raise FileError(path, "reftable needs git")


def _loose_entries(
    path: bytes, name: bytes, broken: list[tuple[bytes, str]]
) -> Iterator[tuple[bytes, bytes, os.stat_result]]:
    """Yield name, path and lstat(2) result of each file below a folder of references, lock and hidden files not."""
    waiting = [(path, name)]
    while waiting:
        folder_path, folder_name = waiting.pop()
        try:
            names, stats = list_folder(folder_path)
        except FileMissingError:
            continue
        except FileError as error:
            broken.append((folder_name, error.reason))
            continue
        for entry, found in zip(names, stats, strict=True):
            if entry.startswith(b".") or entry.endswith(b".lock"):
                continue
            if stat.S_ISDIR(found.st_mode):
                waiting.append((folder_path + entry + b"/", folder_name + entry + b"/"))
            else:
                yield folder_name + entry, folder_path + entry, found


def _add_packed(collection: _Collection, common_dir: bytes) -> None:
    try:
        data = read_file(common_dir + b"/packed-refs", PACKED_REFERENCES_MAXIMUM_BYTES)
    except FileMissingError:
        return
    for name, object_id in read_packed_references(data, collection.object_format).references:
        if is_valid_reference_name(name):
            collection.found[name] = DirectReference(object_id)
        else:
            collection.broken.append((name, "not a valid name of a reference"))


def _worktrees(common_dir: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the git directory of each worktree and what git puts before the names of its references."""
    yield common_dir, b""
    try:
        names, _ = list_folder(common_dir + b"/worktrees/")
    except FileError:
        return
    for name in names:
        yield common_dir + b"/worktrees/" + name, b"worktrees/" + name + b"/"


def _add_worktree(collection: _Collection, folder: bytes, prefix: bytes) -> None:
    path = folder + b"/HEAD"
    try:
        found = os.lstat(path)
    except OSError:
        if not prefix:
            collection.broken.append((b"HEAD", "missing"))
    else:
        collection.add_loose(prefix + b"HEAD", path, found)
    if not prefix:
        return
    for own in _PER_WORKTREE_FOLDERS:
        for name, own_path, found in _loose_entries(folder + b"/" + own + b"/", own + b"/", collection.broken):
            collection.add_loose(prefix + name, own_path, found)


def _resolve(collection: _Collection) -> ReferenceTips:
    references: list[tuple[bytes, str]] = []
    broken = collection.broken
    for name, reference in collection.found.items():
        resolved = _follow(collection.found, name, reference)
        if isinstance(resolved, DirectReference):
            if resolved.object_id.strip("0"):
                references.append((name, resolved.object_id))
            else:
                broken.append((name, "the object id is all zeros"))
        elif resolved is None:
            broken.append((name, f"symbolic references deeper than {_SYMBOLIC_DEPTH}, or in a circle"))
        elif not name.endswith(b"HEAD") or name.startswith(b"refs/"):
            broken.append((name, f"points to {printable_path(resolved.target)}, which does not exist"))
    return ReferenceTips(references=tuple(sorted(references)), broken=tuple(sorted(broken)))


def _follow(
    found: dict[bytes, DirectReference | SymbolicReference],
    name: bytes,
    reference: DirectReference | SymbolicReference,
) -> DirectReference | SymbolicReference | None:
    """Return the object, the last symbolic reference whose target does not exist, or None if it is too deep."""
    prefix = name[: name.index(b"/", 10) + 1] if name.startswith(b"worktrees/") else b""
    for _ in range(_SYMBOLIC_DEPTH):
        if isinstance(reference, DirectReference):
            return reference
        target = reference.target
        if prefix and target.startswith(_PER_WORKTREE_FOLDERS):
            target = prefix + target
        following = found.get(target)
        if following is None:
            return reference
        reference = following
    return None
