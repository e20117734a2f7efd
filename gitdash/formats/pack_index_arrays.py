"""Sorted object ids and sizes on disk of one pack, as numpy arrays, from its index.

Source: gitformat-pack(5); the byte tables of versions 1 and 2 stand in `pack_index.py`. An object's size on disk is the
distance from its offset to the next one; the last object ends where the pack's trailing checksum begins.

Because numbers are made of what is read here, more is checked than git checks: that ids are sorted and agree with
the fan-out table, and that the offsets tile the pack. Checksums are not verified here, CRCs not at all. An id may stand
more than once: git allows a pack to hold an object twice.

Imports numpy: import this module only where it is used.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gitdash.formats.pack_index import VERSION_2_FAN_OUT_OFFSET, PackIndexHeader, read_pack_index_header
from gitdash.formats.reading import FAN_OUT_BYTES, OBJECT_ID_LENGTH, Buffer, FormatError, take
from gitdash.model.inspection import ObjectFormat

PACK_HEADER_BYTES: Final = 12
"""Signature, version and number of objects: the first object begins here."""

_VERSION_2_IDS_OFFSET: Final = VERSION_2_FAN_OUT_OFFSET + FAN_OUT_BYTES
_LARGE_OFFSET_BIT: Final = 0x8000_0000

ObjectIds = NDArray[np.uint8]
"""One row for each object, one column for each byte of its id."""

Prefixes = NDArray[np.uint64]
"""The first eight bytes of each id as a number: sorted as the ids are, and much faster to search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedObjects:
    """What one index says of the objects in its pack."""

    object_ids: ObjectIds
    """Sorted."""
    sizes_bytes: NDArray[np.int64]
    """Size on disk of each object, in the order of the ids."""


def read_object_ids(buffer: Buffer, object_format: ObjectFormat) -> ObjectIds:
    """Return the sorted ids of an index; raises FormatError."""
    header = read_pack_index_header(buffer, object_format)
    return _read_ids(buffer, header, OBJECT_ID_LENGTH[object_format])


def read_packed_objects(buffer: Buffer, object_format: ObjectFormat, pack_bytes: int) -> PackedObjects:
    """Return ids and sizes of an index whose pack file has `pack_bytes`; raises FormatError."""
    header = read_pack_index_header(buffer, object_format)
    id_bytes = OBJECT_ID_LENGTH[object_format]
    sizes_bytes = _sizes(_read_offsets(buffer, header, id_bytes), pack_bytes - id_bytes)
    return PackedObjects(object_ids=_read_ids(buffer, header, id_bytes), sizes_bytes=sizes_bytes)


def prefixes_of(object_ids: ObjectIds) -> Prefixes:
    """Return the first eight bytes of each id as a number of this machine's byte order."""
    count, width = object_ids.shape
    # one pass over numbers that lie `width` bytes apart
    in_place = np.ndarray((count,), ">u8", np.ascontiguousarray(object_ids), strides=(width,))
    return in_place.astype(np.uint64)


def as_byte_strings(object_ids: ObjectIds) -> NDArray[np.bytes_]:
    """Return the same ids, without a copy, as an array of byte strings that numpy can sort and search.

    numpy takes trailing zero bytes for padding; as all ids have one length, order and equality stay those of the bytes.
    """
    width = object_ids.shape[1]
    return np.ascontiguousarray(object_ids).view(f"S{width}").reshape(len(object_ids))


def require_sorted(object_ids: ObjectIds, prefixes: Prefixes, offset: int) -> None:
    """Raise FormatError, with this offset, unless the ids are in order; equal ones may follow each other."""
    # equal prefixes are rare; only there the rest of the ids is compared
    if bool((prefixes[1:] < prefixes[:-1]).any()):
        raise FormatError("object ids are not sorted", offset)
    equal = np.flatnonzero(prefixes[1:] == prefixes[:-1])
    if bool((as_byte_strings(object_ids[equal]) > as_byte_strings(object_ids[equal + 1])).any()):
        raise FormatError("object ids are not sorted", offset)


def _read_ids(buffer: Buffer, header: PackIndexHeader, id_bytes: int) -> ObjectIds:
    count = header.object_count
    if header.version == 1:
        rows = _table(buffer, FAN_OUT_BYTES, (count, 4 + id_bytes), np.uint8, "offsets and object ids")
        object_ids, fan_out_offset = np.ascontiguousarray(rows[:, 4:]), 0
    else:
        object_ids = _table(buffer, _VERSION_2_IDS_OFFSET, (count, id_bytes), np.uint8, "object ids")
        fan_out_offset = VERSION_2_FAN_OUT_OFFSET
    prefixes = prefixes_of(object_ids)
    require_sorted(object_ids, prefixes, fan_out_offset + FAN_OUT_BYTES)
    _require_fan_out(buffer, fan_out_offset, prefixes)
    return object_ids


def _require_fan_out(buffer: Buffer, offset: int, prefixes: Prefixes) -> None:
    fan_out = _table(buffer, offset, (256,), ">u4", "fan-out table")
    first_of_next_byte = np.arange(1, 256, dtype=np.uint64) << np.uint64(56)
    if not np.array_equal(np.searchsorted(prefixes, first_of_next_byte), fan_out[:255]):
        raise FormatError("fan-out table and object ids disagree", offset)


def _read_offsets(buffer: Buffer, header: PackIndexHeader, id_bytes: int) -> NDArray[np.uint64]:
    count = header.object_count
    if header.version == 1:
        rows = _table(buffer, FAN_OUT_BYTES, (count, 4 + id_bytes), np.uint8, "offsets and object ids")
        return np.ascontiguousarray(rows[:, :4]).view(">u4").reshape(count).astype(np.uint64)
    start = _VERSION_2_IDS_OFFSET + count * (id_bytes + 4)
    offsets = _table(buffer, start, (count,), ">u4", "offsets").astype(np.uint64)
    large = np.flatnonzero(offsets & np.uint64(_LARGE_OFFSET_BIT))
    if large.size:
        positions = offsets[large] ^ np.uint64(_LARGE_OFFSET_BIT)
        if int(positions.max()) >= header.large_offset_count:
            raise FormatError("an offset points behind the table of 64-bit offsets", start)
        table = _table(buffer, start + 4 * count, (header.large_offset_count,), ">u8", "64-bit offsets")
        offsets[large] = table[positions]
    return offsets


def _sizes(offsets: NDArray[np.uint64], objects_end: int) -> NDArray[np.int64]:
    """Distances from each offset to the next higher one; `objects_end` is where the last object ends."""
    sizes_bytes = np.empty(len(offsets), np.int64)
    if not len(offsets):
        return sizes_bytes
    order = np.argsort(offsets)
    if int(offsets[order[0]]) != PACK_HEADER_BYTES:
        raise FormatError("no object begins behind the pack's header", PACK_HEADER_BYTES)
    if int(offsets[order[-1]]) >= objects_end:
        raise FormatError("an offset lies beyond the end of the pack", objects_end)
    # all offsets are below a file's size now, so they fit into signed integers
    distances = np.diff(offsets[order].view(np.int64), append=np.int64(objects_end))
    if int(distances.min()) <= 0:
        raise FormatError("two objects have the same offset", PACK_HEADER_BYTES)
    sizes_bytes[order] = distances
    return sizes_bytes


def _table(buffer: Buffer, offset: int, shape: tuple[int, ...], dtype: DTypeLike, name: str) -> NDArray[Any]:
    """A view of the file's bytes; numpy keeps the slice alive and does not copy it."""
    size_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(take(buffer, offset, size_bytes, name), dtype=dtype).reshape(shape)
