"""Object stores as sorted ids: what index arithmetic needs of a repository and of its lenders.

Reads nothing itself: the caller hands in buffers of index and pack files, one pack at a time, so that a store with
hundreds of packs never has more than two files open. Source: gitformat-pack(5), gitrepository-layout(5).

Where a store holds an object several times, the copy that counts is the one that a fresh git process finds first: in
the pack with the newest modification time (git's packfile.c, `sort_pack`; equal times are in the order of the
folder, for which the name stands here), and in a pack before a loose file. A multi-pack-index may name another copy,
and a long-running git takes the pack of its last hit; what differs is how the same bytes are split, never their sum.

Imports numpy: import this module only where it is used.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitdash.formats.pack import read_pack_header
from gitdash.formats.pack_index_arrays import (
    ObjectIds,
    PackedObjects,
    Prefixes,
    as_byte_strings,
    prefixes_of,
    read_object_ids,
    read_packed_objects,
)
from gitdash.formats.reading import OBJECT_ID_LENGTH, Buffer, FormatError
from gitdash.model.inspection import ObjectFormat

_ROWS_AT_ONCE: Final = 65_536
"""Ids are compared in slices of this many, so that what comparing needs does not grow with the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPack:
    """One pack that has an index. The buffers are read before the next pack is asked for, and not afterwards."""

    name: bytes
    """File name of the pack."""
    index: Buffer
    """The `.idx` file."""
    pack: Buffer
    """The `.pack` file: its length, its header and its trailing checksum are read."""
    mtime_s: float
    """Modification time of the pack file: git looks into newer packs first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One `objects` directory, as two ways to go through it. Both may raise a GitdashError."""

    identity: Hashable
    """Equal for equal contents, such as device, inode and the names of the packs."""
    packs: Callable[[], Iterable[StoredPack]]
    """All packs that have an index, in any order."""
    loose: Callable[[], Iterable[tuple[str, int]]]
    """Id in hexadecimal and bytes of each loose object's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreIds:
    """All ids of a store, sorted, each once."""

    object_ids: ObjectIds
    prefixes: Prefixes
    """Of each id."""
    redundant_count: int
    """Copies beyond the first of an object."""

    @property
    def size_bytes(self) -> int:
        """Memory that the arrays take."""
        return self.object_ids.nbytes + self.prefixes.nbytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreObjects:
    """All copies of all objects of a store, sorted by id; the copy that counts stands before the others."""

    object_ids: ObjectIds
    prefixes: Prefixes
    sizes_bytes: NDArray[np.int64]
    """Size on disk of each copy."""
    is_first_copy: NDArray[np.bool_]
    """False for the second and further copies of the id in the row before."""


def store_ids(store: Store, object_format: ObjectFormat) -> StoreIds:
    """Return the ids of a store. Raises FormatError for a damaged index, and what the store's callables raise."""
    runs = [_pack_ids(pack, object_format) for pack in store.packs()]
    runs.append(_loose_ids([object_id for object_id, _ in store.loose()], object_format))
    object_ids = _concatenated(runs, object_format)
    prefixes = prefixes_of(object_ids)
    order = _sorting_order(object_ids, prefixes)
    if order is not None:
        object_ids, prefixes = object_ids[order], prefixes[order]
    is_first = _first_copies(object_ids, prefixes)
    redundant_count = len(is_first) - int(np.count_nonzero(is_first))
    if redundant_count:
        object_ids, prefixes = object_ids[is_first], prefixes[is_first]
    return StoreIds(object_ids=object_ids, prefixes=prefixes, redundant_count=redundant_count)


def store_objects(store: Store, object_format: ObjectFormat) -> StoreObjects:
    """Return the copies in a store with their sizes. Raises like `store_ids`."""
    packs = [(-pack.mtime_s, pack.name, _pack_objects(pack, object_format)) for pack in store.packs()]
    packs.sort(key=lambda pack: pack[:2])
    loose = list(store.loose())
    runs = [objects for _, _, objects in packs]
    runs.append(
        PackedObjects(
            object_ids=_loose_ids([object_id for object_id, _ in loose], object_format),
            sizes_bytes=np.array([size_bytes for _, size_bytes in loose], np.int64),
        )
    )
    del packs, loose
    sizes_bytes = np.concatenate([run.sizes_bytes for run in runs])
    id_runs = [run.object_ids for run in runs]
    del runs
    object_ids = _concatenated(id_runs, object_format)
    prefixes = prefixes_of(object_ids)
    order = _sorting_order(object_ids, prefixes)
    if order is not None:
        object_ids, prefixes, sizes_bytes = object_ids[order], prefixes[order], sizes_bytes[order]
    return StoreObjects(
        object_ids=object_ids,
        prefixes=prefixes,
        sizes_bytes=sizes_bytes,
        is_first_copy=_first_copies(object_ids, prefixes),
    )


def share_objects(some: StoreIds, others: StoreIds) -> bool:
    """Return whether two stores have an object in common."""
    return bool(contained(some, others).any())


def contains_all(ids: StoreIds, hexadecimal_ids: Sequence[str], object_format: ObjectFormat) -> bool:
    """Return whether all objects are among `ids`."""
    object_ids = _loose_ids(list(hexadecimal_ids), object_format)
    sought = StoreIds(object_ids=object_ids, prefixes=prefixes_of(object_ids), redundant_count=0)
    return bool(contained(sought, ids).all())


