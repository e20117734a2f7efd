"""What an action that was killed or cut off may have left in a repository. Pure.

Source: git's tempfile.c: a signal that can be caught has git remove its locks and temporary files, SIGKILL and a power
loss do not; gc.pid stays likewise (builtin/gc.c), and the `.keep` of a pack that a fetch was about to make known
(fetch-pack.c). A file that is older than the action is another's. Ages are those of the file system: where another host
sets them by a wrong clock, something may be missing here. Removes nothing.
"""

from collections.abc import Iterator
from typing import Final

from gitdash.model.inspection import Inspection, LockFile, LooseFacts, PackFacts, TemporaryFile
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
    return tuple(sorted(found))


def _temporary_files(inspection: Inspection) -> Iterator[TemporaryFile]:
    for facts in (inspection.packs, inspection.loose):
        if isinstance(facts, PackFacts | LooseFacts):
            yield from facts.temporary_files


def _lock(lock: LockFile) -> str:
    if lock.holder_pid is not None:
        return f"{lock.path} (held by process {lock.holder_pid})"
    if lock.holder_host is not None:
        return f"{lock.path} (names the host {lock.holder_host})"
    return lock.path


def _temporary(file: TemporaryFile) -> str:
    return f"{file.path}/" if file.is_directory else f"{file.path} ({human_bytes(file.bytes)})"
