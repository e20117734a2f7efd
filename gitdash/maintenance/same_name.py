"""Whether what has one name in two stores is one thing: a name says what should be in a file, and not what is.

git takes the first copy that it finds, and another store's only where that one is damaged. So before the other store
goes, files of the same name are compared. Source: gitformat-pack(5). Changes nothing.
"""

import hashlib
import os
import zlib
from typing import Final

from gitdash.inspection.files import FileError, open_buffer
from gitdash.maintenance.work import Work
from gitdash.model.inspection import ObjectFormat

_CHUNK_BYTES: Final = 1 << 20
_HASHES: Final = {ObjectFormat.SHA1: hashlib.sha1, ObjectFormat.SHA256: hashlib.sha256}


def are_equal(work: Work, first: bytes, second: bytes) -> bool:
    """Compare two files, to the last byte unless they are one. Raises FileError, and TaskStoppedError if cancelled."""
    with open_buffer(first) as one, open_buffer(second) as other:
        if os.path.samefile(first, second):
            return True
        if len(one) != len(other):
            return False
        for start in range(0, len(one), _CHUNK_BYTES):
            work.refuse_if_cancelled()
            if one[start : start + _CHUNK_BYTES] != other[start : start + _CHUNK_BYTES]:
                return False
    return True


def is_whole_loose_object(path: bytes, object_id: bytes, object_format: ObjectFormat) -> bool:
    """Read a loose object and hold it against its id; whatever cannot be read is not whole."""
    digest, inflating = _HASHES[object_format](), zlib.decompressobj()
    try:
        with open_buffer(path) as buffer:
            for start in range(0, len(buffer), _CHUNK_BYTES):
                data = buffer[start : start + _CHUNK_BYTES]
                while data and not inflating.eof:
                    digest.update(inflating.decompress(data, _CHUNK_BYTES))
                    data = inflating.unconsumed_tail
            digest.update(inflating.flush())
    except (FileError, zlib.error):
        return False
    return inflating.eof and not inflating.unused_data and digest.hexdigest().encode() == object_id
