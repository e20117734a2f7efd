"""Loose objects: the shards `objects/00` to `objects/ff`.

Source: gitrepository-layout(5), "objects/[0-9a-f][0-9a-f]"; what counts as an object and what as garbage follows
`git count-objects -v` (builtin/count-objects.c), except that upper-case hex is garbage, which git itself never
writes and cannot find. An entry that vanishes between listing and lstat(2) has never been there: git writes and
prunes meanwhile. Does not open objects.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import compress
from typing import Final

from gitdash.formats.reading import OBJECT_ID_LENGTH
from gitdash.inspection.files import FileError, FileMissingError, file_error, kind_name
from gitdash.inspection.folders import list_folder
from gitdash.inspection.listing import SHARD_NAMES, Listing
from gitdash.inspection.temporary import is_temporary_name, temporary_file, temporary_files
from gitdash.model.inspection import LooseFacts, ObjectFormat, TemporaryFile
from gitdash.units import sum_bytes

_HEX_DIGITS: Final = b"0123456789abcdef"
_KIND_MASK: Final = 0o170000
_REGULAR: Final = 0o100000
_FOLDER: Final = 0o040000


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseScan:
    """What a pass over the shards found."""

    facts: LooseFacts
    next_stale_s: float | None
    """The earliest moment at which another object turns stale; None if none will."""
    unreadable: tuple[tuple[bytes, str], ...]
    """Relative path and reason of shards that could not be listed."""


@dataclass(slots=True)
class _Tally:
    objects: list[os.stat_result] = field(default_factory=list)
    garbage: list[os.stat_result] = field(default_factory=list)
    temporary: list[TemporaryFile] = field(default_factory=list)
    unreadable: list[tuple[bytes, str]] = field(default_factory=list)


def scan_loose(listing: Listing, object_format: ObjectFormat, *, now_s: float, stale_age_s: float) -> LooseScan:
    """Look at every entry of every shard once; the files count towards the listing's sums as well.

    Args:
        listing: Of the common directory.
        object_format: Says how long names are.
        now_s: The moment from which ages count.
        stale_age_s: Older objects are stale.
    """
    entries = listing.folders.get(b"objects", {})
    tally = _Tally()
    for name, found in entries.items():
        if name in SHARD_NAMES:
            tally.unreadable.append((b"objects/" + name, f"{kind_name(found[0])}, not a folder"))
    names, shard_17_count = _names(listing.objects_prefix, listing.shards, tally)
    _sort_out(listing.objects_prefix, names, 2 * OBJECT_ID_LENGTH[object_format] + 1, tally)
    files = [found for found in tally.garbage if found[0] & _KIND_MASK != _FOLDER]
    if tally.objects or files:
        listing.add_files(b"objects", tally.objects + files)
    return _scan(tally, shard_17_count, temporary_files(b"objects", entries), now_s, stale_age_s)


def _names(objects_prefix: bytes, shards: list[bytes], tally: _Tally) -> tuple[list[bytes], int]:
    """Return `ab/cdef…` for all entries of all shards, and how many are in shard 17."""
    names: list[bytes] = []
    shard_17_count = 0
    for shard in shards:
        try:
            found = os.listdir(objects_prefix + shard)
        except FileNotFoundError:
            continue
        except OSError as error:
            tally.unreadable.append((b"objects/" + shard, file_error(shard, error).reason))
            continue
        inner = shard + b"/"
        names += [inner + name for name in found]
        if shard == b"17":
            shard_17_count = len(found)
    return names, shard_17_count


def _sort_out(objects_prefix: bytes, names: list[bytes], length: int, tally: _Tally) -> None:
    """Put the lstat(2) of each entry to the objects or to the garbage."""
    paths = [objects_prefix + name for name in names] if objects_prefix else names
    try:
        stats = list(map(os.lstat, paths))
    except OSError:
        names, stats = _present(objects_prefix, names, tally)
    if _all_are_objects(names, length) and all(found[0] & _KIND_MASK == _REGULAR for found in stats):
        tally.objects = stats
        return
    are_objects = [
        _is_object_name(name, length) and found[0] & _KIND_MASK == _REGULAR
        for name, found in zip(names, stats, strict=True)
    ]
    tally.objects = list(compress(stats, are_objects))
    for name, found, is_object in zip(names, stats, are_objects, strict=True):
        if not is_object:
            tally.garbage.append(found)
            if is_temporary_name(name[3:]):
                tally.temporary.append(temporary_file(b"objects/" + name, found))


def _present(objects_prefix: bytes, names: list[bytes], tally: _Tally) -> tuple[list[bytes], list[os.stat_result]]:
    kept: list[bytes] = []
    stats: list[os.stat_result] = []
    for name in names:
        try:
            stats.append(os.lstat(objects_prefix + name))
        except FileNotFoundError:
            continue
        except OSError as error:
            tally.unreadable.append((b"objects/" + name, file_error(name, error).reason))
            continue
        kept.append(name)
    return kept, stats


def _all_are_objects(names: list[bytes], length: int) -> bool:
    joined = b"".join(names)
    return len(joined) == length * len(names) and joined.translate(None, _HEX_DIGITS) == b"/" * len(names)


def _is_object_name(name: bytes, length: int) -> bool:
    return len(name) == length and not name[3:].translate(None, _HEX_DIGITS)


def _scan(
    tally: _Tally, shard_17_count: int, temporary: tuple[TemporaryFile, ...], now_s: float, stale_age_s: float
) -> LooseScan:
    cutoff_s = now_s - stale_age_s
    times_s = [found[8] for found in tally.objects]
    stale: list[int] = []
    fresh_s = times_s
    if times_s and min(times_s) < cutoff_s:
        stale = [found[6] for found in tally.objects if found[8] < cutoff_s]
        fresh_s = [time_s for time_s in times_s if time_s >= cutoff_s]
    facts = LooseFacts(
        count=len(tally.objects),
        bytes=sum_bytes([found[6] for found in tally.objects]),
        stale_count=len(stale),
        stale_bytes=sum_bytes(stale),
        garbage_count=len(tally.garbage),
        garbage_bytes=sum_bytes([found[6] for found in tally.garbage]),
        shard_17_count=shard_17_count,
        temporary_files=temporary + tuple(tally.temporary),
    )
    return LooseScan(
        facts=facts,
        next_stale_s=min(fresh_s) + stale_age_s if fresh_s else None,
        unreadable=tuple(tally.unreadable),
    )


def loose_object_names(objects_dir: bytes) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the id in hexadecimal, and what lstat(2) says, of each loose object of a store of either hash function.

    Raises FileError if the store, or a shard, cannot be listed.
    """
    prefix = objects_dir + b"/"
    try:
        shards = sorted(SHARD_NAMES.intersection(os.listdir(objects_dir)))
    except OSError as error:
        raise file_error(objects_dir, error) from error
    for shard in shards:
        yield from _objects_of_shard(prefix, shard)


def _objects_of_shard(prefix: bytes, shard: bytes) -> Iterator[tuple[str, os.stat_result]]:
    try:
        names, stats = list_folder(prefix + shard + b"/")
    except FileMissingError:
        return
    except FileError as error:
        if not os.path.isdir(prefix + shard):
            return
        raise error from error
    lengths = {2 * length - 2 for length in OBJECT_ID_LENGTH.values()}
    for name, found in zip(names, stats, strict=True):
        if len(name) in lengths and not name.translate(None, _HEX_DIGITS) and found[0] & _KIND_MASK == _REGULAR:
            yield (shard + name).decode("ascii"), found
