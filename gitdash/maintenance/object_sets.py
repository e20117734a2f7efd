"""Which objects lie where: set arithmetic over the ids of stores, for acts that remove second copies.

Imports numpy through `measurement`: import this module only where it is used.
"""

import os
from collections.abc import Iterable, Iterator

import numpy as np

from gitdash.formats.pack_index_arrays import prefixes_of
from gitdash.inspection.files import open_buffer
from gitdash.inspection.object_ids import index_paths, loose_object_sizes
from gitdash.measurement.sorted_ids import SortedIds, contained, ids_from_hexadecimal
from gitdash.measurement.stores import Store, StoredPack, store_ids
from gitdash.model.inspection import ObjectFormat


def packed_loose_objects(objects_dir: bytes, object_format: ObjectFormat) -> list[str]:
    """Return the loose objects of a store that its own packs have, too. Raises GitdashError for a damaged index."""
    loose = [object_id for object_id, _ in loose_object_sizes(objects_dir)]
    packed = store_ids(_store(objects_dir, with_loose=False), object_format)
    object_ids = ids_from_hexadecimal(loose, object_format)
    is_packed = contained(SortedIds(object_ids=object_ids, prefixes=prefixes_of(object_ids)), packed)
    return [loose[row] for row in np.flatnonzero(is_packed)]


def shared_objects(objects_dir: bytes, lender: bytes, object_format: ObjectFormat) -> list[str]:
    """Return the objects that lie in both of two stores, in hexadecimal. Raises GitdashError for a damaged index."""
    own = store_ids(_store(objects_dir), object_format)
    lent = store_ids(_store(lender), object_format)
    return [row.tobytes().hex() for row in own.object_ids[contained(own, lent)]]


def _store(objects_dir: bytes, *, with_loose: bool = True) -> Store:
    return Store(
        identity=objects_dir,
        packs=lambda: _packs(objects_dir),
        loose=(lambda: loose_object_sizes(objects_dir)) if with_loose else _nothing,
    )


def _packs(objects_dir: bytes) -> Iterator[StoredPack]:
    for index_path in index_paths(objects_dir):
        pack_path = index_path.removesuffix(b".idx") + b".pack"
        with open_buffer(index_path) as index, open_buffer(pack_path) as pack:
            yield StoredPack(name=os.path.basename(pack_path), index=index, pack=pack, mtime_s=0.0)


def _nothing() -> Iterable[tuple[str, int]]:
    return ()
