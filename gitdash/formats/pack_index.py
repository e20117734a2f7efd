"""The header of a pack's index: versions 1 and 2, with the table of 64-bit offsets.

Source: gitformat-pack(5), "Original (version 1) pack-*.idx files" and "Version 2 pack-*.idx files". Reads the
header, the fan-out table and the file's size; ids and offsets are read by pack_index_arrays.py.

Version 1 (H: 20 for sha1, 32 for sha256; N: number of objects):

    offset  size     field
    0       1024     fan-out: 256 counts, the last is N
    1024    N*(4+H)  offset in the pack, object id
    end-2H  H        checksum of the pack
    end-H   H        checksum of all of the above

Version 2:

    offset  size     field
    0       4        signature ff 74 4f 63, which is no fan-out of version 1
    4       4        version, 2
    8       1024     fan-out: 256 counts, the last is N
    1032    N*H      sorted object ids
    ...     N*4      CRC-32 of each packed object
    ...     N*4      offset in the pack; with the highest bit set, a position in the next table
    ...     L*8      offsets of 64 bits, L <= N-1
    end-2H  H        checksum of the pack
    end-H   H        checksum of all of the above
"""

from dataclasses import dataclass
from typing import Final

from gitdash.formats.reading import (
    FAN_OUT_BYTES,
    OBJECT_ID_LENGTH,
    Buffer,
    FormatError,
    read_fan_out_total,
    require_size,
    take,
)
from gitdash.model.inspection import ObjectFormat

VERSION_2_SIGNATURE: Final = b"\xfftOc"
VERSION_2_FAN_OUT_OFFSET: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PackIndexHeader:
    """What the head and the size of an index say."""

    version: int
    object_count: int
    large_offset_count: int
    """Rows of the table of 64-bit offsets; 0 in version 1."""


def read_pack_index_header(buffer: Buffer, object_format: ObjectFormat) -> PackIndexHeader:
    """Read an index's header; the file's size must be the one that its number of objects asks for."""
    id_bytes = OBJECT_ID_LENGTH[object_format]
    require_size(buffer, FAN_OUT_BYTES + 2 * id_bytes, "pack index")
    head = take(buffer, 0, VERSION_2_FAN_OUT_OFFSET, "pack index header")
    if not head.startswith(VERSION_2_SIGNATURE):
        return _read_version_1(buffer, id_bytes)
    version = int.from_bytes(head[4:], "big")
    if version != 2:
        raise FormatError(f"unknown pack index version {version}", 4)
    return _read_version_2(buffer, id_bytes)


def _read_version_1(buffer: Buffer, id_bytes: int) -> PackIndexHeader:
    object_count = read_fan_out_total(buffer, 0)
    expected_bytes = FAN_OUT_BYTES + object_count * (4 + id_bytes) + 2 * id_bytes
    if len(buffer) != expected_bytes:
        raise FormatError(_wrong_size(len(buffer), object_count), min(len(buffer), expected_bytes))
    return PackIndexHeader(version=1, object_count=object_count, large_offset_count=0)


def _read_version_2(buffer: Buffer, id_bytes: int) -> PackIndexHeader:
    object_count = read_fan_out_total(buffer, VERSION_2_FAN_OUT_OFFSET)
    least_bytes = VERSION_2_FAN_OUT_OFFSET + FAN_OUT_BYTES + object_count * (id_bytes + 8) + 2 * id_bytes
    large_offset_count, rest = divmod(len(buffer) - least_bytes, 8)
    # the first object of a pack lies at byte 12, so at least one offset is small
    if rest or not 0 <= large_offset_count <= max(object_count - 1, 0):
        raise FormatError(_wrong_size(len(buffer), object_count), min(len(buffer), least_bytes))
    return PackIndexHeader(version=2, object_count=object_count, large_offset_count=large_offset_count)


def _wrong_size(length: int, object_count: int) -> str:
    return f"{length} bytes are the wrong size for an index of {object_count} objects"


def read_checksum_of_pack(buffer: Buffer, object_format: ObjectFormat) -> bytes:
    """Return what an index says that its pack ends with; it is not verified. Raises FormatError."""
    id_bytes = OBJECT_ID_LENGTH[object_format]
    length = require_size(buffer, FAN_OUT_BYTES + 2 * id_bytes, "pack index")
    return take(buffer, length - 2 * id_bytes, id_bytes, "checksum of the pack")


def read_first_object_id(buffer: Buffer, object_format: ObjectFormat) -> str | None:
    """Return the lowest id of an index, in hexadecimal; None if it has none. Raises FormatError."""
    header = read_pack_index_header(buffer, object_format)
    if not header.object_count:
        return None
    start = FAN_OUT_BYTES + (4 if header.version == 1 else VERSION_2_FAN_OUT_OFFSET)
    return take(buffer, start, OBJECT_ID_LENGTH[object_format], "first object id").hex()