def contained(objects: StoreObjects | StoreIds, ids: StoreIds) -> NDArray[np.bool_]:
    """Return for each row of `objects` whether its id is among `ids`."""
    found = np.zeros(len(objects.prefixes), np.bool_)
    if not len(ids.prefixes):
        return found
    prefixes_collide = _has_equal_neighbours(ids.prefixes)
    for start in range(0, len(found), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        if prefixes_collide:
            found[rows] = _contains_exactly(objects.object_ids[rows], ids)
        else:
            found[rows] = _contains_by_prefix(objects.object_ids[rows], objects.prefixes[rows], ids)
    return found


def _contains_by_prefix(object_ids: ObjectIds, prefixes: Prefixes, ids: StoreIds) -> NDArray[np.bool_]:
    """Search by prefix, then compare whole ids; right only if no two of `ids` share a prefix."""
    positions = np.minimum(np.searchsorted(ids.prefixes, prefixes), len(ids.prefixes) - 1)
    found: NDArray[np.bool_] = ids.prefixes[positions] == prefixes
    rows = np.flatnonzero(found)
    found[rows] = (ids.object_ids[positions[rows]] == object_ids[rows]).all(axis=1)
    return found


def _contains_exactly(object_ids: ObjectIds, ids: StoreIds) -> NDArray[np.bool_]:
    """Search by whole ids: slower, and right for ids made to collide in their first eight bytes."""
    sought, sorted_ids = as_byte_strings(object_ids), as_byte_strings(ids.object_ids)
    positions = np.minimum(np.searchsorted(sorted_ids, sought), len(sorted_ids) - 1)
    found: NDArray[np.bool_] = sorted_ids[positions] == sought
    return found


def _pack_ids(pack: StoredPack, object_format: ObjectFormat) -> ObjectIds:
    object_ids = read_object_ids(pack.index, object_format)
    _require_same_pack(pack, len(object_ids), object_format)
    return object_ids


def _pack_objects(pack: StoredPack, object_format: ObjectFormat) -> PackedObjects:
    objects = read_packed_objects(pack.index, object_format, len(pack.pack))
    _require_same_pack(pack, len(objects.object_ids), object_format)
    return objects


def _require_same_pack(pack: StoredPack, object_count: int, object_format: ObjectFormat) -> None:
    """Hold index and pack against each other, as git does when it opens a pack."""
    id_bytes = OBJECT_ID_LENGTH[object_format]
    header = read_pack_header(pack.pack)
    if header.object_count != object_count:
        raise FormatError(f"the pack says {header.object_count} objects and its index {object_count}", 8)
    index_bytes, pack_bytes = len(pack.index), len(pack.pack)
    if pack.index[index_bytes - 2 * id_bytes : index_bytes - id_bytes] != pack.pack[pack_bytes - id_bytes : pack_bytes]:
        raise FormatError("the index belongs to another pack", index_bytes - 2 * id_bytes)


def _loose_ids(hexadecimal_ids: list[str], object_format: ObjectFormat) -> ObjectIds:
    joined = bytes.fromhex("".join(hexadecimal_ids))
    return np.frombuffer(joined, np.uint8).reshape(len(hexadecimal_ids), OBJECT_ID_LENGTH[object_format])


def _concatenated(runs: list[ObjectIds], object_format: ObjectFormat) -> ObjectIds:
    filled = [run for run in runs if len(run)]
    runs.clear()
    if len(filled) == 1:
        return filled[0]
    return np.concatenate(filled) if filled else np.empty((0, OBJECT_ID_LENGTH[object_format]), np.uint8)


def _sorting_order(object_ids: ObjectIds, prefixes: Prefixes) -> NDArray[np.intp] | None:
    """The stable order of the ids, or None if they are sorted already."""
    if not bool((prefixes[1:] < prefixes[:-1]).any()) and not _has_equal_neighbours(prefixes):
        return None
    order = np.argsort(prefixes, kind="stable")
    if not _prefix_order_is_enough(object_ids, prefixes, order):
        order = np.argsort(as_byte_strings(object_ids), kind="stable")
    return order


def _prefix_order_is_enough(object_ids: ObjectIds, prefixes: Prefixes, order: NDArray[np.intp]) -> bool:
    """Whether ids that share a prefix are all copies of one object."""
    ordered = prefixes[order]
    equal = np.flatnonzero(ordered[1:] == ordered[:-1])
    for start in range(0, len(equal), _ROWS_AT_ONCE):
        rows = equal[start : start + _ROWS_AT_ONCE]
        if not np.array_equal(object_ids[order[rows]], object_ids[order[rows + 1]]):
            return False
    return True


def _first_copies(object_ids: ObjectIds, prefixes: Prefixes) -> NDArray[np.bool_]:
    is_first = np.ones(len(prefixes), np.bool_)
    equal = np.flatnonzero(prefixes[1:] == prefixes[:-1])
    for start in range(0, len(equal), _ROWS_AT_ONCE):
        rows = equal[start : start + _ROWS_AT_ONCE]
        is_first[rows + 1] = (object_ids[rows] != object_ids[rows + 1]).any(axis=1)
    return is_first


def _has_equal_neighbours(prefixes: Prefixes) -> bool:
    return bool((prefixes[1:] == prefixes[:-1]).any())
