"""What a child and its helpers cost: processor, memory, and bytes from the disk. It starts and ends nothing.

Source: wait4(2) and getrusage(2), whose figures are those of the child and of all its descendants that were waited for:
git waits for each of its helpers. What was left behind by a process that escaped counts for nothing.

Peak memory needs a second look. Linux counts the memory of whoever started a child to the child's peak, for until
execve(2) the two share it (`exec_mmap` in fs/exec.c). So the kernel's peak says something only where it is above ours;
below that it is what /proc/PID/status (proc_pid_status(5), VmHWM) said while the processes ran.
"""

import contextlib
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BLOCK_BYTES: Final = 512
"""Linux counts bytes and gives them out in blocks of this size, whatever the file system's are."""
_LOOK_INTERVAL_S: Final = 0.01
"""A look takes some 50 microseconds."""
_PEAK: Final = b"VmHWM:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    """What a process tree used; of descendants, those that were waited for."""

    user_s: float
    system_s: float
    peak_memory_bytes: int | None
    """Of the largest process, resident; None if it ended before it could be looked at."""
    read_bytes: int
    """From the disk; 0 if all was in memory. Some file systems do not count."""


class MemoryWatch:
    """The peak of a process that runs, and of its descendants, as far as looks have shown it."""

    __slots__ = ("_next_look_s", "_pid", "_seen_bytes")

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seen_bytes = 0
        # what has only just begun has next to no memory: then nothing is known, rather than that
        self._next_look_s = time.monotonic() + _LOOK_INTERVAL_S

    def look(self) -> None:
        """Look at all processes, unless that was done moments ago."""
        now_s = time.monotonic()
        if now_s >= self._next_look_s:
            self._next_look_s = now_s + _LOOK_INTERVAL_S
            self._seen_bytes = max(self._seen_bytes, *(peak_memory_bytes(pid) for pid in _tree(self._pid)))

    def usage(self, spent: resource.struct_rusage) -> ProcessUsage:
        """Return what the processes used, by what wait4(2) said of them."""
        said_bytes = spent.ru_maxrss * 1024
        own_bytes = peak_memory_bytes(os.getpid())
        is_theirs = 0 < own_bytes < said_bytes
        return ProcessUsage(
            user_s=spent.ru_utime,
            system_s=spent.ru_stime,
            peak_memory_bytes=said_bytes if is_theirs else self._seen_bytes or None,
            read_bytes=spent.ru_inblock * _BLOCK_BYTES,
        )


def _tree(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            children = file.read().split()
        for child in children:
            yield from _tree(int(child))


def peak_memory_bytes(pid: int) -> int:
    """Return the most memory that a process has had; 0 if it is gone, or the system does not say."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(_PEAK)), 0)
