"""Object stores as sorted ids: what index arithmetic needs of a repository and of its lenders.

Reads nothing itself: the caller hands in buffers of index and pack files, one pack at a time, so that a store with
hundreds of packs never has more than two files open. Source: gitformat-pack(5), gitrepository-layout(5).

Where a store holds an object several times, the copy that counts is the one that a fresh git process finds first: the
one that the multi-pack-index names, else the one in the pack with the newest modification time (git's packfile.c,
`sort_pack`; equal times are in the order of the folder, for which the name stands here), and a loose file last. A
git that runs on takes the pack of its last hit; what differs is how the same bytes are split, never their sum.

Imports numpy: import this module only where it is used.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gitdash.formats.pack import read_pack_header
from gitdash.formats.pack_index_arrays import (
    ObjectIds,
    PackedObjects,
    prefixes_of,
    read_object_ids,
    read_packed_objects,
)
from gitdash.formats.reading import OBJECT_ID_LENGTH, Buffer, FormatError
from gitdash.measurement.checksums import has_valid_checksum
from gitdash.measurement.named_copies import prefer_named_copies
from gitdash.measurement.sorted_ids import (
    SortedIds,
    concatenated,
    contained,
    first_copies,
    ids_from_hexadecimal,
    sorting_order,
)
from gitdash.model.inspection import ObjectFormat


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
    multi_pack_index: Callable[[], Iterable[Buffer]] = tuple
    """The multi-pack-index, or the layers of its chain, the newest first; nothing if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreIds(SortedIds):
    """All ids of a store, sorted, each once."""

    redundant_count: int
    """Copies beyond the first of an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreObjects(SortedIds):
    """All copies of all objects of a store, sorted by id."""

    sizes_bytes: NDArray[np.int64]
    """Size on disk of each copy."""
    counts: NDArray[np.bool_]
    """True for one copy of each object: the one that git finds first."""


def store_ids(store: Store, object_format: ObjectFormat) -> StoreIds:
    """Return the ids of a store. Raises FormatError for a damaged index, and what the store's callables raise."""
    runs = [_pack_ids(pack, object_format) for pack in store.packs()]
    runs.append(ids_from_hexadecimal([object_id for object_id, _ in store.loose()], object_format))
    object_ids = concatenated(runs, object_format)
    prefixes = prefixes_of(object_ids)
    order = sorting_order(object_ids, prefixes)
    if order is not None:
        del prefixes
        object_ids = object_ids[order]
        prefixes = prefixes_of(object_ids)
    is_first = first_copies(object_ids, prefixes)
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
            object_ids=ids_from_hexadecimal([object_id for object_id, _ in loose], object_format),
            sizes_bytes=np.array([size_bytes for _, size_bytes in loose], np.int64),
        )
    )
    pack_names = [name for _, name, _ in packs]
    lengths = [len(run.object_ids) for run in runs]
    # what is held twice is given up as soon as it is put together: memory is the limit of large stores
    del packs, loose
    sizes_bytes = np.concatenate([run.sizes_bytes for run in runs])
    id_runs = [run.object_ids for run in runs]
    del runs
    object_ids = concatenated(id_runs, object_format)
    prefixes = prefixes_of(object_ids)
    order = sorting_order(object_ids, prefixes)
    if order is None:
        counts = np.ones(len(prefixes), np.bool_)
        return StoreObjects(object_ids=object_ids, prefixes=prefixes, sizes_bytes=sizes_bytes, counts=counts)
    del prefixes
    object_ids = object_ids[order]
    sizes_bytes = sizes_bytes[order]
    prefixes = prefixes_of(object_ids)
    counts = first_copies(object_ids, prefixes)
    if not counts.all():
        run_numbers = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)[order]
        prefer_named_copies(
            counts,
            SortedIds(object_ids=object_ids, prefixes=prefixes),
            run_numbers,
            pack_names=pack_names,
            layers=store.multi_pack_index(),
        )
    return StoreObjects(object_ids=object_ids, prefixes=prefixes, sizes_bytes=sizes_bytes, counts=counts)


def share_objects(some: StoreIds, others: StoreIds) -> bool:
    """Return whether two stores have an object in common."""
    return bool(contained(some, others).any())


def contains_all(ids: StoreIds, hexadecimal_ids: Sequence[str], object_format: ObjectFormat) -> bool:
    """Return whether all objects are among `ids`."""
    object_ids = ids_from_hexadecimal(hexadecimal_ids, object_format)
    return bool(contained(SortedIds(object_ids=object_ids, prefixes=prefixes_of(object_ids)), ids).all())


def _pack_ids(pack: StoredPack, object_format: ObjectFormat) -> ObjectIds:
    object_ids = read_object_ids(pack.index, object_format)
    _require_same_pack(pack, len(object_ids), object_format)
    return object_ids


def _pack_objects(pack: StoredPack, object_format: ObjectFormat) -> PackedObjects:
    objects = read_packed_objects(pack.index, object_format, len(pack.pack))
    _require_same_pack(pack, len(objects.object_ids), object_format)
    return objects


def _require_same_pack(pack: StoredPack, object_count: int, object_format: ObjectFormat) -> None:
    """Hold index and pack against each other, as git does when it opens a pack; the index's checksum, it does not."""
    id_bytes = OBJECT_ID_LENGTH[object_format]
    header = read_pack_header(pack.pack)
    if header.object_count != object_count:
        raise FormatError(f"the pack says {header.object_count} objects and its index {object_count}", 8)
    index_bytes, pack_bytes = len(pack.index), len(pack.pack)
    if pack.index[index_bytes - 2 * id_bytes : index_bytes - id_bytes] != pack.pack[pack_bytes - id_bytes : pack_bytes]:
        raise FormatError("the index belongs to another pack", index_bytes - 2 * id_bytes)
    # one damaged id would make a duplicate exclusive, and nothing else would show it
    if not has_valid_checksum(pack.index, object_format):
        raise FormatError("the checksum of the index is wrong", index_bytes - id_bytes)
