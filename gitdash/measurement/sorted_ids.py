"""Arrays of object ids: put together, sorted, searched.

Ids are compared by their first eight bytes as numbers wherever that decides, which takes a fraction of the time; ids
made to collide there are compared as a whole. What is held while comparing does not grow with the store.

Imports numpy: import this module only where it is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitdash.formats.pack_index_arrays import ObjectIds, Prefixes, as_byte_strings
from gitdash.formats.reading import OBJECT_ID_LENGTH
from gitdash.model.inspection import ObjectFormat

_ROWS_AT_ONCE: Final = 16_384
"""Ids are compared in slices of this many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedIds:
    """Ids with their prefixes, sorted."""

    object_ids: ObjectIds
    prefixes: Prefixes
    """Of each id."""

    @property
    def size_bytes(self) -> int:
        """Memory that the arrays take."""
        return self.object_ids.nbytes + self.prefixes.nbytes


def ids_from_hexadecimal(hexadecimal_ids: Sequence[str], object_format: ObjectFormat) -> ObjectIds:
    """Return ids in the order given."""
    joined = bytes.fromhex("".join(hexadecimal_ids))
    return np.frombuffer(joined, np.uint8).reshape(len(hexadecimal_ids), OBJECT_ID_LENGTH[object_format])


def concatenated(runs: list[ObjectIds], object_format: ObjectFormat) -> ObjectIds:
    """Return all ids in one array and empty the list, so that they are not held twice afterwards."""
    filled = [run for run in runs if len(run)]
    runs.clear()
    if len(filled) == 1:
        return filled[0]
    return np.concatenate(filled) if filled else np.empty((0, OBJECT_ID_LENGTH[object_format]), np.uint8)


def sorting_order(object_ids: ObjectIds, prefixes: Prefixes) -> NDArray[np.intp] | None:
    """Return the stable order of the ids, None if they are sorted already."""
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


def first_copies(object_ids: ObjectIds, prefixes: Prefixes) -> NDArray[np.bool_]:
    """Return for each row of sorted ids whether it differs from the row before."""
    is_first = np.ones(len(prefixes), np.bool_)
    equal = np.flatnonzero(prefixes[1:] == prefixes[:-1])
    for start in range(0, len(equal), _ROWS_AT_ONCE):
        rows = equal[start : start + _ROWS_AT_ONCE]
        is_first[rows + 1] = (object_ids[rows] != object_ids[rows + 1]).any(axis=1)
    return is_first


def contained(sought: SortedIds, ids: SortedIds) -> NDArray[np.bool_]:
    """Return for each row of `sought` whether its id is among `ids`."""
    found = np.zeros(len(sought.prefixes), np.bool_)
    for start in range(0, len(found), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        part = SortedIds(object_ids=sought.object_ids[rows], prefixes=sought.prefixes[rows])
        found[rows] = positions(part, ids) >= 0
    return found


def positions(sought: SortedIds, ids: SortedIds) -> NDArray[np.intp]:
    """Return for each row of `sought` the row of `ids` with the same id, -1 if there is none."""
    if not len(ids.prefixes):
        return np.full(len(sought.prefixes), -1, np.intp)
    if _has_equal_neighbours(ids.prefixes):
        return _positions_exactly(sought, ids)
    found = np.minimum(np.searchsorted(ids.prefixes, sought.prefixes), len(ids.prefixes) - 1)
    rows = np.flatnonzero(ids.prefixes[found] == sought.prefixes)
    rows = rows[(ids.object_ids[found[rows]] == sought.object_ids[rows]).all(axis=1)]
    confirmed = np.full(len(found), -1, np.intp)
    confirmed[rows] = found[rows]
    return confirmed


def _positions_exactly(sought: SortedIds, ids: SortedIds) -> NDArray[np.intp]:
    """Search by whole ids: slower, and right for ids made to collide in their first eight bytes."""
    sought_ids, sorted_ids = as_byte_strings(sought.object_ids), as_byte_strings(ids.object_ids)
    found = np.minimum(np.searchsorted(sorted_ids, sought_ids), len(sorted_ids) - 1)
    return np.where(sorted_ids[found] == sought_ids, found, -1)


def _has_equal_neighbours(prefixes: Prefixes) -> bool:
    return bool((prefixes[1:] == prefixes[:-1]).any())
