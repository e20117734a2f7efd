"""Whether objects are new: found in what was added to a store since an older measurement, and nowhere else.

Imports numpy: import this module only where it is used.
"""

from collections.abc import Callable, Sequence

from gitdash.measurement.stores import Store, contains_all, share_objects, store_ids
from gitdash.model.inspection import ObjectFormat


def only_in_added(
    added: Store, others: Sequence[Store], object_format: ObjectFormat
) -> Callable[[Sequence[str]], bool]:
    """Return a function that tells of object ids whether all of them lie in `added` alone.

    `added` are the packs and loose objects added since, `others` the older packs with the loose objects of then, also
    of those that are packed by now, and the lenders. It says False for any ids if what was added holds an object that
    one of the others holds: then the older size itself may count another copy now. Reads the stores at the first call,
    and raises what their callables raise.
    """

    def are_new(object_ids: Sequence[str]) -> bool:
        ids = store_ids(added, object_format)
        if any(share_objects(ids, store_ids(other, object_format)) for other in others):
            return False
        return not ids.redundant_count and contains_all(ids, object_ids, object_format)

    return are_new
