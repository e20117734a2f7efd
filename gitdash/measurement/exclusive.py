"""Exclusive and duplicate bytes: own object ids against all lenders' ids, by index files alone.

Each object counts once, with the size of the copy that git finds first (`stores.py` says which); the other copies are
`redundant`. So exclusive + duplicate + redundant, plus header and trailing checksum of each pack, are the bytes of all
packs and loose objects. A damaged index or a store that cannot be read makes the answer `Unreadable`: without one
lender's ids the number would be too high, and nobody could see that.

Imports numpy: import this module only where it is used.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from gitdash.errors import GitdashError
from gitdash.measurement.sorted_ids import contained
from gitdash.measurement.stores import Store, StoreIds, StoreObjects, store_ids, store_objects
from gitdash.model.inspection import ObjectFormat
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes
from gitdash.units import LARGEST_BYTES, printable

LENDER_IDS_BYTES: Final = 64 * 1024 * 1024
"""What a survey keeps of lenders' ids: 2.4 million objects of sha1, at 28 bytes each."""


class LenderIds:
    """The sorted ids of lenders, shared by their members in one survey; the least recently used leave first.

    Usable from several threads: one reads a lender while the others wait for it, instead of reading it again.
    """

    def __init__(self, maximum_bytes: int = LENDER_IDS_BYTES) -> None:
        self._maximum_bytes = maximum_bytes
        self._ids: OrderedDict[tuple[Hashable, ObjectFormat], StoreIds] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size_bytes(self) -> int:
        """Memory that the kept ids take."""
        return sum(ids.size_bytes for ids in self._ids.values())

    def ids(self, store: Store, object_format: ObjectFormat) -> StoreIds:
        """Return a lender's ids. Raises FormatError for a damaged index, and what the store's callables raise."""
        key = (store.identity, object_format)
        with self._lock:
            if key not in self._ids:
                self._ids[key] = store_ids(store, object_format)
            self._ids.move_to_end(key)
            ids = self._ids[key]
            while self.size_bytes > self._maximum_bytes:
                self._ids.popitem(last=False)
        return ids


def measure_exclusive(
    own: Store, lenders: Sequence[Store], lender_ids: LenderIds, *, object_format: ObjectFormat, now_s: float
) -> ExclusiveSizes | Unreadable:
    """Split the bytes of a store into those that no lender has and those that a lender has, too.

    `lenders` are all of them, nested ones included; without any, everything is exclusive.
    """
    started_s = time.monotonic()
    try:
        objects = store_objects(own, object_format)
    except GitdashError as error:
        return Unreadable(printable(f"object ids: {error}"))
    try:
        lenders_ids = [lender_ids.ids(lender, object_format) for lender in lenders]
    except GitdashError as error:
        return Unreadable(printable(f"object ids of a lender: {error}"))
    return _split(objects, lenders_ids, started_s=started_s, now_s=now_s)


def _split(objects: StoreObjects, lenders_ids: Sequence[StoreIds], *, started_s: float, now_s: float) -> ExclusiveSizes:
    is_lent = np.zeros(len(objects.sizes_bytes), np.bool_)
    for ids in lenders_ids:
        is_lent |= contained(objects, ids)
    exclusive_bytes, exclusive_count = _sum(objects, objects.counts & ~is_lent)
    duplicate_bytes, duplicate_count = _sum(objects, objects.counts & is_lent)
    redundant_bytes, redundant_count = _sum(objects, ~objects.counts)
    copies_beyond_first = redundant_count + duplicate_count + sum(ids.redundant_count for ids in lenders_ids)
    return ExclusiveSizes(
        exclusive_bytes=exclusive_bytes,
        exclusive_count=exclusive_count,
        duplicate_bytes=duplicate_bytes,
        duplicate_count=duplicate_count,
        redundant_bytes=redundant_bytes,
        redundant_count=redundant_count,
        # two lenders may hold the same object, which is not looked at
        every_object_once=not copies_beyond_first and len(lenders_ids) <= 1,
        elapsed_s=time.monotonic() - started_s,
        measured_at_s=now_s,
    )


def _sum(objects: StoreObjects, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[int, int]:
    sizes_bytes = objects.sizes_bytes[chosen]
    # integers of numpy wrap around without a word, and two sparse packs of the largest size are enough for that
    is_beyond = float(sizes_bytes.sum(dtype=np.float64)) >= LARGEST_BYTES
    return LARGEST_BYTES if is_beyond else int(sizes_bytes.sum()), int(np.count_nonzero(chosen))
