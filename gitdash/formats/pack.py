"""The header of a pack.

Source: gitformat-pack(5), "pack-*.pack files"; git reads versions 2 and 3. Does not read objects.

    offset  size  field
    0       4     signature `PACK`
    4       4     version, 2 or 3
    8       4     number of objects
    12      ...   object entries, at least 7 bytes each
    end-H   H     checksum of all of the above (H: 20 for sha1, 32 for sha256)
"""

import struct
from dataclasses import dataclass
from typing import Final

from gitdash.formats.reading import OBJECT_ID_LENGTH, Buffer, FormatError, require_signature, require_size, take
from gitdash.model.inspection import ObjectFormat

_HEADER: Final = struct.Struct(">4sII")
_LEAST_TRAILER_BYTES: Final = OBJECT_ID_LENGTH[ObjectFormat.SHA1]
_LEAST_ENTRY_BYTES: Final = 9
"""One byte of type and length, and the shortest zlib stream: 2 bytes of header, 2 of data, 4 of checksum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackHeader:
    """What the first 12 bytes of a pack say."""

    version: int
    object_count: int
    """Not more than the file has room for."""


def read_pack_header(buffer: Buffer) -> PackHeader:
    """Read a pack's header; a count of objects that the file has no room for is an error."""
    length = require_size(buffer, _HEADER.size + _LEAST_TRAILER_BYTES, "pack")
    header = take(buffer, 0, _HEADER.size, "pack header")
    require_signature(header, b"PACK")
    _, version, object_count = _HEADER.unpack(header)
    if version not in {2, 3}:
        raise FormatError(f"unknown pack version {version}", 4)
    if object_count * _LEAST_ENTRY_BYTES > length - _HEADER.size - _LEAST_TRAILER_BYTES:
        raise FormatError(f"{object_count} objects do not fit into {length} bytes", 8)
    return PackHeader(version=version, object_count=object_count)


def read_pack_checksum(buffer: Buffer, object_format: ObjectFormat) -> bytes:
    """Return what a pack says at its end of all before; it is not verified. Raises FormatError."""
    id_bytes = OBJECT_ID_LENGTH[object_format]
    return take(buffer, require_size(buffer, id_bytes, "pack") - id_bytes, id_bytes, "checksum of the pack")
