"""Whether a file ends with the checksum of its content, as indexes, commit-graphs and bitmaps do.

Source: gitformat-pack(5), gitformat-commit-graph(5), git's bitmap-format. git does not verify these checksums when it
reads, so a damaged file can make it answer wrongly with exit code 0. A file that was made to lie has a valid one.
"""

import hashlib
from typing import Final

from gitdash.formats.reading import OBJECT_ID_LENGTH, Buffer
from gitdash.model.inspection import ObjectFormat

_SLICE_BYTES: Final = 1024 * 1024


def has_valid_checksum(buffer: Buffer, object_format: ObjectFormat) -> bool:
    """Return whether the last bytes are the hash of all that stands before them. Reads the whole file in slices."""
    content_bytes = len(buffer) - OBJECT_ID_LENGTH[object_format]
    if content_bytes < 0:
        return False
    # no protection against an attacker is meant: the format asks for this function
    digest = hashlib.new(object_format.value, usedforsecurity=False)
    for start in range(0, content_bytes, _SLICE_BYTES):
        digest.update(buffer[start : min(start + _SLICE_BYTES, content_bytes)])
    return digest.digest() == buffer[content_bytes : len(buffer)]
