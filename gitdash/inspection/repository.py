"""Everything that the files of one repository say, from its parts.

Does not run git and opens files only through files.py. A part that cannot be read becomes `Unreadable` or a problem;
it never costs the other parts.
"""

import os
import stat
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.masking import presentable_bytes
from gitdash.inspection.bitmaps import inspect_bitmaps
from gitdash.inspection.commit_graph import inspect_commit_graph
from gitdash.inspection.config import inspect_config
from gitdash.inspection.disk import disk_facts
from gitdash.inspection.files import FileError, file_error, read_file, read_start
from gitdash.inspection.fingerprint import Snapshot, take_snapshot
from gitdash.inspection.listing import Listing
from gitdash.inspection.locks import inspect_locks
from gitdash.inspection.loose import LooseScan, scan_loose
from gitdash.inspection.mounts import filesystem_type
from gitdash.inspection.multi_pack_index import inspect_multi_pack_index
from gitdash.inspection.packs import PACK_FOLDER, inspect_packs
from gitdash.inspection.reference_facts import inspect_head, inspect_references
from gitdash.model.inspection import (
    Inspection,
    LooseFacts,
    ObjectFormat,
    ObjectStore,
    PackFacts,
    Problem,
    ReferenceFacts,
)
from gitdash.model.repository import Unreadable
from gitdash.units import printable_path

_RACY_S: Final = 2.0
"""The coarsest time stamps in use (FAT): a later change within them need not show in any time."""
_MORE_LOOKS: Final = 2
"""Under an endless loop of repacks one more look left 4 of 10,000 inspections with a vanished pack."""
_SHALLOW_MAXIMUM_BYTES: Final = 64 << 20
_GC_LOG_BYTES: Final = 4096
_GC_LOG_SHOWN: Final = 200
_REPACK_STAMP: Final = b".gitaly-full-repack-timestamp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a repository is, and by which paths it is reached."""

    git_dir: bytes
    """Absolute; HEAD, index and locks are read here."""
    common_dir: bytes
    """Absolute; objects, references and config are read here."""
    real_common_dir: bytes
    """The common directory without symbolic links."""
    common_prefix: bytes
    """A path of the common directory with a slash at the end."""
    objects_prefix: bytes
    """A path of its `objects` with a slash at the end, or empty if that is the current folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When an inspection is made."""

    now_s: float
    """Ages count from here."""
    loose_stale_age_s: float
    """Older loose objects are stale."""


def inspect_repository(git_dir: bytes, common_dir: bytes, *, now_s: float, loose_stale_age_s: float) -> Inspection:
    """Inspect one repository.

    Raises FileError only if the git directory itself cannot be listed, because it is gone or closed to us.

    Args:
        git_dir: Absolute; HEAD, index and locks are read here.
        common_dir: Absolute; objects, references and config are read here.
        now_s: The moment of the inspection, from which ages count.
        loose_stale_age_s: Older loose objects are stale.
    """
    place = place_of(git_dir, common_dir)
    moment = Moment(now_s=now_s, loose_stale_age_s=loose_stale_age_s)
    return inspect_snapshot(_snapshot(place), place, moment)


def place_of(git_dir: bytes, common_dir: bytes) -> Place:
    """Return a place that is reached by its absolute paths."""
    return Place(
        git_dir=git_dir,
        common_dir=common_dir,
        real_common_dir=os.path.realpath(common_dir),
        common_prefix=common_dir + b"/",
        objects_prefix=common_dir + b"/objects/",
    )


def inspect_if_changed(place: Place, known_fingerprint: bytes | None, moment: Moment) -> Inspection | None:
    """Inspect a repository unless its fingerprint is the known one; raises FileError if it cannot be listed."""
    snapshot = _snapshot(place)
    if snapshot.fingerprint == known_fingerprint:
        return None
    return inspect_snapshot(snapshot, place, moment)


def inspect_snapshot(snapshot: Snapshot, place: Place, moment: Moment) -> Inspection:
    """Inspect a repository whose files have been listed; if one of them is gone by now, list it again."""
    inspection = _inspect(snapshot, place, moment)
    for _ in range(_MORE_LOOKS):
        if not snapshot.problems.file_vanished:
            break
        snapshot = _snapshot(place)
        inspection = _inspect(snapshot, place, moment)
    return inspection


def _snapshot(place: Place) -> Snapshot:
    return take_snapshot(
        place.git_dir, place.common_dir, common_prefix=place.common_prefix, objects_prefix=place.objects_prefix
    )


