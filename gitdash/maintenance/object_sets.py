"""Which objects lie where: set arithmetic over the ids of stores, for acts that remove second copies.

Imports numpy through `measurement`: import this module only where it is used.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from gitdash.formats.pack_index_arrays import prefixes_of
from gitdash.inspection.object_ids import loose_object_sizes
from gitdash.maintenance.store_folder import object_store, stored_packs
from gitdash.measurement.sorted_ids import (
    SortedIds,
    concatenated,
    contained,
    first_copies,
    ids_from_hexadecimal,
    sorting_order,
)
from gitdash.measurement.stores import Store, StoreObjects, store_ids, store_objects
from gitdash.model.inspection import ObjectFormat


def packed_loose_objects(objects_dir: bytes, object_format: ObjectFormat) -> list[str]:
    """Return the loose objects of a store that its own packs have, too. Raises GitdashError for a damaged index."""
    loose = [object_id for object_id, _ in loose_object_sizes(objects_dir)]
    packed = store_ids(object_store(objects_dir, with_loose=False), object_format)
    object_ids = ids_from_hexadecimal(loose, object_format)
    is_packed = contained(SortedIds(object_ids=object_ids, prefixes=prefixes_of(object_ids)), packed)
    return [loose[row] for row in np.flatnonzero(is_packed)]


def loose_objects_of(objects_dir: bytes, lent_ids: Sequence[str], object_format: ObjectFormat) -> list[str]:
    """Return the loose objects of a store that its own packs have, too, or that are among `lent_ids`."""
    lent = frozenset(lent_ids)
    loose = {object_id for object_id, _ in loose_object_sizes(objects_dir)}
    return sorted((loose & lent) | frozenset(packed_loose_objects(objects_dir, object_format)))


def own_objects(objects_dir: bytes, object_format: ObjectFormat) -> SortedIds:
    """Return all objects of a store, without what it borrows. Raises GitdashError for a damaged index."""
    return store_ids(object_store(objects_dir), object_format)


def gone_since(before: SortedIds, objects_dir: bytes, object_format: ObjectFormat) -> list[str]:
    """Return those objects that are not in a store any more, in hexadecimal. Raises like `own_objects`."""
    is_there = contained(before, own_objects(objects_dir, object_format))
    return [row.tobytes().hex() for row in before.object_ids[~is_there]]


def missing_without(
    objects_dir: bytes, leaving: Collection[bytes], lent_ids: Sequence[str], object_format: ObjectFormat
) -> int:
    """Return how many objects of some packs, given by their names without suffix, no other pack and no lender has.

    Raises GitdashError for a damaged index.
    """
    by_pack = list(_ids_by_pack(objects_dir, object_format))
    staying = [ids for stem, ids in by_pack if stem not in leaving] + [_sorted(lent_ids, object_format)]
    missing_count = 0
    for ids in (ids for stem, ids in by_pack if stem in leaving):
        is_there = np.zeros(len(ids.prefixes), np.bool_)
        for others in staying:
            is_there |= contained(ids, others)
        missing_count += int(np.count_nonzero(~is_there))
    return missing_count


def stored_objects(objects_dir: bytes, object_format: ObjectFormat) -> StoreObjects:
    """Return all objects of a store with the bytes that each takes. Raises GitdashError for a damaged index."""
    return store_objects(object_store(objects_dir), object_format)


def missing_since(before: StoreObjects, objects_dir: bytes, object_format: ObjectFormat) -> list[tuple[str, int]]:
    """Return the objects that a store does not have any more, and the bytes that each took, the largest first."""
    now = store_ids(object_store(objects_dir), object_format)
    rows = np.flatnonzero(before.counts & ~contained(before, now))
    rows = rows[np.argsort(-before.sizes_bytes[rows], kind="stable")]
    return [(before.object_ids[row].tobytes().hex(), int(before.sizes_bytes[row])) for row in rows]


def shared_objects(objects_dir: bytes, lender: bytes, object_format: ObjectFormat) -> list[str]:
    """Return the objects that lie in both of two stores, in hexadecimal. Raises GitdashError for a damaged index."""
    own = store_ids(object_store(objects_dir), object_format)
    lent = store_ids(object_store(lender), object_format)
    return [row.tobytes().hex() for row in own.object_ids[contained(own, lent)]]


def doubled_objects(objects_dir: bytes, object_format: ObjectFormat) -> list[tuple[bytes, list[str], int]]:
    """Return for each pack those of its objects that the store has in another pack or as a file, too.

    A pack is told by its name without suffix, and comes with the number of its objects; packs without such objects are
    left out. Raises GitdashError for a damaged index.
    """
    by_pack = [(pack_stem, ids) for pack_stem, ids in _ids_by_pack(objects_dir, object_format)]
    loose = ids_from_hexadecimal([object_id for object_id, _ in loose_object_sizes(objects_dir)], object_format)
    object_ids = concatenated([*(ids.object_ids for _, ids in by_pack), loose], object_format)
    prefixes = prefixes_of(object_ids)
    order = sorting_order(object_ids, prefixes)
    if order is not None:
        object_ids = object_ids[order]
        prefixes = prefixes_of(object_ids)
    again = ~first_copies(object_ids, prefixes)
    doubled = SortedIds(object_ids=object_ids[again], prefixes=prefixes[again])
    return [found for pack_stem, ids in by_pack if (found := _found(pack_stem, ids, doubled))[1]]


def copies_by_pack(
    objects_dir: bytes, object_ids: Sequence[str], object_format: ObjectFormat
) -> tuple[list[tuple[bytes, list[str], int]], list[str]]:
    """Return which packs have which of some objects, as `doubled_objects`, and those that no pack has."""
    wanted = _sorted(object_ids, object_format)
    is_packed = np.zeros(len(wanted.prefixes), np.bool_)
    by_pack = []
    for pack_stem, ids in _ids_by_pack(objects_dir, object_format):
        is_packed |= contained(wanted, ids)
        found = _found(pack_stem, ids, wanted)
        if found[1]:
            by_pack.append(found)
    return by_pack, [row.tobytes().hex() for row in wanted.object_ids[~is_packed]]


def _found(pack_stem: bytes, ids: SortedIds, wanted: SortedIds) -> tuple[bytes, list[str], int]:
    rows = ids.object_ids[contained(ids, wanted)]
    return pack_stem, [row.tobytes().hex() for row in rows], len(ids.prefixes)


def _sorted(object_ids: Sequence[str], object_format: ObjectFormat) -> SortedIds:
    found = ids_from_hexadecimal(sorted(set(object_ids)), object_format)
    return SortedIds(object_ids=found, prefixes=prefixes_of(found))


def _ids_by_pack(objects_dir: bytes, object_format: ObjectFormat) -> Iterator[tuple[bytes, SortedIds]]:
    for pack in stored_packs(objects_dir):
        one = Store(identity=pack.name, packs=lambda found=pack: (found,), loose=tuple)  # type: ignore[misc]
        yield pack.name.removesuffix(b".pack"), store_ids(one, object_format)
