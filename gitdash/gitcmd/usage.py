"""What a child and its helpers cost: processor, memory, and bytes from the disk. It starts and ends nothing.

Source: wait4(2) and getrusage(2), whose figures are those of the child and of all its descendants that were waited for:
git waits for each of its helpers. What was left behind by a process that escaped counts for nothing.

Peak memory needs a second look, unless the process was adopted, see `adoption`. Linux counts the memory of whoever
started a child to the child's peak, for until execve(2) the two share it (`exec_mmap` in fs/exec.c). So the kernel's
peak says something only where it is above ours; below that it is what /proc/PID/status (proc_pid_status(5), VmHWM) said
while the processes ran. Memory mostly grows to the end, and the kernel has let go of it when the end is heard of: so
that says something only if the last look was close to the end.
"""

import contextlib
import math
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BLOCK_BYTES: Final = 512
"""Linux counts bytes and gives them out in blocks of this size, whatever the file system's are."""
_SHORTEST_PAUSE_S: Final = 0.003
"""Between looks. A look takes some 50 microseconds: a sixtieth of that."""
_PAUSE_RATIO: Final = 0.03
"""Of how long it has run: what runs for long is looked at less often."""
_UNSEEN_RATIO: Final = 0.06
"""Of how long it ran: the most that may lie between the last look and the end. With these pauses the peak of what runs
for less than 50 ms is not known, unless it is above ours."""
_PEAK: Final = b"VmHWM:"
_COUNTED_APART: Final = 1.1
"""Each processor keeps count of some pages by itself for a while (percpu_counter, since Linux 6.2), so that the peak of
what began as a copy of ours may be said to be above ours though it is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    """What a process tree used; of descendants, those that were waited for."""

    user_s: float
    system_s: float
    peak_memory_bytes: int | None
    """Of the largest process, resident; None if it ended too long after it was last looked at."""
    read_bytes: int
    """From the disk; 0 if all was in memory. Some file systems do not count."""


class MemoryWatch:
    """The peak of a process that runs, and of its descendants, as far as looks have shown it."""

    __slots__ = ("_has_own_peak", "_looked_s", "_pid", "_seen_bytes", "_started_s", "_used_s")

    def __init__(self, pid: int, *, has_own_peak: bool = False, used_s: float = 0.0) -> None:
        """Take whom to watch, and whether what the kernel will say of its peak holds nothing of ours.

        `used_s` is the processor time that it had before it was what is watched, which is left out.
        """
        self._pid = pid
        self._used_s = used_s
        self._has_own_peak = has_own_peak
        self._seen_bytes = 0
        self._started_s = self._looked_s = time.monotonic()

    def look(self) -> float:
        """Look at all processes, unless that was done moments ago; return in how many seconds to look again."""
        now_s = time.monotonic()
        if self._has_own_peak:
            return math.inf
        pause_s = max(_SHORTEST_PAUSE_S, (now_s - self._started_s) * _PAUSE_RATIO)
        if now_s - self._looked_s >= pause_s:
            self._looked_s = now_s
            self._seen_bytes = max(self._seen_bytes, *(peak_memory_bytes(pid) for pid in _tree(self._pid)))
        return self._looked_s + pause_s - now_s

    def usage(self, spent: resource.struct_rusage) -> ProcessUsage:
        """Return what the processes used, by what wait4(2) said of them; call it at once."""
        ended_s = time.monotonic()
        is_seen = ended_s - self._looked_s <= (ended_s - self._started_s) * _UNSEEN_RATIO
        said_bytes = spent.ru_maxrss * 1024
        own_bytes = peak_memory_bytes(os.getpid())
        is_theirs = self._has_own_peak or 0 < own_bytes * _COUNTED_APART < said_bytes
        total_s = spent.ru_utime + spent.ru_stime
        part = max(1.0 - self._used_s / total_s, 0.0) if total_s else 1.0
        return ProcessUsage(
            user_s=spent.ru_utime * part,
            system_s=spent.ru_stime * part,
            peak_memory_bytes=said_bytes if is_theirs else self._seen_bytes or None if is_seen else None,
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


def processor_time_s(pid: int) -> float | None:
    """Return how long a process of one thread has run on a processor, to the microsecond; None if nobody says.

    Source: proc(5) counts in steps of 10 ms; /proc/PID/schedstat in nanoseconds.
    """
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            ran_ns = int(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return ran_ns / 1e9
