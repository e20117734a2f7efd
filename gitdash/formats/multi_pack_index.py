"""The multi-pack-index, one layer of an incremental one, and the chain file that names the layers.

Source: gitformat-pack(5), "multi-pack-index (MIDX) files", gitformat-chunk(5), and git's midx.c (2.55) for
version 2, whose pack names need no order, and for layers, which lie in `objects/pack/multi-pack-index.d` as
`multi-pack-index-<checksum>.midx`. Reads header, table, pack names, fan-out and checksum; neither object ids nor
offsets.

    offset  size     field
    0       4        signature `MIDX`
    4       1        version, 1 or 2
    5       1        hash function, 1 for sha1, 2 for sha256
    6       1        number of chunks (C)
    7       1        number of base files
    8       4        number of packs (P)
    12      (C+1)*12 table of chunks, see chunk_table.py
    end-H   H        checksum of all of the above (H: 20 for sha1, 32 for sha256)

    chunk  size       content (N: number of objects)
    PNAM   ...        P names of index files, each ends with a NUL; filled up with NULs to a multiple of 4
    OIDF   1024       fan-out: 256 counts, the last is N
    OIDL   N*H        sorted object ids
    OOFF   N*8        number of the pack, offset in it
    LOFF   multiple of 8, optional: offsets of 64 bits
    RIDX   N*4        optional: objects in the order of the bitmap
    BTMP   P*8        optional: first bit and number of bits of each pack
"""

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gitdash.formats.chunk_table import Chunk, check_row_count, read_chunk_table, require_chunk
from gitdash.formats.reading import (
    FAN_OUT_BYTES,
    OBJECT_ID_LENGTH,
    Buffer,
    FormatError,
    object_format_of,
    read_chain,
    read_fan_out_total,
    require_signature,
    require_size,
    take,
)
from gitdash.model.inspection import ObjectFormat

_HEADER: Final = struct.Struct(">4sBBBBI")
_ALIGNMENT: Final = 4
_LONGEST_NAME_BYTES: Final = 255
"""No file system holds a longer name; it bounds what is read for the names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiPackIndex:
    """What the head of a multi-pack-index says."""

    version: int
    object_format: ObjectFormat
    pack_names: tuple[bytes, ...]
    """As in the file: `pack-<id>.idx`. File names without a slash, never `.` or `..`."""
    object_count: int
    """Of this layer alone."""
    chunk_ids: tuple[bytes, ...]
    """In the order of the file, unknown ones included."""
    base_count: int
    """What the header says of base files; git writes 0 even in a layer, whose chain file tells instead."""
    checksum: str
    """Hexadecimal; names the file's bitmap and, for a layer, the file itself."""


def read_multi_pack_index(buffer: Buffer) -> MultiPackIndex:
    """Read the head of a multi-pack-index or of one layer."""
    length = require_size(buffer, _HEADER.size, "multi-pack-index")
    head = take(buffer, 0, _HEADER.size, "multi-pack-index header")
    require_signature(head, b"MIDX")
    _, version, hash_version, chunk_count, base_count, pack_count = _HEADER.unpack(head)
    if version not in {1, 2}:
        raise FormatError(f"unknown multi-pack-index version {version}", 4)
    object_format = object_format_of(hash_version, 5)
    id_bytes = OBJECT_ID_LENGTH[object_format]
    chunks = read_chunk_table(buffer, _HEADER.size, chunk_count, trailer_bytes=id_bytes, alignment=_ALIGNMENT)
    object_count = _check_chunks(buffer, chunks, id_bytes, pack_count)
    return MultiPackIndex(
        version=version,
        object_format=object_format,
        pack_names=_read_pack_names(buffer, chunks[b"PNAM"], pack_count, is_sorted=version == 1),
        object_count=object_count,
        chunk_ids=tuple(chunks),
        base_count=base_count,
        checksum=take(buffer, length - id_bytes, id_bytes, "checksum").hex(),
    )


def read_multi_pack_index_chain(data: bytes) -> tuple[str, ...]:
    """Return the hexadecimal checksums of the layers that `multi-pack-index-chain` names, the oldest first."""
    return read_chain(data)


def _check_chunks(buffer: Buffer, chunks: dict[bytes, Chunk], id_bytes: int, pack_count: int) -> int:
    """Check presence and size of the chunks; return the number of objects."""
    names, fan_out, _, _ = (
        require_chunk(chunks, chunk_id, _HEADER.size) for chunk_id in (b"PNAM", b"OIDF", b"OIDL", b"OOFF")
    )
    if not 2 * pack_count <= names.size_bytes <= (_LONGEST_NAME_BYTES + 1) * pack_count + _ALIGNMENT - 1:
        raise FormatError(f"{names.size_bytes} bytes cannot hold the names of {pack_count} packs", 8)
    check_row_count(chunks, b"OIDF", FAN_OUT_BYTES, 1)
    object_count = read_fan_out_total(buffer, fan_out.offset)
    check_row_count(chunks, b"OIDL", id_bytes, object_count)
    check_row_count(chunks, b"OOFF", 8, object_count)
    check_row_count(chunks, b"LOFF", 8, None)
    check_row_count(chunks, b"RIDX", 4, object_count)
    check_row_count(chunks, b"BTMP", 8, pack_count)
    return object_count


def _read_pack_names(buffer: Buffer, chunk: Chunk, pack_count: int, *, is_sorted: bool) -> tuple[bytes, ...]:
    """Return the names; one that could lead out of the pack folder is an error, and so is a wrong order."""
    data = take(buffer, chunk.offset, chunk.size_bytes, "pack names")
    *names, padding = data.split(b"\0", pack_count)
    if len(names) != pack_count or padding.strip(b"\0"):
        raise FormatError(f"the names are not those of {pack_count} packs", chunk.offset)
    offset = chunk.offset
    for name in names:
        if name in {b"", b".", b".."} or b"/" in name or len(name) > _LONGEST_NAME_BYTES:
            raise FormatError("a pack name is not a file name", offset)
        offset += len(name) + 1
    if is_sorted and any(name >= following for name, following in pairwise(names)):
        raise FormatError("pack names are not in order", chunk.offset)
    return tuple(names)
