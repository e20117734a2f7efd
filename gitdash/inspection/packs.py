"""Packs and what belongs to them: everything in `objects/pack`.

Source: gitrepository-layout(5), "objects/pack", gitformat-pack(5); what is garbage follows `git count-objects -v`
(packfile.c, report_pack_garbage). A pack is every `*.pack`, whatever its prefix: git itself writes `loose-*` (task
loose-objects), VFS for Git `from-loose-*` and `prefetch-*`. Reads headers and fan-out tables, no objects.
"""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from gitdash.formats.mtimes import read_mtimes_header
from gitdash.formats.pack import read_pack_checksum, read_pack_header
from gitdash.formats.pack_index import read_checksum_of_pack, read_pack_index_header
from gitdash.formats.reading import Buffer
from gitdash.formats.reverse_index import read_reverse_index_header
from gitdash.inspection.files import FileError, read_start
from gitdash.inspection.listing import Listing, Stats
from gitdash.inspection.reading import Problems, read_listed
from gitdash.inspection.temporary import TRANSFER_MARK_BYTES, TRANSFER_MARKS, temporary_files
from gitdash.model.inspection import KeepFile, ObjectFormat, PackFacts, PackFile, TemporaryFile
from gitdash.units import printable_path, sum_bytes

PACK_FOLDER: Final = b"objects/pack"

_SUFFIXES: Final = frozenset({b"pack", b"idx", b"rev", b"bitmap", b"mtimes", b"keep", b"promisor"})
_SIDECAR_SUFFIXES: Final = (b"rev", b"bitmap", b"mtimes", b"promisor")
"""Files that are nothing without a pack. A `.keep` is not among them: index-pack writes it before the pack."""
_DERIVED_SUFFIXES: Final = (b"rev", b"bitmap", b"mtimes")
_NO_FILES: Final[Stats] = {}


Value = TypeVar("Value")


@dataclass(slots=True)
class _PackFolder:
    """The entries of `objects/pack`, sorted by what they are."""

    listing: Listing
    object_format: ObjectFormat
    problems: Problems
    by_suffix: dict[bytes, Stats] = field(default_factory=dict)
    """Entries by suffix, then by name without it."""
    multi_pack_index_bytes: int = 0
    garbage: list[os.stat_result] = field(default_factory=list)
    unreadable: list[bytes] = field(default_factory=list)

    def of(self, suffix: bytes) -> Stats:
        """Return the entries with a suffix by the name before it."""
        return self.by_suffix.get(suffix, _NO_FILES)

    def read(self, name: bytes, suffix: bytes, reader: Callable[[Buffer], Value]) -> Value | None:
        """Return what the reader makes of a file; None if there is none or it could not be read, which is noted."""
        found = self.of(suffix).get(name)
        if found is None:
            return None
        file_name = name + b"." + suffix
        value = read_listed(self.listing, b"objects/pack/" + file_name, found, self.problems, reader)
        if value is None:
            self.unreadable.append(file_name)
        return value

    def note(self, file_name: bytes, reason: str) -> None:
        """Note that a file could be read and is of no use."""
        self.problems.note(PACK_FOLDER + b"/" + file_name, reason)
        self.unreadable.append(file_name)


def inspect_packs(
    listing: Listing, object_format: ObjectFormat, indexed_names: frozenset[bytes], problems: Problems
) -> PackFacts:
    """Return what lies in the pack folder.

    Args:
        listing: Of the common directory.
        object_format: Says how long ids are.
        indexed_names: Names of the packs that the multi-pack-index covers, without suffix.
        problems: Takes the files that could not be read.
    """
    entries = listing.folders.get(PACK_FOLDER, _NO_FILES)
    folder = _PackFolder(listing=listing, object_format=object_format, problems=problems)
    _sort(folder, entries)
    packs = tuple([_pack(folder, name, in_midx=name in indexed_names) for name in folder.of(b"pack")])
    keep_files = tuple([_keep_file(listing, name, found, problems) for name, found in folder.of(b"keep").items()])
    return _facts(packs, folder, keep_files, entries)


def _sort(folder: _PackFolder, entries: Stats) -> None:
    by_suffix = folder.by_suffix
    for name, found in entries.items():
        base, _, suffix = name.rpartition(b".")
        is_folder = stat.S_ISDIR(found[0])
        if name.startswith(b"multi-pack-index"):
            folder.multi_pack_index_bytes += 0 if is_folder else found[6]
        elif base and suffix in _SUFFIXES and not is_folder:
            by_suffix.setdefault(suffix, {})[base] = found
        else:
            folder.garbage.append(found)
    present = folder.of(b"pack").keys() | folder.of(b"idx").keys()
    for suffix in _SIDECAR_SUFFIXES:
        for base in folder.of(suffix).keys() - present:
            folder.garbage.append(by_suffix[suffix].pop(base))


