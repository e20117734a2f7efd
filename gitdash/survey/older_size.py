"""An older size of a repository as a part of its new one: what it was measured from, and what is new since."""

import os
from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from gitdash.formats.reading import OBJECT_ID_LENGTH
from gitdash.inspection.files import FileError
from gitdash.inspection.object_ids import index_paths, loose_object_sizes
from gitdash.measurement.answers import PreviousSize
from gitdash.measurement.fingerprint import SizeState, only_gained_packs
from gitdash.measurement.size_request import SizeRequest
from gitdash.model.inspection import ObjectFormat

if TYPE_CHECKING:
    from gitdash.history.store import StoredSize

_LOOSE_LIMIT: Final = 4096
"""So many ids are kept beside a size, 80 KiB of them; a store with more has to be packed, and is measured in full."""


def previous_size(
    stored: "StoredSize", state: SizeState, request: SizeRequest, lenders: Sequence[bytes]
) -> PreviousSize | None:
    """Return an older size if what is new can be added to it; `lenders` are their object folders."""
    old = SizeState(
        surroundings=stored.fingerprint[-len(state.surroundings) :],
        tips=frozenset(stored.tips),
        packs=frozenset(map(_pack_of_text, stored.pack_names)),
    )
    if not only_gained_packs(old, state):
        return None
    added = frozenset(name for name, _ in state.packs - old.packs)
    return PreviousSize(
        size_bytes=stored.measurement.bytes,
        exact=stored.measurement.exact,
        tips=old.tips,
        are_new=_new_objects(request, lenders, added, stored.measurement.loose_ids),
    )


def _new_objects(
    request: SizeRequest, lenders: Sequence[bytes], added: frozenset[bytes], loose_ids: bytes | None
) -> Callable[[Sequence[str]], bool] | None:
    """None if nobody knows what was loose then: it may have been packed since, and seem to be new."""
    if loose_ids is None:
        return None

    def are_new(object_ids: Sequence[str]) -> bool:
        from gitdash.survey.stores import only_in_additions

        return only_in_additions(
            request.objects_dir,
            lenders,
            added_packs=added,
            older_loose=_unpacked(loose_ids, request.object_format),
            object_format=request.object_format,
            object_ids=object_ids,
        )

    return are_new


def loose_ids_now(state: SizeState, objects_dir: bytes, lenders: Sequence[bytes]) -> bytes | None:
    """Return the ids of all loose objects, the lenders' too; to be called once the references have been read.

    None if there are too many, if a folder cannot be read, or if there are other packs by now than in `state`: what was
    loose as the references were read may lie in one of these.
    """
    loose = chain.from_iterable(map(loose_object_sizes, (objects_dir, *lenders)))
    try:
        object_ids = [object_id for object_id, _ in islice(loose, _LOOSE_LIMIT + 1)]
        packs = {os.path.basename(path).removesuffix(b".idx") for path in index_paths(objects_dir)}
    except FileError:
        return None
    if len(object_ids) > _LOOSE_LIMIT or not packs <= {name for name, _ in state.packs}:
        return None
    return bytes.fromhex("".join(object_ids))


def _unpacked(loose_ids: bytes, object_format: ObjectFormat) -> frozenset[str]:
    step = OBJECT_ID_LENGTH[object_format]
    return frozenset(loose_ids[start : start + step].hex() for start in range(0, len(loose_ids), step))


def pack_text(pack: tuple[bytes, int]) -> str:
    """Return name and bytes of a pack as they are stored."""
    name, size_bytes = pack
    return f"{size_bytes} {os.fsdecode(name)}"


def _pack_of_text(text: str) -> tuple[bytes, int]:
    size_bytes, _, name = text.partition(" ")
    return os.fsencode(name), int(size_bytes)
