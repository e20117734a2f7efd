"""What type of file system a path lies on, from the mount table.

Source: proc_pid_mountinfo(5). The table is read once for each process: reading it touches no mount, while asking a
dead network mount about itself (statfs(2)) may never return. Other systems than Linux have no such file.
"""

from functools import lru_cache
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


@lru_cache(maxsize=1)
def _mounts() -> tuple[tuple[bytes, str], ...]:
    try:
        with open(_TABLE, "rb") as table:
            return parse_mount_table(table.read())
    except OSError:
        return ()
