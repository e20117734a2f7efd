"""The arithmetic of what RECLAIM would drop: unreachable objects of a store, and which of them are young.

The age of an object is that of its youngest copy: a loose file's, a pack's, or what a cruft pack says of it. Source:
gitformat-pack(5) "pack-*.mtimes files", reachable.c. Imports numpy: import this module only where it is used.
"""

import contextlib
import os
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitdash.formats.mtimes import read_mtimes_header
from gitdash.formats.pack_index_arrays import ObjectIds, prefixes_of, read_object_ids
from gitdash.formats.reading import OBJECT_ID_LENGTH
from gitdash.inspection.files import FileMissingError, open_buffer
from gitdash.inspection.loose import loose_object_names
from gitdash.inspection.object_ids import index_paths
from gitdash.maintenance.object_sets import stored_objects
from gitdash.measurement.sorted_ids import SortedIds, contained, ids_from_hexadecimal, sorting_order
from gitdash.model.inspection import ObjectFormat

TIPS: Final = ("--all", "--reflog", "--indexed-objects")
"""From where git-repack(1) and git-prune(1) start."""
_TIMES_START: Final = 12
"""Of the table of times in `pack-*.mtimes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreachableObjects:
    """Unreachable objects of a store, each once."""

    ids: SortedIds
    sizes_bytes: NDArray[np.int64]
    """On disk, of the copy that git finds first."""
    is_young: NDArray[np.bool_]
    is_kept: NDArray[np.bool_]
    """In a pack with `.keep`."""
    has_kept_pack: bool

    @property
    def young_ids(self) -> ObjectIds:
        """Those that git keeps because of their age, and with them what they need."""
        return self.ids.object_ids[self.is_young]

    def dropped_without(self, needed: SortedIds | None) -> tuple[int, int]:
        """Return how many would go, and their bytes; `needed` is what young ones need."""
        stays = self.is_young | self.is_kept
        if needed is not None:
            stays |= contained(self.ids, needed)
        return int(np.count_nonzero(~stays)), int(self.sizes_bytes[~stays].sum())


def unreachable_objects(
    objects_dir: bytes, reachable: SortedIds, object_format: ObjectFormat, *, young_from_s: float
) -> UnreachableObjects:
    """Return what a store has besides `reachable`. Raises GitdashError for a damaged index or table of times."""
    stored = stored_objects(objects_dir, object_format)
    rows = np.flatnonzero(stored.counts & ~contained(stored, reachable))
    ids = SortedIds(object_ids=stored.object_ids[rows], prefixes=stored.prefixes[rows])
    sizes_bytes = stored.sizes_bytes[rows]
    del stored
    is_young = np.zeros(len(rows), np.bool_)
    is_kept = np.zeros(len(rows), np.bool_)
    has_kept_pack = False
    for index_path in index_paths(objects_dir):
        young, has_keep = _young_in_pack(index_path, object_format, young_from_s)
        is_young |= contained(ids, young)
        if has_keep:
            has_kept_pack = True
            is_kept |= contained(ids, _all_in_pack(index_path, object_format))
    is_young |= contained(ids, _young_loose(objects_dir, object_format, young_from_s))
    return UnreachableObjects(
        ids=ids, sizes_bytes=sizes_bytes, is_young=is_young, is_kept=is_kept, has_kept_pack=has_kept_pack
    )


def _young_in_pack(index_path: bytes, object_format: ObjectFormat, young_from_s: float) -> tuple[SortedIds, bool]:
    """Return the young objects of a pack, and whether the pack is kept."""
    stem = index_path.removesuffix(b".idx")
    has_keep = os.path.lexists(stem + b".keep")
    found = _all_in_pack(index_path, object_format)
    times = _times(stem, len(found.prefixes), object_format)
    if times is None:
        is_young = np.full(len(found.prefixes), _mtime_s(stem + b".pack") > young_from_s, np.bool_)
    else:
        is_young = times > young_from_s
    return SortedIds(object_ids=found.object_ids[is_young], prefixes=found.prefixes[is_young]), has_keep


def _all_in_pack(index_path: bytes, object_format: ObjectFormat) -> SortedIds:
    with open_buffer(index_path) as buffer:
        object_ids = read_object_ids(buffer, object_format)
    return SortedIds(object_ids=object_ids, prefixes=prefixes_of(object_ids))


def _times(stem: bytes, object_count: int, object_format: ObjectFormat) -> NDArray[np.uint32] | None:
    """Return the times of a cruft pack, in the order of its index; None for any other pack."""
    with contextlib.suppress(FileMissingError), open_buffer(stem + b".mtimes") as buffer:
        read_mtimes_header(buffer, object_count, object_format)
        table = bytes(buffer[_TIMES_START : _TIMES_START + 4 * object_count])
        return np.frombuffer(table, ">u4").astype(np.uint32)
    return None


def _mtime_s(path: bytes) -> float:
    """Return when a file changed last; one that is gone is as young as can be."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")


def _young_loose(objects_dir: bytes, object_format: ObjectFormat, young_from_s: float) -> SortedIds:
    young = [object_id for object_id, found in loose_object_names(objects_dir) if found.st_mtime > young_from_s]
    return _sorted(ids_from_hexadecimal(young, object_format))


def ids_of_lines(lines: bytes, object_format: ObjectFormat) -> SortedIds:
    """Return the ids that git printed, one a line, in any order."""
    joined = bytes.fromhex(lines.decode("ascii"))
    return _sorted(np.frombuffer(joined, np.uint8).reshape(-1, OBJECT_ID_LENGTH[object_format]))


def lines_of_ids(object_ids: ObjectIds) -> bytes:
    """Return ids as git reads them, one a line."""
    return b"".join(row.tobytes().hex().encode() + b"\n" for row in object_ids)


def _sorted(object_ids: ObjectIds) -> SortedIds:
    prefixes = prefixes_of(object_ids)
    order = sorting_order(object_ids, prefixes)
    if order is not None:
        object_ids, prefixes = object_ids[order], prefixes[order]
    return SortedIds(object_ids=object_ids, prefixes=prefixes)
