"""Drives the files of object stores out of memory, so that a run has to read them from the disk, and says if it did.

First by posix_fadvise(2) with POSIX_FADV_DONTNEED, file by file, which touches nobody else. Pages that a process has
mapped stay, and some file systems ignore it. If a trial shows that nothing was read although files were to be read, and
we may write to /proc/sys/vm/drop_caches (proc(5)), then that is used: it empties the memory of the whole machine, git's
own program and the names of files included. Proof is what the processes read from the disk, by getrusage(2); behind
FUSE or over a network others read, and there is none.
"""

import contextlib
import os
from collections.abc import Sequence
from typing import Final

from gitdash.inspection.files import FileError, forget_cached
from gitdash.lab.mounts import is_read_by_others
from gitdash.lab.store_folders import files_of_store
from gitdash.units import counted, human_count

DROP_CACHES: Final = "/proc/sys/vm/drop_caches"
_ALL: Final = b"3\n"
"""Pages, and names and inodes of files."""


class ColdCache:
    """What is emptied before each run, and whether the runs have felt it."""

    def __init__(
        self, objects_dirs: Sequence[bytes], *, type_name: str | None = None, drop_caches: str = DROP_CACHES
    ) -> None:
        """Take the object folders that are read by variants which name none of their own, and their file system."""
        self._read_by_others = type_name if type_name is not None and is_read_by_others(type_name) else None
        self._objects_dirs = tuple(objects_dirs)
        self._drop_caches = drop_caches
        self._drops_all = False
        self._file_counts: set[int] = set()
        self._read = 0
        self._not_read = 0

    def empty(self, objects_dirs: Sequence[bytes] = ()) -> None:
        """Drive the files below the object folders out of memory."""
        file_count = 0
        for folder in objects_dirs or self._objects_dirs:
            for file in files_of_store(folder):
                with contextlib.suppress(FileError):
                    forget_cached(file.path)
                    file_count += 1
        self._file_counts.add(file_count)
        if self._drops_all:
            self._drop_all()

    def judge(self, read_bytes: int | None, *, is_trial: bool) -> None:
        """Take what a run read from the disk. A trial that read nothing makes the next ones drop everything."""
        if is_trial:
            self._drops_all = self._drops_all or (read_bytes == 0 and os.access(self._drop_caches, os.W_OK))
        elif read_bytes:
            self._read += 1
        elif read_bytes is not None:
            self._not_read += 1

    def note(self) -> str:
        """Say how it was emptied, and whether it worked, by what the runs read from the disk."""
        fewest, most = min(self._file_counts, default=0), max(self._file_counts, default=0)
        files = counted(most, "file") if fewest == most else f"{human_count(fewest)} to {counted(most, 'file')}"
        how = f"posix_fadvise(DONTNEED) on {files} before each run"
        if self._drops_all:
            how += ", then /proc/sys/vm/drop_caches, for after the first alone nothing was read from the disk"
        if self._read_by_others is not None and (self._drops_all or not self._read):
            return (
                f"{how}; whether it worked is not known: on {self._read_by_others} it is a program or a server that"
                " reads, and has a memory of its own"
            )
        run_count = self._read + self._not_read
        if not run_count:
            return f"{how}; whether it worked is not known: nothing was counted"
        if not self._read:
            return f"{how}; it did not work: no run read anything from the disk, so what was timed is warm"
        counted_runs = counted(run_count, "run")
        besides = ", git's own program included" if self._drops_all else ""
        return f"{how}; {self._read} of {counted_runs} read from the disk{besides}"

    def _drop_all(self) -> None:
        os.sync()
        try:
            with open(self._drop_caches, "wb", buffering=0) as file:
                file.write(_ALL)
        except OSError:
            # as in a container: root there, but the file cannot be written
            self._drops_all = False
