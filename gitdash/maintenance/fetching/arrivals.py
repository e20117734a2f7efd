"""What a fetch put into the object store: loose objects, and the temporary files of one that was stopped.

Listed by their times, which the file system gives; where its clock is another host's, some may be missed or counted
with them. Source: gitrepository-layout(5); index-pack.c for `tmp_pack_*`, object-file.c for `tmp_obj_*`; time(7) and
clock_gettime(2) for the clock of file times.
"""

import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from typing import Final

from gitdash.inspection.files import FileError
from gitdash.inspection.folders import list_folder
from gitdash.units import printable_path

_CLOCK_STEP_NS: Final = 2_000_000_000
"""The coarsest time stamps in use, of FAT."""
_SECOND_NS: Final = 1_000_000_000
_FILE_CLOCK: Final = 5 if sys.platform == "linux" else time.CLOCK_REALTIME
"""CLOCK_REALTIME_COARSE, which Python has no name for. A processor may see its tick a little before a file gets it."""
_SHARD: Final = re.compile(rb"[0-9a-f]{2}")
_TEMPORARY: Final = re.compile(rb"tmp_(?:pack|idx|rev|obj)_.*")
_MAXIMUM_NAMES: Final = 100


def file_time_ns() -> int:
    """Return a time that no file is older than which is written from now on: their clock goes in ticks of some ms.

    What was written within the last two ticks may be no older, too.
    """
    return time.clock_gettime_ns(_FILE_CLOCK) - round(time.clock_getres(_FILE_CLOCK) * _SECOND_NS)


def loose_bytes_since(objects_dir: bytes, since_ns: int) -> int:
    """Return the size of the loose objects that are no older, by `file_time_ns`; their folders are no older, too."""
    return sum(
        status.st_size for _, name, status in _new_in_shards(objects_dir, since_ns) if not _TEMPORARY.fullmatch(name)
    )


def temporary_files_since(objects_dir: bytes, since_ns: int) -> tuple[tuple[str, ...], int]:
    """Return temporary files that are no older, at most 100, by the common directory, and the size of all."""
    in_pack = ((b"pack", name, status) for name, status in _entries(objects_dir + b"/pack/"))
    found = [
        (folder + b"/" + name, status.st_size)
        for folder, name, status in (*in_pack, *_new_in_shards(objects_dir, since_ns))
        if _TEMPORARY.fullmatch(name) and stat.S_ISREG(status.st_mode) and _is_new(status, since_ns)
    ]
    names = tuple(f"objects/{printable_path(path)}" for path, _ in found[:_MAXIMUM_NAMES])
    return names, sum(size_bytes for _, size_bytes in found)


def _new_in_shards(objects_dir: bytes, since_ns: int) -> Iterator[tuple[bytes, bytes, os.stat_result]]:
    """Yield shard, name and status of each entry of a shard that is no older."""
    for shard, shard_status in _entries(objects_dir + b"/"):
        if _SHARD.fullmatch(shard) and _is_new(shard_status, since_ns):
            for name, status in _entries(objects_dir + b"/" + shard + b"/"):
                if _is_new(status, since_ns):
                    yield shard, name, status


def _is_new(status: os.stat_result, since_ns: int) -> bool:
    # a time of whole seconds may be one that was rounded down
    is_rounded = status.st_mtime_ns % _SECOND_NS == 0
    return status.st_mtime_ns >= since_ns - (_CLOCK_STEP_NS if is_rounded else 0)


def _entries(folder: bytes) -> list[tuple[bytes, os.stat_result]]:
    try:
        return list(zip(*list_folder(folder), strict=True))
    except FileError:
        return []