def _inspect(snapshot: Snapshot, place: Place, moment: Moment) -> Inspection:
    now_s = moment.now_s
    common, own, problems = snapshot.common, snapshot.own, snapshot.problems
    config = inspect_config(common, place.git_dir, place.common_dir, own, problems)
    object_format = config.object_format
    coverage = inspect_multi_pack_index(common, problems)
    store = _object_store(common, place.real_common_dir)
    packs = _packs(snapshot, store, object_format, coverage.pack_names)
    scan = scan_loose(common, object_format, now_s=now_s, stale_age_s=moment.loose_stale_age_s)
    loose = _loose(snapshot, store, scan)
    references = inspect_references(common, config.reference_backend, object_format)
    shallow_count = _shallow_count(snapshot)
    gc_log = common.top().get(b"gc.log")
    locks, left_out_lock_count = inspect_locks(own, place.git_dir)
    has_ages = bool(locks or gc_log or config.has_includes or own.newest_ns >= (now_s - _RACY_S) * 1e9)
    return Inspection(
        inspected_at_s=now_s,
        valid_until_s=now_s if has_ages or _shows_ages(common, packs, loose, references, now_s) else scan.next_stale_s,
        fingerprint=snapshot.fingerprint,
        watched=snapshot.watched,
        object_store=store,
        object_format=object_format,
        reference_backend=config.reference_backend,
        shallow=shallow_count > 0,
        shallow_count=shallow_count,
        head=inspect_head(own, config.reference_backend, object_format),
        packs=packs,
        loose=loose,
        bitmaps=inspect_bitmaps(common, object_format, problems),
        multi_pack_index=coverage.facts,
        commit_graph=inspect_commit_graph(common, problems),
        references=references,
        alternates=snapshot.alternates,
        locks=locks,
        left_out_lock_count=left_out_lock_count,
        gc_log=_gc_log(snapshot, gc_log),
        gc_log_mtime_s=gc_log.st_mtime if gc_log else None,
        config=config.facts,
        disk=disk_facts(own, incomplete=bool(scan.unreadable)),
        last_full_repack_s=_last_full_repack_s(common, packs),
        filesystem_type=filesystem_type(place.real_common_dir),
        problems=_all_problems(snapshot),
    )


def _shows_ages(
    common: Listing,
    packs: PackFacts | Unreadable,
    loose: LooseFacts | Unreadable,
    references: ReferenceFacts | Unreadable,
    now_s: float,
) -> bool:
    """Tell whether a fact is about the age of a file, or a change could hide behind a coarse time stamp."""
    if common.newest_ns >= (now_s - _RACY_S) * 1e9:
        return True
    if isinstance(packs, PackFacts) and (packs.keep_files or packs.temporary_files):
        return True
    if isinstance(loose, LooseFacts) and loose.temporary_files:
        return True
    return isinstance(references, ReferenceFacts) and references.empty_loose_oldest_mtime_s is not None


def _object_store(common: Listing, real_common_dir: bytes) -> ObjectStore | Unreadable:
    found = common.top().get(b"objects")
    if found is None:
        return Unreadable("objects is missing")
    path = real_common_dir + b"/objects"
    if stat.S_ISLNK(found.st_mode):
        try:
            found = os.stat(path)
        except OSError as error:
            return Unreadable(f"objects is a symbolic link that leads nowhere: {file_error(path, error).reason}")
        path = os.path.realpath(path)
    if not stat.S_ISDIR(found.st_mode):
        return Unreadable("objects is not a folder")
    reason = dict(common.unreadable).get(b"objects")
    return (
        Unreadable(f"objects: {reason}") if reason else ObjectStore(path=path, device=found.st_dev, inode=found.st_ino)
    )


def _packs(
    snapshot: Snapshot, store: ObjectStore | Unreadable, object_format: ObjectFormat, indexed_names: frozenset[bytes]
) -> PackFacts | Unreadable:
    if isinstance(store, Unreadable):
        return store
    reason = dict(snapshot.common.unreadable).get(PACK_FOLDER)
    if reason is None and not _is_folder_or_absent(snapshot.common, b"objects", b"pack"):
        reason = "not a folder"
    if reason is not None:
        return Unreadable(f"objects/pack: {reason}")
    return inspect_packs(snapshot.common, object_format, indexed_names, snapshot.problems)


def _is_folder_or_absent(listing: Listing, folder: bytes, name: bytes) -> bool:
    return name not in listing.folders.get(folder, {}) or (folder + b"/" + name) in listing.folders


def _loose(snapshot: Snapshot, store: ObjectStore | Unreadable, scan: LooseScan) -> LooseFacts | Unreadable:
    """Return the facts; a shard that cannot be listed makes them unreadable, for the counts would be too low."""
    for path, reason in scan.unreadable:
        snapshot.problems.note(path, reason)
    if isinstance(store, Unreadable):
        return store
    if scan.unreadable:
        path, reason = scan.unreadable[0]
        return Unreadable(f"{printable_path(path)}: {reason}")
    return scan.facts


def _shallow_count(snapshot: Snapshot) -> int:
    """Return the number of commits in the shallow file; 0 if it is absent or cannot be read, which is noted."""
    found = snapshot.common.top().get(b"shallow")
    if found is None:
        return 0
    try:
        data = read_file(snapshot.common.path(b"shallow"), _SHALLOW_MAXIMUM_BYTES, listed=found)
    except FileError as error:
        snapshot.problems.note(b"shallow", error.reason)
        return 0
    return len(data.split())


def _gc_log(snapshot: Snapshot, found: os.stat_result | None) -> str | None:
    if found is None:
        return None
    try:
        data = read_start(snapshot.common.path(b"gc.log"), _GC_LOG_BYTES, listed=found)
    except FileError as error:
        snapshot.problems.note(b"gc.log", error.reason)
        return None
    lines = data.strip().splitlines()
    return presentable_bytes(lines[0])[:_GC_LOG_SHOWN] if lines else None


def _last_full_repack_s(common: Listing, packs: PackFacts | Unreadable) -> float | None:
    stamp = common.top().get(_REPACK_STAMP)
    if stamp is not None:
        return stamp.st_mtime
    if isinstance(packs, Unreadable):
        return None
    return min([pack.mtime_s for pack in packs.packs if not (pack.kept or pack.cruft)], default=None)


def _all_problems(snapshot: Snapshot) -> tuple[Problem, ...]:
    for path, reason in snapshot.common.unreadable:
        snapshot.problems.note(path, reason)
    if snapshot.own is not snapshot.common:
        for path, reason in snapshot.own.unreadable:
            snapshot.problems.note(path, reason)
    return snapshot.problems.records()
