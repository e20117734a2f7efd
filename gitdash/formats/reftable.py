"""Header and footer of one table of the reftable backend, `reftable/*.ref`.

Source: git's Documentation/technical/reftable, "Header" and "Footer". Does not read blocks, so it tells a table that is
not one, was cut or was overwritten at its ends, and nothing of the references in it.

    offset   size  field
    0        4     signature `REFT`
    4        1     version, 1 or 2
    5        19    block size, first and last update index
    24       4     hash function, version 2 only: `sha1` or `s256`
    end-F    24/28 the header once more (F: 68 in version 1, 72 in version 2)
    ...      40    positions of sections
    end-4    4     CRC-32 of the footer before it
"""

import zlib
from typing import Final

from gitdash.formats.reading import Buffer, FormatError, require_signature, take

_HEADER_BYTES: Final = {1: 24, 2: 28}
_SECTIONS_BYTES: Final = 40
_CHECKSUM_BYTES: Final = 4


def check_reftable(buffer: Buffer) -> None:
    """Raise FormatError unless the table begins and ends as one; it is read nowhere else."""
    start = take(buffer, 0, 5, "header")
    require_signature(start, b"REFT")
    header_bytes = _HEADER_BYTES.get(start[4])
    if header_bytes is None:
        raise FormatError(f"unknown version {start[4]}", 4)
    header = take(buffer, 0, header_bytes, "header")
    footer_bytes = header_bytes + _SECTIONS_BYTES + _CHECKSUM_BYTES
    offset = len(buffer) - footer_bytes
    if offset < header_bytes:
        raise FormatError(f"too short for header and footer: {len(buffer)} bytes there", len(buffer))
    footer = take(buffer, offset, footer_bytes, "footer")
    if not footer.startswith(header):
        raise FormatError("the footer does not repeat the header", offset)
    if zlib.crc32(footer[:-_CHECKSUM_BYTES]) != int.from_bytes(footer[-_CHECKSUM_BYTES:], "big"):
        raise FormatError("the footer does not match its checksum", len(buffer) - _CHECKSUM_BYTES)
