"""What an action that was killed or cut off may have left in a repository. Pure.

Source: git's tempfile.c: a signal that can be caught has git remove its locks and temporary files, SIGKILL and a power
loss do not; gc.pid stays likewise (builtin/gc.c), and the `.keep` of a pack that a fetch was about to make known
(fetch-pack.c). A repack lets its new packs have `.tmp-PID-pack-` names until all are whole (builtin/repack.c); git
reads such a pack like any other, so it is told here and is no temporary file elsewhere. A file that is older than the
action is another's. Ages are those of the file system: where another host sets them by a wrong clock, something may be
missing here. Removes nothing.
"""

from collections.abc import Iterator
from typing import Final

from gitdash.inspection.temporary import process_of_repack
from gitdash.model.inspection import Inspection, LockFile, LooseFacts, PackFacts, PackFile, TemporaryFile
from gitdash.units import human_bytes

CLOCK_STEP_S: Final = 1.0
"""File systems take times from a clock that goes in steps, some of them of a second."""


def leftovers(inspection: Inspection, *, started_at_s: float) -> tuple[str, ...]:
    """Return what is there and not older than an action that began at that time: paths with size or holder, sorted.

    Paths are relative to the git directory. What another process has made since is among them.
    """
    oldest_s = started_at_s - CLOCK_STEP_S
    found = [_lock(lock) for lock in inspection.locks if lock.mtime_s >= oldest_s]
    found += [_temporary(file) for file in _temporary_files(inspection) if file.mtime_s >= oldest_s]
    if isinstance(inspection.packs, PackFacts):
        keep_files = (keep for keep in inspection.packs.keep_files if keep.by_transfer and keep.mtime_s >= oldest_s)
        found += [f"objects/pack/{keep.name}" for keep in keep_files]
        for pack in inspection.packs.packs:
            # without an index git does not read it, and it is among the temporary files
            if pack.mtime_s >= oldest_s and (pack.has_index or pack.in_multi_pack_index):
                found += _of_stopped_repack(pack)
    return tuple(sorted(found))


def _temporary_files(inspection: Inspection) -> Iterator[TemporaryFile]:
    for facts in (inspection.packs, inspection.loose):
        if isinstance(facts, PackFacts | LooseFacts):
            yield from facts.temporary_files


def _of_stopped_repack(pack: PackFile) -> Iterator[str]:
    """Yield the files of a pack that has the name of one that a repack has yet to give its own."""
    if process_of_repack(f"{pack.name}.pack".encode()) is None:
        return
    path = f"objects/pack/{pack.name}"
    yield f"{path}.pack ({human_bytes(pack.bytes)})"
    if pack.has_index:
        yield f"{path}.idx ({human_bytes(pack.index_bytes)})"
    has_more = {"rev": pack.has_reverse_index, "bitmap": pack.has_bitmap, "mtimes": pack.cruft}
    yield from (f"{path}.{suffix}" for suffix, is_there in has_more.items() if is_there)


def _lock(lock: LockFile) -> str:
    if lock.holder_pid is not None:
        return f"{lock.path} (held by process {lock.holder_pid})"
    if lock.holder_host is not None:
        return f"{lock.path} (names the host {lock.holder_host})"
    return lock.path


def _temporary(file: TemporaryFile) -> str:
    return f"{file.path}/" if file.is_directory else f"{file.path} ({human_bytes(file.bytes)})"
