"""Which part of a store alone holds some objects.

Imports numpy through `measurement.stores`: import this module only where it is used.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from gitdash.inspection.object_ids import loose_object_sizes
from gitdash.maintenance.store_folder import object_store
from gitdash.measurement.additions import only_in_added
from gitdash.model.inspection import ObjectFormat


def only_in_additions(
    objects_dir: bytes,
    lenders: Sequence[bytes],
    *,
    added_packs: frozenset[bytes],
    older_loose: Collection[str],
    object_format: ObjectFormat,
    object_ids: Sequence[str],
) -> bool:
    """Tell whether all objects lie in what was added to a store alone, and in no other place of it or of its lenders.

    Added are the named packs, and the loose objects that are not among `older_loose`.
    """
    packs = object_store(objects_dir, is_chosen=added_packs.__contains__, with_loose=False)
    added = replace(
        packs, loose=lambda: [found for found in loose_object_sizes(objects_dir) if found[0] not in older_loose]
    )
    older_packs = object_store(objects_dir, is_chosen=lambda name: name not in added_packs, with_loose=False)
    older = replace(older_packs, loose=lambda: [(object_id, 0) for object_id in older_loose])
    return only_in_added(added, [older, *map(object_store, lenders)], object_format)(object_ids)
