"""What the experiment `lookup` searches: the packs as they are, copies with other ones, and generated repositories.

Source: git-multi-pack-index(1), git-repack(1).
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitdash.lab.bitmap_copies import stored_bytes
from gitdash.lab.copies import git_in_copy, throw_away_copy
from gitdash.lab.copying import ThrowAwayCopy
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.many_packs import repository_of_packs
from gitdash.lab.references import a_tip, require_inspection
from gitdash.lab.request import ExperimentError, ExperimentRequest, for_people
from gitdash.model.inspection import ObjectFormat
from gitdash.units import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """The packs that are searched."""

    name: str
    title: str
    explanation: str
    prepare: Callable[["Looking"], "Store"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An object store to be asked."""

    objects_dir: bytes
    object_id: str
    """Of an object that is there."""
    object_format: ObjectFormat
    is_ours: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """One experiment under way."""

    request: ExperimentRequest
    resources: contextlib.ExitStack

    def as_it_is(self) -> Store:
        """Return the repository's own store."""
        return self._store(object_folders(self.request.report)[0], is_ours=False)

    def indexed(self) -> Store:
        """Return a copy that has a multi-pack-index."""
        self.request.on_step("writing a multi-pack-index for a copy")
        copy = self._copy(0)
        with for_people("the packs of a copy cannot be listed"):
            names = os.listdir(copy.objects_dir + b"/pack")
        if not any(name.endswith(b".idx") for name in names):
            raise ExperimentError("there is no pack, so there is nothing to index")
        git_in_copy(self.request, copy, ("multi-pack-index", "write", "--no-progress"))
        return self._store(copy.objects_dir, is_ours=True)

    def consolidated(self) -> Store:
        """Return a copy that has one pack."""
        self.request.on_step("packing a copy into one pack")
        copy = self._copy(stored_bytes(require_inspection(self.request.report)))
        git_in_copy(self.request, copy, ("repack", "-a", "-d", "-l", "-k", "-q", "--no-write-bitmap-index"))
        return self._store(copy.objects_dir, is_ours=True)

    def generated(self, pack_count: int) -> Store:
        """Return a repository of our own with so many packs."""
        self.request.on_step(f"making a repository of {counted(pack_count, 'pack')}")
        making = repository_of_packs(
            pack_count,
            program=self.request.program,
            registry_dir=self.request.registry_dir,
            cancel=self.request.cancel,
        )
        made = self.resources.enter_context(making)
        return Store(
            objects_dir=made.objects_dir, object_id=made.object_id, object_format=ObjectFormat.SHA1, is_ours=True
        )

    def _store(self, objects_dir: bytes, *, is_ours: bool) -> Store:
        return Store(
            objects_dir=objects_dir,
            object_id=a_tip(self.request),
            object_format=require_inspection(self.request.report).object_format,
            is_ours=is_ours,
        )

    def _copy(self, room_needed_bytes: int) -> ThrowAwayCopy:
        making = throw_away_copy(
            self.request.report, room_needed_bytes=room_needed_bytes, registry_dir=self.request.registry_dir
        )
        return self.resources.enter_context(making)


AS_IT_IS: Final = Stock(
    name="as-it-is",
    title="packs as they are",
    explanation="Looks into one index after the other, the pack of the last hit first. With many packs the first"
    " look-up and, above all, a missing object are dear.",
    prepare=Looking.as_it_is,
)
INDEXED: Final = Stock(
    name="multi-pack-index",
    title="copy with a multi-pack-index",
    explanation="One index names the objects of all packs, so the first look-up opens one file instead of all. A"
    " missing object gains nothing: git reads the folder of packs again before it gives up.",
    prepare=Looking.indexed,
)
CONSOLIDATED: Final = Stock(
    name="one-pack",
    title="copy in one pack",
    explanation="All objects in one pack: the fewest files to open and to search. It should win, for a missing object"
    " by far.",
    prepare=Looking.consolidated,
)


def generated_stock(pack_count: int) -> Stock:
    """Return a point of the curve."""
    return Stock(
        name=f"packs-{pack_count}",
        title=f"generated, {counted(pack_count, 'pack')}",
        explanation="A repository of our own with so many packs of one small object: how the cost grows with packs.",
        prepare=lambda looking: looking.generated(pack_count),
    )
