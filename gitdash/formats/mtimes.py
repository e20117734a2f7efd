"""The header of a cruft pack's table of times, `pack-*.mtimes`.

Source: gitformat-pack(5), "pack-*.mtimes files". Does not read the times.

    offset  size  field
    0       4     signature `MTME`
    4       4     version, 1
    8       4     hash function, 1 for sha1, 2 for sha256
    12      N*4   modification times in seconds, in the order of the index (N: objects of the pack)
    end-2H  H     checksum of the pack (H: 20 for sha1, 32 for sha256)
    end-H   H     checksum of all of the above
"""

from gitdash.formats.pack_table import PackTableHeader, read_pack_table_header
from gitdash.formats.reading import Buffer
from gitdash.model.inspection import ObjectFormat


def read_mtimes_header(buffer: Buffer, object_count: int, object_format: ObjectFormat) -> PackTableHeader:
    """Read the header; the file's size must be the one that `object_count`, from the pack's index, asks for."""
    return read_pack_table_header(buffer, b"MTME", object_count, object_format)
