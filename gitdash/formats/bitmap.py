"""The header of a reachability bitmap, of a pack or of a multi-pack-index.

Source: git's Documentation/technical/bitmap-format and pack-bitmap.h (2.55). Reads the header and walks over the
four bitmaps of types; does not read the bitmaps of commits.

    offset  size  field
    0       4     signature `BITM`
    4       2     version, 1
    6       2     flags: 0x1 full closure, must be set; 0x4 hash cache; 0x10 lookup table; 0x20 pseudo-merges;
                  others are ignored
    8       4     number of commits that have a bitmap (E)
    12      H     checksum of the pack or multi-pack-index (H: 20 for sha1, 32 for sha256)
    12+H    ...   four bitmaps: which objects are commits, trees, blobs, tags
    ...     ...   E entries: 4 position, 1 distance to the bitmap that it is xor-ed with, 1 flags, a bitmap
    ...     ...   extensions that the flags name; the lookup table has 16 bytes for each entry
    end-H   H     checksum of all of the above

A bitmap is compressed (EWAH):

    offset  size  field
    0       4     number of bits
    4       4     number of words (W)
    8       W*8   words
    8+W*8   4     position of the last run-length word
"""

import struct
from dataclasses import dataclass
from typing import Final

from gitdash.formats.reading import OBJECT_ID_LENGTH, Buffer, FormatError, require_signature, require_size, take
from gitdash.model.inspection import ObjectFormat

_HEADER: Final = struct.Struct(">4sHHI")
_FULL_CLOSURE: Final = 0x1
_HASH_CACHE: Final = 0x4
_LOOKUP_TABLE: Final = 0x10
_PSEUDO_MERGES: Final = 0x20
_TYPE_BITMAP_NAMES: Final = ("commits", "trees", "blobs", "tags")
_EWAH_BYTES: Final = 12
"""A compressed bitmap without words."""
_ENTRY_BYTES: Final = 6 + _EWAH_BYTES
_LOOKUP_ROW_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BitmapHeader:
    """What the head of a bitmap file says."""

    version: int
    commit_count: int
    """Commits that have a bitmap of their own; not more than the file has room for."""
    hash_cache: bool
    lookup_table: bool
    pseudo_merges: bool
    checksum: str
    """Hexadecimal checksum of the pack or multi-pack-index that it belongs to."""


def read_bitmap(buffer: Buffer, object_format: ObjectFormat) -> BitmapHeader:
    """Read the header of a bitmap file."""
    hash_bytes = OBJECT_ID_LENGTH[object_format]
    head_bytes = _HEADER.size + hash_bytes
    length = require_size(buffer, head_bytes + len(_TYPE_BITMAP_NAMES) * _EWAH_BYTES + hash_bytes, "bitmap")
    head = take(buffer, 0, head_bytes, "bitmap header")
    require_signature(head, b"BITM")
    _, version, flags, commit_count = _HEADER.unpack_from(head)
    if version != 1:
        raise FormatError(f"unknown bitmap version {version}", 4)
    if not flags & _FULL_CLOSURE:
        raise FormatError("bitmap is not of a full closure", 6)
    room_bytes = length - hash_bytes - _skip_type_bitmaps(buffer, head_bytes, length - hash_bytes)
    lookup_table = bool(flags & _LOOKUP_TABLE)
    if commit_count * (_ENTRY_BYTES + lookup_table * _LOOKUP_ROW_BYTES) > room_bytes:
        raise FormatError(f"{commit_count} bitmaps do not fit into {room_bytes} bytes", 8)
    return BitmapHeader(
        version=version,
        commit_count=commit_count,
        hash_cache=bool(flags & _HASH_CACHE),
        lookup_table=lookup_table,
        pseudo_merges=bool(flags & _PSEUDO_MERGES),
        checksum=head[_HEADER.size :].hex(),
    )


def _skip_type_bitmaps(buffer: Buffer, position: int, end: int) -> int:
    """Return the offset after the four bitmaps of types; git would allocate by their numbers of words."""
    for name in _TYPE_BITMAP_NAMES:
        word_count = int.from_bytes(take(buffer, position + 4, 4, f"bitmap of {name}"), "big")
        after = position + _EWAH_BYTES + 8 * word_count
        if after > end:
            raise FormatError(f"bitmap of {name} has {word_count} words, more than the file", position + 4)
        position = after
    return position
