"""The table of chunks that a multi-pack-index and a commit-graph share.

Source: gitformat-chunk(5). Does not read the chunks; chunks that no reader knows are listed and left alone.

    offset   size  field
    0        4     id of the first chunk
    4        8     offset of the chunk in the file; it ends where the next one starts
    ...      12    one row for each chunk (C rows)
    C*12     4     zero
    C*12+4   8     offset of the end of the last chunk; the trailer follows
"""

import struct
from dataclasses import dataclass
from typing import Final

from gitdash.formats.reading import Buffer, FormatError, take

_ROW_BYTES: Final = 12
_LAST_ID: Final = b"\0\0\0\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One chunk of a file."""

    offset: int
    """From the start of the file."""
    size_bytes: int


def read_chunk_table(
    buffer: Buffer, offset: int, chunk_count: int, *, trailer_bytes: int, alignment: int
) -> dict[bytes, Chunk]:
    """Read the table at `offset`: the chunks by id, in the order of the file.

    Each chunk lies between the table and the trailer, starts at a multiple of `alignment`, and has an id of its own.
    """
    table_bytes = (chunk_count + 1) * _ROW_BYTES
    rows = list(struct.iter_unpack(">4sQ", take(buffer, offset, table_bytes, "table of chunks")))
    end_limit = len(buffer) - trailer_bytes
    chunks: dict[bytes, Chunk] = {}
    previous = offset + table_bytes
    for position, (chunk_id, chunk_offset) in enumerate(rows):
        row_offset = offset + position * _ROW_BYTES
        if (chunk_id == _LAST_ID) != (position == chunk_count):
            raise FormatError("table of chunks ends elsewhere than its count says", row_offset)
        if chunk_id in chunks:
            raise FormatError("a chunk appears twice", row_offset)
        if not previous <= chunk_offset <= end_limit or chunk_offset % alignment:
            raise FormatError("a chunk starts or ends at a wrong offset", row_offset + 4)
        if position < chunk_count:
            chunks[chunk_id] = Chunk(offset=chunk_offset, size_bytes=rows[position + 1][1] - chunk_offset)
        previous = chunk_offset
    return chunks


def require_chunk(chunks: dict[bytes, Chunk], chunk_id: bytes, table_offset: int) -> Chunk:
    """Return a chunk that the format asks for; raises FormatError at the table if it is absent."""
    chunk = chunks.get(chunk_id)
    if chunk is None:
        raise FormatError(f"required chunk {chunk_id!r} is absent", table_offset)
    return chunk


def check_row_count(chunks: dict[bytes, Chunk], chunk_id: bytes, row_bytes: int, row_count: int | None) -> None:
    """Raise FormatError at the chunk if it is there and does not hold `row_count` rows; None allows any number."""
    chunk = chunks.get(chunk_id)
    if chunk is None:
        return
    wanted_bytes = chunk.size_bytes // row_bytes * row_bytes if row_count is None else row_count * row_bytes
    if chunk.size_bytes != wanted_bytes:
        rows = "whole" if row_count is None else str(row_count)
        message = f"chunk {chunk_id!r} has {chunk.size_bytes} bytes, not {rows} rows of {row_bytes}"
        raise FormatError(message, chunk.offset)
