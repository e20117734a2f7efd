"""Drives the files of object stores out of memory, so that a run has to read them from the disk, and says if it did.

First by posix_fadvise(2) with POSIX_FADV_DONTNEED, file by file, which touches nobody else. Pages that a process has
mapped stay, and some file systems ignore it. If a trial shows that nothing was read although files were to be read, and
we may write to /proc/sys/vm/drop_caches (proc(5)), then that is used: it empties the memory of the whole machine, git's
own program and the names of files included. Proof is that nothing of the files is in memory before a run, by
cachestat(2), and that its processes read from the disk, by getrusage(2). Where the former is not told (before Linux
6.5, on an overlay) the latter has to do; behind FUSE or over a network others read, and there is none.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Final

from gitdash.inspection.files import FileError, cached_bytes, forget_cached
from gitdash.lab.mounts import is_memory, is_read_by_others
from gitdash.lab.store_folders import files_of_store
from gitdash.units import counted, human_bytes, human_count

DROP_CACHES: Final = "/proc/sys/vm/drop_caches"
_ALL: Final = b"3\n"
"""Pages, and names and inodes of files."""


class ColdCache:
    """What is emptied before each run, and whether the runs have felt it."""

    def __init__(self, folders: Mapping[bytes, str | None], *, drop_caches: str = DROP_CACHES) -> None:
        """Take the object folders that are read by variants which name none of their own, and their file systems."""
        types = dict.fromkeys(name for name in folders.values() if name is not None)
        self._read_by_others = next(filter(is_read_by_others, types), None)
        self._memory_types = tuple(filter(is_memory, types))
        self._objects_dirs = tuple(folders)
        self._in_memory = frozenset(path for path, name in folders.items() if name is not None and is_memory(name))
        self._drop_caches = drop_caches
        self._drops_all = False
        self._file_counts: set[int] = set()
        self._kept_bytes = 0
        """Of the files, in memory when the last run began."""
        self._most_kept_bytes = 0
        self._read = 0
        self._kept = 0
        self._not_read = 0

    def empty(self, objects_dirs: Sequence[bytes] = ()) -> None:
        """Drive the files below the object folders out of memory."""
        emptied: list[bytes] = []
        for folder in objects_dirs or self._objects_dirs:
            for file in () if folder in self._in_memory else files_of_store(folder):
                with contextlib.suppress(FileError):
                    forget_cached(file.path)
                    emptied.append(file.path)
        self._file_counts.add(len(emptied))
        if self._drops_all:
            self._drop_all()
        self._kept_bytes = sum(map(_cached_bytes, emptied))

    def judge(self, read_bytes: int | None, *, is_trial: bool) -> None:
        """Take what a run read from the disk. A trial that read nothing makes the next ones drop everything."""
        if is_trial:
            self._drops_all = self._drops_all or (read_bytes == 0 and os.access(self._drop_caches, os.W_OK))
        elif read_bytes is None:
            return
        elif self._kept_bytes:
            self._kept += 1
            self._most_kept_bytes = max(self._most_kept_bytes, self._kept_bytes)
        elif read_bytes:
            self._read += 1
        else:
            self._not_read += 1

    def note(self) -> str:
        """Say how it was emptied, and whether it worked, by what the runs read from the disk."""
        fewest, most = min(self._file_counts, default=0), max(self._file_counts, default=0)
        files = counted(most, "file") if fewest == most else f"{human_count(fewest)} to {counted(most, 'file')}"
        how = f"posix_fadvise(DONTNEED) on {files} before each run"
        if self._drops_all:
            how += ", then /proc/sys/vm/drop_caches, for after the first alone nothing was read from the disk"
        if self._memory_types:
            how += f"; what lies on {' and '.join(self._memory_types)} is in memory for ever, and stayed there"
        if self._read_by_others is not None and (self._drops_all or not self._read):
            return (
                f"{how}; whether it worked is not known: on {self._read_by_others} it is a program or a server that"
                " reads, and has a memory of its own"
            )
        return f"{how}; {self._outcome()}"

    def _outcome(self) -> str:
        run_count = self._read + self._kept + self._not_read
        counted_runs = counted(run_count, "run")
        if not run_count:
            return "whether it worked is not known: nothing was counted"
        kept = (
            f"before {self._kept} of {counted_runs} up to {human_bytes(self._most_kept_bytes)} of the files were still"
            " in memory, as what a process has mapped is"
        )
        if not self._read:
            why = kept if self._kept else "no run read anything from the disk"
            return f"it did not work: {why}, so what was timed is {'not cold' if self._kept else 'warm'}"
        besides = ", git's own program included" if self._drops_all else ""
        said = f"{self._read} of {counted_runs} read from the disk{besides}"
        return f"{said}; {kept}, so those were not cold" if self._kept else said

    def _drop_all(self) -> None:
        os.sync()
        try:
            with open(self._drop_caches, "wb", buffering=0) as file:
                file.write(_ALL)
        except OSError:
            # as in a container: root there, but the file cannot be written
            self._drops_all = False


def _cached_bytes(path: bytes) -> int:
    """Return how much of a file is in memory, 0 where nobody says, or if it is gone."""
    try:
        return cached_bytes(path) or 0
    except FileError:
        return 0
