"""The commit-graph, one layer of a split one, and the chain file that names the layers.

Source: gitformat-commit-graph(5), gitformat-chunk(5). Reads header, table, fan-out and checksum; no commits.

    offset  size     field
    0       4        signature `CGPH`
    4       1        version, 1
    5       1        hash function, 1 for sha1, 2 for sha256
    6       1        number of chunks (C)
    7       1        number of base graphs (B)
    8       (C+1)*12 table of chunks, see chunk_table.py
    end-H   H        checksum of all of the above (H: 20 for sha1, 32 for sha256)

    chunk  size      content (N: number of commits)
    OIDF   1024      fan-out: 256 counts, the last is N
    OIDL   N*H       sorted commit ids
    CDAT   N*(H+16)  tree, two parents, generation and time
    GDA2   N*4       optional: corrected commit dates
    GDO2   multiple of 8, optional: those that do not fit into 31 bits
    EDGE   multiple of 4, optional: further parents
    BIDX   N*4       optional: ends of the changed-path filters
    BDAT   12+...    optional: changed-path filters
    BASE   B*H       checksums of the base graphs, if there are any
"""

import struct
from dataclasses import dataclass
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

_HEADER: Final = struct.Struct(">4sBBBB")
_BLOOM_HEADER_BYTES: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitGraph:
    """What the head of a commit-graph file says."""

    version: int
    object_format: ObjectFormat
    commit_count: int
    """Of this layer alone."""
    base_count: int
    """Layers below this one."""
    chunk_ids: tuple[bytes, ...]
    """In the order of the file, unknown ones included."""
    checksum: str
    """Hexadecimal; names the file of a layer."""


def read_commit_graph(buffer: Buffer) -> CommitGraph:
    """Read the head of a commit-graph file or of one layer."""
    length = require_size(buffer, _HEADER.size, "commit-graph")
    head = take(buffer, 0, _HEADER.size, "commit-graph header")
    require_signature(head, b"CGPH")
    _, version, hash_version, chunk_count, base_count = _HEADER.unpack(head)
    if version != 1:
        raise FormatError(f"unknown commit-graph version {version}", 4)
    object_format = object_format_of(hash_version, 5)
    id_bytes = OBJECT_ID_LENGTH[object_format]
    # changed-path filters have any length, so what follows them is not aligned
    chunks = read_chunk_table(buffer, _HEADER.size, chunk_count, trailer_bytes=id_bytes, alignment=1)
    return CommitGraph(
        version=version,
        object_format=object_format,
        commit_count=_check_chunks(buffer, chunks, id_bytes, base_count),
        base_count=base_count,
        chunk_ids=tuple(chunks),
        checksum=take(buffer, length - id_bytes, id_bytes, "checksum").hex(),
    )


def read_commit_graph_chain(data: bytes) -> tuple[str, ...]:
    """Return the hexadecimal checksums of the layers that `commit-graph-chain` names, the oldest first."""
    return read_chain(data)


def _check_chunks(buffer: Buffer, chunks: dict[bytes, Chunk], id_bytes: int, base_count: int) -> int:
    """Check presence and size of the chunks; return the number of commits."""
    fan_out = require_chunk(chunks, b"OIDF", _HEADER.size)
    require_chunk(chunks, b"OIDL", _HEADER.size)
    require_chunk(chunks, b"CDAT", _HEADER.size)
    if base_count:
        require_chunk(chunks, b"BASE", _HEADER.size)
    check_row_count(chunks, b"OIDF", FAN_OUT_BYTES, 1)
    commit_count = read_fan_out_total(buffer, fan_out.offset)
    check_row_count(chunks, b"OIDL", id_bytes, commit_count)
    check_row_count(chunks, b"CDAT", id_bytes + 16, commit_count)
    check_row_count(chunks, b"GDA2", 4, commit_count)
    check_row_count(chunks, b"GDO2", 8, None)
    check_row_count(chunks, b"EDGE", 4, None)
    check_row_count(chunks, b"BIDX", 4, commit_count)
    check_row_count(chunks, b"BASE", id_bytes, base_count)
    filters = chunks.get(b"BDAT")
    if filters is not None and filters.size_bytes < _BLOOM_HEADER_BYTES:
        raise FormatError(f"{filters.size_bytes} bytes are too few for changed-path filters", filters.offset)
    return commit_count
