"""Ids of objects that a repository has, for warming and timing look-ups: git opens nothing for an id that it makes up.

A tip is what a fetch asks for first. Where references are many or git alone can read them, any object of a pack will
do, of a lender's as well. All of it is read from files; an object may be gone all the same.
"""

import os
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gitdash.errors import GitdashError
from gitdash.formats.pack_index import read_first_object_id
from gitdash.inspection.files import open_buffer
from gitdash.inspection.loose import loose_object_names
from gitdash.inspection.object_ids import index_paths
from gitdash.model.inspection import Inspection, ReferenceBackend, ReferenceFacts
from gitdash.model.repository import Repository
from gitdash.survey.alternates import compared_stores
from gitdash.survey.tips import first_tip

_REFERENCES_READ: Final = 5000
"""They take 0.1 s where each is a file."""
_PACKS_TRIED: Final = 3


def known_objects(repository: Repository, inspection: Inspection) -> Iterator[str]:
    """Yield a few full ids, the best first; none if there is no object, or none can be read."""
    if inspection.reference_backend is ReferenceBackend.FILES and _reference_count(inspection) <= _REFERENCES_READ:
        tip = first_tip(repository, inspection)
        if tip is not None:
            yield tip
    for store in compared_stores(repository.common_dir, inspection):
        yield from islice(_packed(store, inspection), _PACKS_TRIED)
        yield from islice(_loose(store), 1)


def pack_count(repository: Repository, inspection: Inspection) -> int | None:
    """Return how many packs could hold an object, those of lenders included; None if a folder cannot be listed."""
    try:
        return sum(len(index_paths(store)) for store in compared_stores(repository.common_dir, inspection))
    except GitdashError:
        return None


def _reference_count(inspection: Inspection) -> int:
    references = inspection.references
    return references.loose_count + (references.packed_count or 0) if isinstance(references, ReferenceFacts) else 0


def _packed(store: bytes, inspection: Inspection) -> Iterator[str]:
    try:
        paths = index_paths(store)
    except GitdashError:
        return
    for path in paths:
        try:
            with open_buffer(os.path.realpath(path)) as index:
                object_id = read_first_object_id(index, inspection.object_format)
        except GitdashError:
            continue
        if object_id is not None:
            yield object_id


def _loose(store: bytes) -> Iterator[str]:
    try:
        yield from (object_id for object_id, _ in loose_object_names(store))
    except GitdashError:
        return