def _pack(folder: _PackFolder, name: bytes, *, in_midx: bool) -> PackFile:
    found = folder.of(b"pack")[name]
    index = folder.of(b"idx").get(name)
    return PackFile(
        name=printable_path(name),
        bytes=found[6],
        mtime_s=found.st_mtime,
        object_count=_object_count(folder, name),
        index_bytes=index[6] if index else 0,
        kept=name in folder.of(b"keep"),
        cruft=name in folder.of(b"mtimes"),
        promisor=name in folder.of(b"promisor"),
        has_index=index is not None,
        has_reverse_index=name in folder.of(b"rev"),
        has_bitmap=name in folder.of(b"bitmap"),
        in_multi_pack_index=in_midx,
    )


def _object_count(folder: _PackFolder, name: bytes) -> int | None:
    """Read the headers of a pack and of what belongs to it; return the index's number of objects.

    The ends of both are compared as git does before it uses a pack (packfile.c, open_packed_git_1): it leaves out one
    that was cut short.
    """
    object_format = folder.object_format
    pack = folder.read(
        name, b"pack", lambda buffer: (read_pack_header(buffer).object_count, read_pack_checksum(buffer, object_format))
    )
    index = folder.read(
        name,
        b"idx",
        lambda buffer: (
            read_pack_index_header(buffer, object_format).object_count,
            read_checksum_of_pack(buffer, object_format),
        ),
    )
    if index is None:
        return None
    count = index[0]
    if pack is not None and pack[0] != count:
        folder.note(name + b".idx", f"the index has {count} objects, the pack {pack[0]}")
    elif pack is not None and pack[1] != index[1]:
        folder.note(name + b".pack", "it does not end as its index says, so git does not use it: cut short, or damaged")
    folder.read(name, b"rev", lambda buffer: read_reverse_index_header(buffer, count, object_format))
    folder.read(name, b"mtimes", lambda buffer: read_mtimes_header(buffer, count, object_format))
    return count


def _keep_file(listing: Listing, name: bytes, found: os.stat_result, problems: Problems) -> KeepFile:
    relative_path = b"objects/pack/" + name + b".keep"
    try:
        start = read_start(listing.path(relative_path), TRANSFER_MARK_BYTES, listed=found)
    except FileError as error:
        problems.note(relative_path, error.reason)
        start = b""
    return KeepFile(
        name=printable_path(name + b".keep"), mtime_s=found.st_mtime, by_transfer=start.startswith(TRANSFER_MARKS)
    )


def _temporary_files(packs: tuple[PackFile, ...], entries: Stats) -> tuple[TemporaryFile, ...]:
    """Leave out the files of packs that git reads: it opens every index, that of a stopped repack, too."""
    found = temporary_files(PACK_FOLDER, entries)
    if not found:
        return ()
    read = {f"objects/pack/{pack.name}" for pack in packs if pack.has_index or pack.in_multi_pack_index}
    return tuple(file for file in found if file.path.rpartition(".")[0] not in read)


def _facts(
    packs: tuple[PackFile, ...], folder: _PackFolder, keep_files: tuple[KeepFile, ...], entries: Stats
) -> PackFacts:
    kept = [pack.bytes for pack in packs if pack.kept]
    cruft = [pack.bytes for pack in packs if pack.cruft and not pack.kept]
    derived = [found[6] for suffix in _DERIVED_SUFFIXES for found in folder.of(suffix).values()]
    orphans = folder.of(b"idx").keys() - folder.of(b"pack").keys()
    return PackFacts(
        packs=packs,
        count=len(packs),
        bytes=sum_bytes([pack.bytes for pack in packs]),
        kept_count=len(kept),
        kept_bytes=sum_bytes(kept),
        cruft_count=len(cruft),
        cruft_bytes=sum_bytes(cruft),
        promisor_count=sum([pack.promisor for pack in packs]),
        index_bytes=sum_bytes([pack.index_bytes for pack in packs]),
        derived_bytes=sum_bytes([*derived, folder.multi_pack_index_bytes]),
        outside_midx_count=sum([not pack.in_multi_pack_index for pack in packs]),
        orphan_index_names=tuple([printable_path(name + b".idx") for name in sorted(orphans)]),
        missing_index_names=tuple([pack.name + ".pack" for pack in packs if not pack.has_index]),
        keep_files=keep_files,
        temporary_files=_temporary_files(packs, entries),
        garbage_count=len(folder.garbage),
        garbage_bytes=sum_bytes([found[6] for found in folder.garbage]),
        unreadable_names=tuple(map(printable_path, dict.fromkeys(folder.unreadable))),
    )
