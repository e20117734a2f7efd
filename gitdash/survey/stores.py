"""Which packs of a store alone hold some objects.

Imports numpy through `measurement.stores`: import this module only where it is used.
"""

from collections.abc import Sequence

from gitdash.maintenance.store_folder import object_store
from gitdash.measurement.additions import only_in_added_packs
from gitdash.model.inspection import ObjectFormat


def only_in_packs(
    objects_dir: bytes,
    lenders: Sequence[bytes],
    names: frozenset[bytes],
    object_format: ObjectFormat,
    object_ids: Sequence[str],
) -> bool:
    """Tell whether all objects lie in the named packs alone, and in no other place of the store or of its lenders."""
    added = object_store(objects_dir, is_chosen=names.__contains__, with_loose=False)
    others = [object_store(objects_dir, is_chosen=lambda name: name not in names), *map(object_store, lenders)]
    return only_in_added_packs(added, others, object_format)(object_ids)
