"""How the references of a repository are stored, and what HEAD names.

Source: gitrepository-layout(5), "refs", "packed-refs", "HEAD". A repository of the reftable backend gets facts about
its tables only: reading their content needs git. Counts come from the walk over the git directory; loose references
are not opened.
"""

import os
import stat
from typing import Final

from gitdash.formats.packed_references import count_packed_references, packed_among
from gitdash.formats.reading import FormatError
from gitdash.formats.reference import DirectReference, SymbolicReference, read_reference
from gitdash.formats.reftable_list import read_tables_list
from gitdash.gitcmd.masking import presentable_bytes
from gitdash.inspection.files import FileError, read_file, read_start
from gitdash.inspection.listing import Listing
from gitdash.model.inspection import ObjectFormat, ReferenceBackend, ReferenceFacts
from gitdash.model.repository import Unreadable
from gitdash.units import printable, printable_path

PACKED_REFERENCES_MAXIMUM_BYTES: Final = 512 << 20
"""About five million references."""

REFERENCE_MAXIMUM_BYTES: Final = 4096
"""The longest name of a branch that a file system can hold, and some."""

REFTABLE_HEAD: Final = SymbolicReference(b"refs/heads/.invalid")
"""What HEAD says in a repository of the reftable backend, so that older programs keep away."""

_TABLES_LIST_MAXIMUM_BYTES: Final = 1 << 20
_EMPTY_NAMES_SHOWN: Final = 20


def inspect_references(
    listing: Listing, backend: ReferenceBackend, object_format: ObjectFormat
) -> ReferenceFacts | Unreadable:
    """Return how references are stored; a packed-refs file that cannot be read makes all of it unreadable."""
    if backend is ReferenceBackend.REFTABLE:
        return _inspect_reftable(listing)
    seen = listing.references
    found = listing.top().get(b"packed-refs")
    packed_count = hidden_count = 0
    if found is not None:
        try:
            data = read_file(listing.path(b"packed-refs"), PACKED_REFERENCES_MAXIMUM_BYTES, listed=found)
            packed_count = count_packed_references(data, object_format)
            hidden_count = packed_among(data, seen.names, object_format)
        except FileError as error:
            return Unreadable(f"packed-refs: {error.reason}")
        except FormatError as error:
            return Unreadable(printable(f"packed-refs: {error}"))
    return ReferenceFacts(
        loose_count=len(seen.names),
        packed_count=packed_count,
        packed_bytes=found[6] if found else 0,
        unlisted_count=hidden_count + len(seen.empty),
        empty_loose_names=tuple([printable_path(name) for name, _ in seen.empty[:_EMPTY_NAMES_SHOWN]]),
        empty_loose_count=len(seen.empty),
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


def inspect_head(own: Listing, backend: ReferenceBackend, object_format: ObjectFormat) -> str | Unreadable | None:
    """Return what HEAD names: a branch, or a commit id if detached; None if only the tables of reftable say it.

    `own` is the listing of the git directory: a linked worktree has a HEAD of its own.
    """
    found = own.top().get(b"HEAD")
    if found is None:
        return Unreadable("HEAD is missing")
    try:
        head = read_loose_reference(own.path(b"HEAD"), object_format, found)
    except FileError as error:
        return Unreadable(error.reason)
    except FormatError as error:
        return Unreadable(printable(str(error)))
    if backend is ReferenceBackend.REFTABLE:
        return None
    if head == REFTABLE_HEAD:
        return Unreadable("HEAD is that of reftable, and the config does not say reftable")
    return head.object_id if isinstance(head, DirectReference) else presentable_bytes(head.target)


def read_loose_reference(
    path: bytes, object_format: ObjectFormat, found: os.stat_result
) -> DirectReference | SymbolicReference:
    """Read a reference; a link to a name below refs is the old form of a symbolic reference."""
    if stat.S_ISLNK(found.st_mode):
        return SymbolicReference(_link_target(path))
    data = read_start(path, REFERENCE_MAXIMUM_BYTES, listed=found)
    return read_reference(data, object_format)


def _link_target(path: bytes) -> bytes:
    try:
        target = os.readlink(path)
    except OSError as error:
        raise FileError(path, "a symbolic link that cannot be read") from error
    if not target.startswith(b"refs/"):
        raise FileError(path, "a symbolic link that is no reference")
    return target
