"""Which copy counts where a store holds an object several times and a multi-pack-index names one of them.

git asks the multi-pack-index before it looks into packs (gitformat-pack(5)); of an incremental one it asks the newest
layer first. One that cannot be read decides nothing: it is no choice of git's either.

Imports numpy: import this module only where it is used.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gitdash.formats.multi_pack_index_arrays import NamedCopies, read_named_copies
from gitdash.formats.pack_index_arrays import prefixes_of
from gitdash.formats.reading import Buffer, FormatError
from gitdash.measurement.sorted_ids import SortedIds, positions


def prefer_named_copies(
    counts: NDArray[np.bool_],
    ids: SortedIds,
    run_numbers: NDArray[np.int32],
    *,
    pack_names: Sequence[bytes],
    layers: Iterable[Buffer],
) -> None:
    """Move the mark in `counts` to the named copy.

    `counts` is True for the first row of each object. A run number is a position in `pack_names`, or beyond it for
    loose objects.
    """
    object_numbers = np.cumsum(counts) - 1
    rows = np.flatnonzero(np.bincount(object_numbers)[object_numbers] > 1)
    for layer in layers:
        try:
            named = read_named_copies(layer)
        except FormatError:
            continue
        chosen = _chosen_rows(rows, ids, run_numbers, named, pack_names)
        # a pack may hold an object twice
        decided, first = np.unique(object_numbers[chosen], return_index=True)
        is_decided = np.isin(object_numbers[rows], decided)
        counts[rows[is_decided]] = False
        counts[chosen[first]] = True
        rows = rows[~is_decided]


def _chosen_rows(
    rows: NDArray[np.intp],
    ids: SortedIds,
    run_numbers: NDArray[np.int32],
    named: NamedCopies,
    pack_names: Sequence[bytes],
) -> NDArray[np.intp]:
    """Those of the rows whose copy is the named one."""
    found = positions(
        SortedIds(object_ids=ids.object_ids[rows], prefixes=ids.prefixes[rows]),
        SortedIds(object_ids=named.object_ids, prefixes=prefixes_of(named.object_ids)),
    )
    rows, found = rows[found >= 0], found[found >= 0]
    number_of = {name.removesuffix(b".pack"): number for number, name in enumerate(pack_names)}
    run_number_of_pack = np.array([number_of.get(name, -1) for name in named.pack_names], np.int32)
    is_named: NDArray[np.bool_] = run_number_of_pack[named.pack_numbers[found]] == run_numbers[rows]
    return rows[is_named]
