"""The mount table: which mount a path lies on, of what type, and what else it says.

Source: proc_pid_mountinfo(5). The table is read again when poll(2) says that it has changed, for a disk may be mounted
while a dashboard is open. Reading it touches no mount, while asking a dead network mount about itself (statfs(2)) may
never return. Other systems than Linux have no such file.
"""

import os
import re
import select
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.units import printable_path

_TABLE: Final = "/proc/self/mountinfo"
_ESCAPE: Final = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One line of a mount table."""

    mount_point: bytes
    """Absolute, without a slash at its end; empty for the root."""
    type_name: str
    """Such as `nfs4` or `fuse.sshfs`; printable."""
    source: str
    """Such as a device, or a server and its folder; printable."""
    options: tuple[tuple[str, str | None], ...]
    """In their order, those of the mount before those of the file system; None for one that is just there."""
    device: bytes = b""
    """Major and minor number, as they stand there; empty where that is not known."""
    root: bytes = b""
    """The folder of the file system that is to be seen, without a slash at its end; empty for its own root."""

    def value_of(self, name: str) -> str | None:
        """Return the last value of an option, empty for one that is just there, None if it is not."""
        values = [value or "" for option, value in self.options if option == name]
        return values[-1] if values else None


def parse_mounts(data: bytes) -> tuple[Mount, ...]:
    """Return the mounts of a table as `mount_of` takes them; lines that are none are left out. Pure."""
    mounts = []
    for line in reversed(data.splitlines()):
        before, separator, after = line.partition(b" - ")
        fields, of_filesystem = before.split(b" "), after.split(b" ")
        if not separator or len(fields) < 6 or len(of_filesystem) < 3:
            continue
        options = b",".join((fields[5], b" ".join(of_filesystem[2:])))
        mounts.append(
            Mount(
                mount_point=_unescaped(fields[4]).rstrip(b"/"),
                type_name=printable_path(of_filesystem[0]),
                source=printable_path(_unescaped(of_filesystem[1])),
                options=parse_options(printable_path(_unescaped(options))),
                device=fields[2],
                root=_unescaped(fields[3]).rstrip(b"/"),
            )
        )
    return tuple(sorted(mounts, key=lambda mount: len(mount.mount_point), reverse=True))


def parse_options(text: str) -> tuple[tuple[str, str | None], ...]:
    """Return names and values of options with commas between them, each once."""
    options = []
    for option in filter(None, text.split(",")):
        name, equals, value = option.partition("=")
        options.append((name, value if equals else None))
    return tuple(dict.fromkeys(options))


def _unescaped(field: bytes) -> bytes:
    return _ESCAPE.sub(lambda found: bytes((int(found[1], 8) & 0xFF,)), field)


def mount_of(path: bytes, mounts: Sequence[Mount]) -> Mount | None:
    """Return the mount that an absolute path without links lies on; None if unknown.

    `mounts` has the longest mount points first, and of two on one point the later.
    """
    return next((mount for mount in mounts if is_below(path, mount.mount_point)), None)


def is_below(path: bytes, folder: bytes) -> bool:
    """Tell whether a path is a folder or lies in it; neither ends with a slash, and the root of all is empty."""
    return path.startswith(folder) and path[len(folder) : len(folder) + 1] in {b"/", b""}


def filesystem_type(path: bytes) -> str | None:
    """Return the type of the file system that an absolute path lies on; None if unknown."""
    mount = mount_of(path, read_mounts())
    return None if mount is None else mount.type_name


class _Table:
    """The mount table as it is, read anew only when it has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        """Of the table, open for as long as what was read holds."""
        self._mounts: tuple[Mount, ...] = ()

    def mounts(self) -> tuple[Mount, ...]:
        """Return what `parse_mounts` makes of it; nothing where there is none."""
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
                self._mounts = parse_mounts(table.read())
        except OSError:
            self._mounts = ()


def _has_changed(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLPRI)
    return bool(poll.poll(0))


read_mounts: Final = _Table().mounts
