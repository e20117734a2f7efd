"""Stale garbage: what commands that were stopped left behind, by Gitaly's ages, and only where nobody can miss it.

Ages are those of Gitaly's `clean_stale_data`; the list of locks is exactly its list, for other locks may be held for
days. What goes is a regular file of ours, old enough, open in no process that we see, and looked at once more right
before. Empty loose references are damage and not garbage: reported, never removed.

Whether a file is open only Linux says; where it does not, nothing is removed.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from gitdash.inspection.files import FileError, read_start
from gitdash.maintenance.processes import can_see_processes, openers, process_lives
from gitdash.maintenance.work import Work, refused
from gitdash.maintenance.writing import WriteRefusedError, remove_file, remove_folder
from gitdash.units import counted, printable_path

_MINUTE_S: Final = 60.0
_HOUR_S: Final = 3600.0
_DAY_S: Final = 86_400.0

TEMPORARY_FILE_AGE_S: Final = _DAY_S
"""A longer transfer or repack has its file open, or was given up."""
TEMPORARY_FOLDER_AGE_S: Final = 3 * _DAY_S
"""A quarantine of a push: hooks may look at it for long."""
KEEP_AGE_S: Final = 7 * _DAY_S
"""A transfer marks its pack until references point into it."""
EMPTY_REFERENCE_AGE_S: Final = _DAY_S

LOCK_AGES_S: Final = {
    b"config.lock": 15 * _MINUTE_S,
    b"HEAD.lock": 15 * _MINUTE_S,
    b"info/attributes.lock": 15 * _MINUTE_S,
    b"objects/info/alternates.lock": 15 * _MINUTE_S,
    b"objects/info/commit-graphs/commit-graph-chain.lock": 15 * _MINUTE_S,
    b"objects/pack/multi-pack-index.lock": 15 * _MINUTE_S,
    b"packed-refs.new": 15 * _MINUTE_S,
    b"packed-refs.lock": _HOUR_S,
    b"reftable/tables.list.lock": _HOUR_S,
}
"""By path relative to the common directory; locks of single references as packed-refs.lock."""
_REFERENCE_LOCK_AGE_S: Final = _HOUR_S

_TRANSFER_KEEPS: Final = (b"receive-pack ", b"fetch-pack ")
_KEEP_START_BYTES: Final = 32
_REPACK_FILE: Final = re.compile(rb"\.tmp-(\d+)-")
_AT_ONCE: Final = 50
"""Files between two looks at what is open: a look takes milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that may be old enough."""

    path: bytes
    """Relative to the common directory."""
    age_s: float
    """It must be older."""
    is_folder: bool = False


def sweep(work: Work) -> None:
    """Remove stale garbage, and note empty references and what could not be removed."""
    if not can_see_processes():
        raise refused("this system does not say which files are open")
    common_dir = work.report.repository.common_dir
    old = [candidate for candidate in candidates(common_dir) if _is_old(common_dir, candidate, work.now_s)]
    for start in range(0, len(old), _AT_ONCE):
        _remove(work, old[start : start + _AT_ONCE])
    empty = list(_empty_references(common_dir, work.now_s))
    if empty:
        shown = ", ".join(map(printable_path, empty[:3]))
        work.notes.append(f"{counted(len(empty), 'empty reference')} left as they are: {shown}")


def candidates(common_dir: bytes) -> Iterator[Candidate]:
    """Yield everything of the kinds that are swept, whatever its age."""
    for path, age_s in LOCK_AGES_S.items():
        yield Candidate(path=path, age_s=age_s)
    for path in _walk(common_dir, b"refs"):
        if path.endswith(b".lock"):
            yield Candidate(path=path, age_s=_REFERENCE_LOCK_AGE_S)
    yield from _temporary(common_dir)
    for name in _names(common_dir, b"objects/pack"):
        if name.startswith(b"pack-") and name.endswith(b".keep"):
            yield Candidate(path=b"objects/pack/" + name, age_s=KEEP_AGE_S)


def _temporary(common_dir: bytes) -> Iterator[Candidate]:
    """Temporary files in every folder below `objects`; quarantine folders, whole, directly in it."""
    folders = [b"objects"]
    while folders:
        folder = folders.pop()
        for name in _names(common_dir, folder):
            path = folder + b"/" + name
            found = _look(common_dir, path)
            if found is None:
                continue
            if stat.S_ISDIR(found.st_mode):
                if folder == b"objects" and name.startswith((b"tmp_objdir", b"incoming-")):
                    yield Candidate(path=path, age_s=TEMPORARY_FOLDER_AGE_S, is_folder=True)
                elif folder.count(b"/") < 2:
                    folders.append(path)
            elif name.startswith(b"tmp_") or (folder == b"objects/pack" and _REPACK_FILE.match(name)):
                yield Candidate(path=path, age_s=TEMPORARY_FILE_AGE_S)


def _is_old(common_dir: bytes, candidate: Candidate, now_s: float) -> bool:
    found = _look(common_dir, candidate.path)
    if found is None or now_s - found.st_mtime < candidate.age_s or found.st_uid != os.geteuid():
        return False
    if stat.S_ISDIR(found.st_mode) != candidate.is_folder:
        return False
    if candidate.path.endswith(b".keep"):
        return _is_of_transfer(os.path.join(common_dir, candidate.path))
    repack = _REPACK_FILE.match(os.path.basename(candidate.path))
    return repack is None or not process_lives(int(repack[1]))


def _is_of_transfer(path: bytes) -> bool:
    try:
        return read_start(path, _KEEP_START_BYTES).startswith(_TRANSFER_KEEPS)
    except FileError:
        return False


def _remove(work: Work, some: list[Candidate]) -> None:
    common_dir = work.report.repository.common_dir
    real = os.path.realpath(common_dir)
    in_use = _in_use(real, some)
    for candidate in some:
        if candidate.path in in_use:
            continue
        remove = remove_folder if candidate.is_folder else remove_file
        base, path = _base_of(work, candidate.path)
        try:
            removed_bytes = remove(base, path, is_expected=partial(_still_old, work.now_s, candidate.age_s))
        except (WriteRefusedError, OSError) as error:
            work.notes.append(f"{printable_path(candidate.path)} could not be removed: {error}")
            continue
        if removed_bytes is not None:
            work.removed.append(printable_path(candidate.path))


def _still_old(now_s: float, age_s: float, found: os.stat_result) -> bool:
    return now_s - found.st_mtime >= age_s


def _base_of(work: Work, path: bytes) -> tuple[bytes, bytes]:
    """Return from where a path is entered: `objects` may be a symbolic link, whose end is known."""
    if path.startswith(b"objects/"):
        return work.objects_dir, path.removeprefix(b"objects/")
    return os.path.realpath(work.report.repository.common_dir), path


def _in_use(real_common_dir: bytes, some: list[Candidate]) -> frozenset[bytes]:
    """Return the candidates that a process has open; of a folder, anything in it."""
    by_real_path = {}
    for candidate in some:
        full_path = os.path.realpath(os.path.join(real_common_dir, candidate.path))
        by_real_path[full_path] = candidate.path
        if candidate.is_folder:
            for below in _walk(full_path, b""):
                by_real_path[os.path.join(full_path, below)] = candidate.path
    return frozenset(by_real_path[path] for path in openers(by_real_path.keys()))


def _empty_references(common_dir: bytes, now_s: float) -> Iterator[bytes]:
    for path in _walk(common_dir, b"refs"):
        found = None if path.endswith(b".lock") else _look(common_dir, path)
        if found is None or not stat.S_ISREG(found.st_mode):
            continue
        if not found.st_size and now_s - found.st_mtime >= EMPTY_REFERENCE_AGE_S:
            yield path


def _walk(base: bytes, top: bytes) -> Iterator[bytes]:
    """Yield the files below a folder, relative to `base`, without following links."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        for name in _names(base, folder):
            path = folder + b"/" + name if folder else name
            found = _look(base, path)
            if found is not None and stat.S_ISDIR(found.st_mode):
                waiting.append(path)
            elif found is not None:
                yield path


def _names(base: bytes, folder: bytes) -> list[bytes]:
    try:
        return sorted(os.listdir(os.path.join(base, folder)))
    except OSError:
        return []


def _look(base: bytes, path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(os.path.join(base, path))
    except OSError:
        return None
