"""What lies in a repository, to tell what a task changed: git says exit code 0 for a task that it skipped, too.

Files below `objects`, `reftable` and `refs`, and packed-refs, each with what tells its content: a pack by its name, a
file that git writes anew by its length and its last bytes, which are its checksum. Of loose references only the names
count: no task changes what one points to, but a push at the same time does. Times do not count: a file that was
written again and is the same is no change. Locks and temporary files do not count either.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from typing import Final

from gitdash.inspection.files import FileError, open_buffer
from gitdash.units import printable_path

State = Mapping[bytes, bytes]
"""Content mark by path relative to the common directory."""

_FOLDERS: Final = (b"objects", b"refs", b"reftable")
_TRAILER_BYTES: Final = 64
"""The checksum at the end of packed files."""
_NAMED_BY_CONTENT: Final = (b".pack", b".idx", b".rev", b".mtimes", b".keep", b".promisor")
LISTED_REMOVED: Final = 1_000


def read_state(common_dir: bytes) -> State:
    """Return the state of a repository; what vanishes meanwhile is left out."""
    state: dict[bytes, bytes] = {}
    for folder in _FOLDERS:
        for path in _files_below(common_dir, folder):
            state[path] = _mark(common_dir, path)
    if os.path.lexists(os.path.join(common_dir, b"packed-refs")):
        state[b"packed-refs"] = _mark(common_dir, b"packed-refs")
    return state


def doubled_by_stopped(before: State, after: State) -> tuple[str, ...]:
    """Return the new packs that stand beside all the packs and loose objects that were there before, sorted.

    They may be another's: what a fetch brought meanwhile is among them.
    """
    kept = {path for path in before if path.endswith(b".pack") or _is_loose_object(path)}
    new = sorted(path for path in after.keys() - before.keys() if path.endswith(b".pack"))
    return tuple(map(printable_path, new)) if kept and kept <= after.keys() else ()


def removed_between(before: State, after: State) -> tuple[tuple[str, ...], int]:
    """Return the files that are gone, sorted, at most 1,000 of them, loose objects and references last."""
    gone = sorted(before.keys() - after.keys(), key=lambda path: (not path.startswith(b"objects/pack/"), path))
    return tuple(map(printable_path, gone[:LISTED_REMOVED])), len(gone)


def _files_below(common_dir: bytes, top: bytes) -> Iterator[bytes]:
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(common_dir, folder)) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            continue
        for name, is_folder in found:
            if _is_passing(name):
                continue
            path = folder + b"/" + name
            if is_folder:
                waiting.append(path)
            else:
                yield path


def _is_passing(name: bytes) -> bool:
    return name.endswith(b".lock") or name.startswith((b"tmp_", b".tmp-", b"incoming-"))


def _mark(common_dir: bytes, path: bytes) -> bytes:
    if path.endswith(_NAMED_BY_CONTENT) or _is_loose_object(path) or path.startswith(b"refs/"):
        return b""
    full_path = os.path.join(common_dir, path)
    try:
        found = os.lstat(full_path)
        if not stat.S_ISREG(found.st_mode):
            return b"%d" % found.st_mode
        with open_buffer(full_path, listed=found) as buffer:
            size_bytes = len(buffer)
            return b"%d " % size_bytes + buffer[max(size_bytes - _TRAILER_BYTES, 0) : size_bytes]
    except (OSError, FileError):
        return b"unreadable"


def _is_loose_object(path: bytes) -> bool:
    return path.startswith(b"objects/") and path[10:11] == b"/"
