"""The header of a pack's reverse index, `pack-*.rev`.

Source: gitformat-pack(5), "pack-*.rev files". Does not read the positions.

    offset  size  field
    0       4     signature `RIDX`
    4       4     version, 1
    8       4     hash function, 1 for sha1, 2 for sha256
    12      N*4   positions in the index, sorted by offset in the pack (N: objects of the pack)
    end-2H  H     checksum of the pack (H: 20 for sha1, 32 for sha256)
    end-H   H     checksum of all of the above
"""

from gitdash.formats.pack_table import PackTableHeader, read_pack_table_header
from gitdash.formats.reading import Buffer
from gitdash.model.inspection import ObjectFormat


def read_reverse_index_header(buffer: Buffer, object_count: int, object_format: ObjectFormat) -> PackTableHeader:
    """Read the header; the file's size must be the one that `object_count`, from the pack's index, asks for."""
    return read_pack_table_header(buffer, b"RIDX", object_count, object_format)
