"""What a size query needs of the object stores that a repository borrows from, read once for all their members.

References of a lender are those of the git directory whose `objects` it is, as for git. A store that is nothing of the
kind has none, and of the folder around it nothing is looked at: any folder of the machine can be named as a lender.
"""

import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from gitdash.discovery.git_directory import GitDirectory, examine
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.ownership import foreign_owner
from gitdash.gitcmd.store_files import irregular_file
from gitdash.inspection.files import FileError, FileMissingError, read_file
from gitdash.inspection.fingerprint import fingerprint
from gitdash.inspection.folders import list_folder
from gitdash.inspection.object_ids import loose_object_sizes
from gitdash.inspection.reading import unreadable
from gitdash.model.inspection import LooseFacts, PackFacts
from gitdash.model.repository import Unreadable
from gitdash.survey.comparing import accelerators
from gitdash.survey.inspect_now import inspect_now
from gitdash.survey.store_state import StoreStates
from gitdash.survey.tips import TipsSource, tips_of
from gitdash.units import printable, printable_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Lender:
    """One object store with the repository around it."""

    references: tuple[tuple[bytes, str], ...]
    broken: tuple[tuple[bytes, str], ...] = ()
    """Names of references that cannot be read, and reasons."""
    packs: tuple[tuple[bytes, int], ...]
    """Names and bytes."""
    store_bytes: int
    """Packs and loose objects."""
    has_bitmap: bool
    has_pseudo_merges: bool
    accelerators: bytes = b""
    """What tells that its bitmaps and commit-graph are the same."""


class Lenders:
    """Lenders by objects folder; each is read again only if its files have changed. Usable from several threads."""

    def __init__(self, program: GitProgram, clock: Callable[[], float]) -> None:
        self._program = program
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[bytes, tuple[bytes, Lender | Unreadable]] = {}

    def lender(self, objects_dir: bytes, *, cancel: threading.Event) -> Lender | Unreadable:
        """Return what is known of a lender; Unreadable if packs or references cannot be read, or would hold git up."""
        with self._lock:
            git_dir = git_directory_around(objects_dir)
            if isinstance(git_dir, Unreadable):
                return git_dir
            if git_dir is None:
                return what_git_would_wait_for(objects_dir) or _store_alone(objects_dir)
            digest = store_fingerprint(objects_dir)
            known = self._known.get(objects_dir)
            if known is not None and known[0] == digest:
                return known[1]
            lender = what_git_would_wait_for(objects_dir) or self._read(git_dir, cancel)
            # a failure is remembered as well: each member would wait for the same time limit
            if not cancel.is_set():
                self._known[objects_dir] = (digest, lender)
            return lender

    def _read(self, git_dir: bytes, cancel: threading.Event) -> Lender | Unreadable:
        inspection = inspect_now(git_dir, git_dir, now_s=self._clock())
        if isinstance(inspection, Unreadable):
            return inspection
        if isinstance(inspection.packs, Unreadable):
            return inspection.packs
        if isinstance(inspection.loose, Unreadable):
            return inspection.loose
        source = TipsSource(
            git_dir=git_dir,
            common_dir=git_dir,
            object_format=inspection.object_format,
            backend=inspection.reference_backend,
            is_foreign=foreign_owner([git_dir], os.geteuid()) is not None,
        )
        tips = tips_of(source, self._program, cancel)
        if isinstance(tips, Unreadable):
            return tips
        return Lender(
            references=tips.references,
            broken=tips.broken,
            packs=pack_sizes(inspection.packs),
            store_bytes=store_bytes(inspection.packs, inspection.loose),
            has_bitmap=bool(inspection.bitmaps),
            has_pseudo_merges=any(bitmap.pseudo_merges for bitmap in inspection.bitmaps),
            accelerators=accelerators(inspection),
        )


def what_git_would_wait_for(objects_dir: bytes) -> Unreadable | None:
    """Return why git must not look into a lender's store; None if it may."""
    irregular = irregular_file(objects_dir)
    if irregular is None:
        return None
    name, kind = irregular
    return Unreadable(f"{printable_path(os.path.join(objects_dir, name))} is {kind}, and git would open it")


def pack_sizes(packs: PackFacts) -> tuple[tuple[bytes, int], ...]:
    """Return names and bytes of all packs."""
    return tuple((os.fsencode(pack.name), pack.bytes) for pack in packs.packs)


def store_bytes(packs: PackFacts, loose: LooseFacts) -> int:
    """Return what all objects of a store can take at most."""
    return packs.bytes + loose.bytes


def git_directory_around(objects_dir: bytes) -> bytes | Unreadable | None:
    """Return the git directory whose `objects` a store is; None if there is none.

    Unreadable if there are references beside it that git cannot read, for want of a HEAD for example.
    """
    parent, name = os.path.split(objects_dir)
    if name != b"objects" or not os.path.isdir(os.path.join(parent, b"refs")):
        return None
    found = examine(parent, read_file)
    if isinstance(found, GitDirectory):
        return parent
    return Unreadable(printable(f"{printable_path(parent)} is no git directory: {found}"))


def store_fingerprint(objects_dir: bytes) -> bytes:
    """Return a digest of the repository around an object store, or of the store alone; a constant if it is closed."""
    git_dir = git_directory_around(objects_dir)
    if isinstance(git_dir, bytes):
        try:
            return fingerprint(git_dir, git_dir)
        except FileError:
            return b"unreadable"
    # the same digest twice need not mean the same content here: no time is too young
    return StoreStates(math.inf).fingerprint((objects_dir,)) or b"unreadable"


def _store_alone(objects_dir: bytes) -> Lender | Unreadable:
    try:
        packs = {name: found.st_size for name, found in _pack_folder(objects_dir)}
        loose_bytes = sum(size_bytes for _, size_bytes in loose_object_sizes(objects_dir))
    except FileError as error:
        return unreadable(error)
    bitmaps = sorted(name for name in packs if name.endswith(b".bitmap"))
    return Lender(
        references=(),
        packs=tuple((name, size_bytes) for name, size_bytes in packs.items() if name.endswith(b".pack")),
        store_bytes=sum(packs.values()) + loose_bytes,
        has_bitmap=bool(bitmaps),
        has_pseudo_merges=bool(bitmaps),
        accelerators=b"\0".join(bitmaps),
    )


def _pack_folder(objects_dir: bytes) -> list[tuple[bytes, os.stat_result]]:
    try:
        return list(zip(*list_folder(objects_dir + b"/pack/"), strict=True))
    except FileMissingError:
        return []
