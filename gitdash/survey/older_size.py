"""An older size of a repository as a part of its new one: what it was measured from, and what is new since."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gitdash.measurement.answers import PreviousSize
from gitdash.measurement.fingerprint import SizeState, only_gained_packs
from gitdash.measurement.size_request import SizeRequest

if TYPE_CHECKING:
    from gitdash.history.store import StoredSize


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
        are_new=_new_objects(request, lenders, added),
    )


def _new_objects(
    request: SizeRequest, lenders: Sequence[bytes], added: frozenset[bytes]
) -> Callable[[Sequence[str]], bool]:
    def are_new(object_ids: Sequence[str]) -> bool:
        from gitdash.survey.stores import only_in_packs

        return only_in_packs(request.objects_dir, lenders, added, request.object_format, object_ids)

    return are_new


def pack_text(pack: tuple[bytes, int]) -> str:
    """Return name and bytes of a pack as they are stored."""
    name, size_bytes = pack
    return f"{size_bytes} {os.fsdecode(name)}"


def _pack_of_text(text: str) -> tuple[bytes, int]:
    size_bytes, _, name = text.partition(" ")
    return os.fsencode(name), int(size_bytes)
