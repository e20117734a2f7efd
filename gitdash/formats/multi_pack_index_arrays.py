"""Which pack's copy of each object a multi-pack-index names, as numpy arrays.

Source: gitformat-pack(5), "multi-pack-index (MIDX) files"; the byte table stands in `multi_pack_index.py`, which checks
header, chunks and names. Reads object ids and numbers of packs, not offsets.

Imports numpy: import this module only where it is used.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitdash.formats.chunk_table import Chunk, read_chunk_table
from gitdash.formats.multi_pack_index import MultiPackIndex, read_multi_pack_index
from gitdash.formats.pack_index_arrays import ObjectIds, prefixes_of, require_sorted
from gitdash.formats.reading import OBJECT_ID_LENGTH, Buffer, FormatError, take

_HEADER_BYTES: Final = 12
_CHUNK_COUNT_OFFSET: Final = 6
_NAMES_ALIGNMENT: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCopies:
    """The copy of each object that git takes when it asks this multi-pack-index."""

    object_ids: ObjectIds
    """Sorted, each once."""
    pack_numbers: NDArray[np.uint32]
    """Position in `pack_names` of the pack that has the copy."""
    pack_names: tuple[bytes, ...]
    """File names of the packs without `.idx`."""


def read_named_copies(buffer: Buffer) -> NamedCopies:
    """Return ids and packs of one multi-pack-index or one layer; raises FormatError."""
    head = read_multi_pack_index(buffer)
    id_bytes = OBJECT_ID_LENGTH[head.object_format]
    chunk_count = take(buffer, _CHUNK_COUNT_OFFSET, 1, "number of chunks")[0]
    chunks = read_chunk_table(buffer, _HEADER_BYTES, chunk_count, trailer_bytes=id_bytes, alignment=_NAMES_ALIGNMENT)
    ids_chunk = chunks[b"OIDL"]
    ids_bytes = take(buffer, ids_chunk.offset, ids_chunk.size_bytes, "object ids")
    object_ids = np.frombuffer(ids_bytes, np.uint8).reshape(head.object_count, id_bytes)
    require_sorted(object_ids, prefixes_of(object_ids), ids_chunk.offset)
    return NamedCopies(
        object_ids=object_ids,
        pack_numbers=_pack_numbers(buffer, chunks[b"OOFF"], head),
        pack_names=tuple(name.removesuffix(b".idx") for name in head.pack_names),
    )


def _pack_numbers(buffer: Buffer, chunk: Chunk, head: MultiPackIndex) -> NDArray[np.uint32]:
    rows = np.frombuffer(take(buffer, chunk.offset, chunk.size_bytes, "offsets"), ">u4").reshape(head.object_count, 2)
    pack_numbers = rows[:, 0].astype(np.uint32)
    if len(pack_numbers) and int(pack_numbers.max()) >= len(head.pack_names):
        raise FormatError("an object lies in a pack that is not named", chunk.offset)
    return pack_numbers
