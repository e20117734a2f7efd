"""Files of git's binary formats, made by hand: also those that the git under test is too old to write."""

import struct
from collections.abc import Sequence
from itertools import accumulate

from gitdash.model.inspection import ObjectFormat

HASH_VERSION = {ObjectFormat.SHA1: 1, ObjectFormat.SHA256: 2}
ID_BYTES = {ObjectFormat.SHA1: 20, ObjectFormat.SHA256: 32}
CHUNK_ROW_BYTES = 12


def fan_out(first_bytes: Sequence[int]) -> bytes:
    """The fan-out table of objects whose ids start with these bytes."""
    counts = [0] * 256
    for first_byte in first_bytes:
        counts[first_byte] += 1
    return struct.pack(">256I", *accumulate(counts))


def object_ids(count: int, object_format: ObjectFormat) -> list[bytes]:
    """Sorted ids, one for each first byte from 0."""
    return [bytes((number,)) * ID_BYTES[object_format] for number in range(count)]


def pack_index_version_1(count: int, object_format: ObjectFormat) -> bytes:
    """An index of version 1."""
    ids = object_ids(count, object_format)
    rows = b"".join(struct.pack(">I", 12 + 9 * number) + object_id for number, object_id in enumerate(ids))
    return fan_out(range(count)) + rows + bytes(2 * ID_BYTES[object_format])


def pack_index_version_2(count: int, large_count: int, object_format: ObjectFormat) -> bytes:
    """An index of version 2 whose last `large_count` offsets need 64 bits."""
    small = [12 + 9 * number for number in range(count - large_count)]
    large = [(1 << 40) + 9 * number for number in range(large_count)]
    offsets = small + [0x80000000 | number for number in range(large_count)]
    return b"".join(
        (
            b"\xfftOc\0\0\0\2",
            fan_out(range(count)),
            *object_ids(count, object_format),
            bytes(4 * count),
            struct.pack(f">{count}I", *offsets),
            struct.pack(f">{large_count}Q", *large),
            bytes(2 * ID_BYTES[object_format]),
        )
    )


def chunked(header: bytes, chunks: Sequence[tuple[bytes, bytes]], trailer: bytes) -> bytes:
    """A file of chunks in this order, with its table."""
    offset = len(header) + (len(chunks) + 1) * CHUNK_ROW_BYTES
    table = b""
    for chunk_id, content in chunks:
        table += struct.pack(">4sQ", chunk_id, offset)
        offset += len(content)
    table += struct.pack(">4sQ", bytes(4), offset)
    return header + table + b"".join(content for _, content in chunks) + trailer


def multi_pack_index(
    *,
    version: int = 1,
    object_format: ObjectFormat = ObjectFormat.SHA1,
    pack_names: Sequence[bytes] = (b"pack-a.idx", b"pack-b.idx"),
    object_count: int = 3,
    base_count: int = 0,
    more_chunks: Sequence[tuple[bytes, bytes]] = (),
    replaced: dict[bytes, bytes] | None = None,
    absent: Sequence[bytes] = (),
) -> bytes:
    """A multi-pack-index; `replaced` chunks have other content, `absent` ones are left out."""
    names = b"".join(name + b"\0" for name in pack_names)
    chunks = {
        b"PNAM": names + bytes(-len(names) % 4),
        b"OIDF": fan_out(range(object_count)),
        b"OIDL": b"".join(object_ids(object_count, object_format)),
        b"OOFF": bytes(8 * object_count),
        **dict(more_chunks),
        **(replaced or {}),
    }
    kept = [(chunk_id, content) for chunk_id, content in chunks.items() if chunk_id not in absent]
    head = (b"MIDX", version, HASH_VERSION[object_format], len(kept), base_count, len(pack_names))
    return chunked(struct.pack(">4sBBBBI", *head), kept, b"\xab" * ID_BYTES[object_format])


def commit_graph(
    *,
    version: int = 1,
    object_format: ObjectFormat = ObjectFormat.SHA1,
    commit_count: int = 3,
    base_count: int = 0,
    more_chunks: Sequence[tuple[bytes, bytes]] = (),
    replaced: dict[bytes, bytes] | None = None,
    absent: Sequence[bytes] = (),
) -> bytes:
    """A commit-graph; `replaced` chunks have other content, `absent` ones are left out."""
    id_bytes = ID_BYTES[object_format]
    chunks = {
        b"OIDF": fan_out(range(commit_count)),
        b"OIDL": b"".join(object_ids(commit_count, object_format)),
        b"CDAT": bytes((id_bytes + 16) * commit_count),
        **({b"BASE": bytes(id_bytes * base_count)} if base_count else {}),
        **dict(more_chunks),
        **(replaced or {}),
    }
    kept = [(chunk_id, content) for chunk_id, content in chunks.items() if chunk_id not in absent]
    head = (b"CGPH", version, HASH_VERSION[object_format], len(kept), base_count)
    return chunked(struct.pack(">4sBBBB", *head), kept, b"\xcd" * id_bytes)


def chunk_row_offset(data: bytes, chunk_id: bytes) -> int:
    """Where a chunk's row of the table lies."""
    header_bytes = 12 if data.startswith(b"MIDX") else 8
    for offset in range(header_bytes, len(data), CHUNK_ROW_BYTES):
        if data[offset : offset + 4] == chunk_id:
            return offset
    raise AssertionError(chunk_id)


def chunk_offset(data: bytes, chunk_id: bytes) -> int:
    """Where a chunk starts."""
    row = chunk_row_offset(data, chunk_id)
    return int.from_bytes(data[row + 4 : row + CHUNK_ROW_BYTES], "big")


def ewah(words: int) -> bytes:
    """A compressed bitmap of so many words."""
    return struct.pack(">II", 64 * words, words) + bytes(8 * words) + bytes(4)


def bitmap(
    *,
    flags: int = 0x1 | 0x4,
    version: int = 1,
    commit_count: int = 2,
    object_format: ObjectFormat = ObjectFormat.SHA1,
    extensions: bytes = b"",
) -> bytes:
    """A bitmap file."""
    head = struct.pack(">4sHHI", b"BITM", version, flags, commit_count) + b"\xef" * ID_BYTES[object_format]
    entries = b"".join(struct.pack(">IBB", number, 0, 0) + ewah(1) for number in range(commit_count))
    return head + 4 * ewah(1) + entries + extensions + bytes(ID_BYTES[object_format])
