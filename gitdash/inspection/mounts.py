"""What type of file system a path lies on, from the mount table.

Source: proc_pid_mountinfo(5). The table is read again when poll(2) says that it has changed, for a disk may be mounted
while a dashboard is open. Reading it touches no mount, while asking a dead network mount about itself (statfs(2)) may
never return. Other systems than Linux have no such file.
"""

import os
import select
import threading
from typing import Final

from gitdash.units import printable_path

_TABLE: Final = "/proc/self/mountinfo"


def parse_mount_table(data: bytes) -> tuple[tuple[bytes, str], ...]:
    """Return mount point and file system type of each line, the longest mount points first, later lines first."""
    mounts: list[tuple[bytes, str]] = []
    for line in data.splitlines():
        before, separator, after = line.partition(b" - ")
        fields = before.split(b" ")
        if not separator or len(fields) < 5:
            continue
        mount_point = fields[4]
        for escape, character in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
            mount_point = mount_point.replace(escape, character)
        mounts.append((mount_point.rstrip(b"/"), printable_path(after.split(b" ", 1)[0])))
    mounts.reverse()
    mounts.sort(key=lambda mount: len(mount[0]), reverse=True)
    return tuple(mounts)


def filesystem_type(path: bytes) -> str | None:
    """Return the type of the file system that an absolute path lies on; None if unknown."""
    for mount_point, type_name in _mounts():
        if path.startswith(mount_point) and path[len(mount_point) : len(mount_point) + 1] in {b"/", b""}:
            return type_name
    return None


class _Table:
    """The mount table as it is, read anew only when it has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        """Of the table, open for as long as what was read holds."""
        self._mounts: tuple[tuple[bytes, str], ...] = ()

    def mounts(self) -> tuple[tuple[bytes, str], ...]:
        """Return what `parse_mount_table` makes of it; nothing where there is none."""
        with self._lock:
            if self._descriptor is None or _has_changed(self._descriptor):
                self._read()
            return self._mounts

    def _read(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        try:
            self._descriptor = os.open(_TABLE, os.O_RDONLY | os.O_CLOEXEC)
            with open(self._descriptor, "rb", closefd=False) as table:
                self._mounts = parse_mount_table(table.read())
        except OSError:
            self._mounts = ()


def _has_changed(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLPRI)
    return bool(poll.poll(0))


_mounts: Final = _Table().mounts
