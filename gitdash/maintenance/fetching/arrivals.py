"""What a fetch put into the object store: loose objects, and the temporary packs of one that was stopped.

Listed by their times, which the file system gives; where its clock is another host's, some may be missed or counted
with them. Source: gitrepository-layout(5); index-pack.c for `tmp_pack_*`.
"""

import os
import re
import stat
from typing import Final

from gitdash.inspection.files import FileError
from gitdash.inspection.folders import list_folder
from gitdash.units import printable_path

_CLOCK_STEP_S: Final = 2.0
"""The coarsest time stamps in use, of FAT."""
_SHARD: Final = re.compile(rb"[0-9a-f]{2}")
_TEMPORARY: Final = re.compile(rb"tmp_(?:pack|idx|rev|obj)_.*")
_MAXIMUM_NAMES: Final = 100


def loose_bytes_since(objects_dir: bytes, since_s: float) -> int:
    """Return the size of the loose objects that are no older; their folders are, too."""
    total = 0
    for name, status in _entries(objects_dir + b"/"):
        if _SHARD.fullmatch(name) and _is_new(status.st_mtime, since_s):
            shard = _entries(objects_dir + b"/" + name + b"/")
            total += sum(found.st_size for _, found in shard if _is_new(found.st_mtime, since_s))
    return total


def temporary_files_since(objects_dir: bytes, since_s: float) -> tuple[tuple[str, ...], int]:
    """Return temporary files of packs that are no older, at most 100, by the common directory, and the size of all."""
    found = [
        (name, status.st_size)
        for name, status in _entries(objects_dir + b"/pack/")
        if _TEMPORARY.fullmatch(name) and stat.S_ISREG(status.st_mode) and _is_new(status.st_mtime, since_s)
    ]
    names = tuple(f"objects/pack/{printable_path(name)}" for name, _ in found[:_MAXIMUM_NAMES])
    return names, sum(size_bytes for _, size_bytes in found)


def _is_new(mtime_s: float, since_s: float) -> bool:
    return mtime_s >= since_s - _CLOCK_STEP_S


def _entries(folder: bytes) -> list[tuple[bytes, os.stat_result]]:
    try:
        return list(zip(*list_folder(folder), strict=True))
    except FileError:
        return []
