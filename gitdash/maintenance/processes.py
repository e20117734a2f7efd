"""What other processes have to do with files: who has one open, and whether a process still is the one that it was.

Source: proc(5), `/proc/PID/fd`, `/proc/PID/fdinfo` (`ino` from Linux 5.14 on), `/proc/PID/stat` and
`/proc/PID/ns/pid`. A process of another user, of another host or outside of our process namespace is not seen.
"""

import contextlib
import os
import select
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_PROC = b"/proc"
_Identity = tuple[int, int]
"""Device and inode."""
_GROUP_FIELD = 2
"""`pgrp`, counted from the field after the command's closing bracket."""
_STARTED_FIELD = 19
"""`starttime`, counted likewise."""


def can_see_processes() -> bool:
    """Return whether the system says which files are open at all."""
    return os.path.isdir(b"/proc/self/fd")


def openers(paths: Collection[bytes]) -> dict[bytes, int]:
    """Return for each of these real paths that a process has open the id of one such process.

    A file is told by its path, and by device and inode: it may be open by another name or in another mount namespace.
    """
    wanted = frozenset(paths)
    by_identity = {identity: path for path in wanted if (identity := _identity(path)) is not None}
    inodes = frozenset(inode for _, inode in by_identity)
    found: dict[bytes, int] = {}
    for process in _listed(_PROC):
        if process.isdigit():
            for target, descriptor in _open_files(process):
                identity = None if target in wanted else _identity_if(descriptor, inodes)
                path = target if identity is None else by_identity.get(identity, b"")
                if path in wanted:
                    found[path] = int(process)
    return found


def _open_files(process: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield path and descriptor, as a path below /proc, of what a process has open that has a path."""
    folder = _PROC + b"/" + process + b"/fd/"
    for descriptor in _listed(folder):
        with contextlib.suppress(OSError):
            target = os.readlink(folder + descriptor)
            if target.startswith(b"/"):
                yield target, folder + descriptor


def _identity(path: bytes) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _identity_if(descriptor: bytes, inodes: Collection[int]) -> _Identity | None:
    """Return which file is open, if the kernel says that its inode is one of these, or says none.

    A file of a dead server must not be looked at if it is not one of ours: that may never return.
    """
    process_folder, _, number = descriptor.rpartition(b"/fd/")
    try:
        with open(process_folder + b"/fdinfo/" + number, "rb") as file:
            inode = next((line[4:] for line in file.read().splitlines() if line.startswith(b"ino:")), None)
    except OSError:
        return None
    return None if inode is not None and int(inode) not in inodes else _identity(descriptor)


def started_ticks(process_id: int) -> int | None:
    """Return when a process began, in clock ticks since the machine did; None if there is no such process."""
    return _stat_field(process_id, _STARTED_FIELD)


def _stat_field(process_id: int, number: int) -> int | None:
    try:
        with open(f"/proc/{process_id}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[number])
    except (OSError, IndexError, ValueError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFiles:
    """What the processes of a group have open for writing at one moment."""

    process_ids: frozenset[int]
    """Of the group."""
    files: frozenset[tuple[bytes, int, int]]
    """Each by its real path, with device and inode."""


def written_by_group(group: int) -> WrittenFiles:
    """Return the processes of a process group and the files that they have open for writing. Raises nothing."""
    numbers = [int(name) for name in _listed(_PROC) if name.isdigit()]
    members = frozenset(number for number in numbers if _stat_field(number, _GROUP_FIELD) == group)
    files = set()
    for number in members:
        for target, descriptor in _open_files(b"%d" % number):
            identity = _identity(target) if _is_for_writing(descriptor) else None
            if identity is not None:
                files.add((target, *identity))
    return WrittenFiles(process_ids=members, files=frozenset(files))


def _is_for_writing(descriptor: bytes) -> bool:
    process_folder, _, number = descriptor.rpartition(b"/fd/")
    try:
        with open(process_folder + b"/fdinfo/" + number, "rb") as file:
            flags = next((line[6:] for line in file.read().splitlines() if line.startswith(b"flags:")), b"0")
        return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
    except (OSError, ValueError):
        return False


def process_lives(process_id: int) -> bool:
    """Return whether there is a process with this number, whichever it is."""
    return os.path.exists(f"/proc/{process_id}")


def still_running(process_ids: Collection[int], limit_s: float) -> frozenset[int]:
    """Wait until these processes have ended, all together at most so long; return those that have not.

    One that nobody has reaped has ended.
    """
    deadline_s = time.monotonic() + limit_s
    return frozenset(
        process_id for process_id in process_ids if not _ends(process_id, max(0.0, deadline_s - time.monotonic()))
    )


def _ends(process_id: int, limit_s: float) -> bool:
    if not hasattr(os, "pidfd_open"):
        return not process_lives(process_id)
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    except OSError:
        return not process_lives(process_id)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(limit_s * 1000))
    finally:
        os.close(descriptor)


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
