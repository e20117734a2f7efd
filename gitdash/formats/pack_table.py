"""The layout that `pack-*.rev` and `pack-*.mtimes` share: a head, 4 bytes for each object, two checksums.

Source: gitformat-pack(5). The byte tables stand in reverse_index.py and mtimes.py.
"""

import struct
from dataclasses import dataclass
from typing import Final

from gitdash.formats.reading import (
    OBJECT_ID_LENGTH,
    Buffer,
    FormatError,
    object_format_of,
    require_signature,
    require_size,
    take,
)
from gitdash.model.inspection import ObjectFormat

_HEADER: Final = struct.Struct(">4sII")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackTableHeader:
    """What the first 12 bytes and the size of the file say."""

    version: int
    object_count: int


def read_pack_table_header(
    buffer: Buffer, signature: bytes, object_count: int, object_format: ObjectFormat
) -> PackTableHeader:
    """Read the header; the file's size must be the one that `object_count` asks for."""
    trailer_bytes = 2 * OBJECT_ID_LENGTH[object_format]
    length = require_size(buffer, _HEADER.size + trailer_bytes, "table of a pack")
    head = take(buffer, 0, _HEADER.size, "header")
    require_signature(head, signature)
    _, version, hash_version = _HEADER.unpack(head)
    if version != 1:
        raise FormatError(f"unknown version {version}", 4)
    if object_format_of(hash_version, 8) is not object_format:
        raise FormatError(f"hash version {hash_version} in a repository of {object_format}", 8)
    expected_bytes = _HEADER.size + 4 * object_count + trailer_bytes
    if length != expected_bytes:
        raise FormatError(
            f"{length} bytes, not {expected_bytes} for {object_count} objects", min(length, expected_bytes)
        )
    return PackTableHeader(version=version, object_count=object_count)
