"""What other processes have to do with files: who has one open, and whether a process still is the one that it was.

Source: proc(5), `/proc/PID/fd`, `/proc/PID/stat` and `/proc/PID/ns/pid`. A process of another user, of another host or
outside of our process namespace is not seen.
"""

import contextlib
import os
from collections.abc import Collection, Iterator

_PROC = b"/proc"
_STARTED_FIELD = 19
"""`starttime`, counted from the field after the command's closing bracket."""


def can_see_processes() -> bool:
    """Return whether the system says which files are open at all."""
    return os.path.isdir(b"/proc/self/fd")


def openers(paths: Collection[bytes]) -> dict[bytes, int]:
    """Return for each of these real paths that a process has open the id of one such process."""
    wanted = frozenset(paths)
    found: dict[bytes, int] = {}
    for process in _listed(_PROC):
        if process.isdigit():
            for target in _open_paths(process):
                if target in wanted:
                    found[target] = int(process)
    return found


def _open_paths(process: bytes) -> Iterator[bytes]:
    folder = _PROC + b"/" + process + b"/fd"
    for descriptor in _listed(folder):
        with contextlib.suppress(OSError):
            yield os.readlink(folder + b"/" + descriptor)


def started_ticks(process_id: int) -> int | None:
    """Return when a process began, in clock ticks since the machine did; None if there is no such process."""
    try:
        with open(f"/proc/{process_id}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[_STARTED_FIELD])
    except (OSError, IndexError, ValueError):
        return None


def process_lives(process_id: int) -> bool:
    """Return whether there is a process with this number, whichever it is."""
    return os.path.exists(f"/proc/{process_id}")


def boot_id() -> str:
    """Return what tells this run of the machine from others; empty where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return ""


def process_namespace() -> str:
    """Return what tells our process ids from those of other containers; empty where the system does not say."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _listed(folder: bytes) -> list[bytes]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
