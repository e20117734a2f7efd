"""Which processes hold deleted files of an object store open or mapped: their space is not free before these end.

Source: proc(5), `/proc/PID/fd`, `/proc/PID/maps`, `/proc/PID/map_files` and `/proc/PID/stat`. A link that ends with
` (deleted)` names the path that a file had; the file itself is told by its inode. Only Linux says so. Not seen are
processes of other users, which are counted, of other hosts, and of containers that know the store by another path.
"""

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gitdash.model.held_packs import HeldPacks, PackHolder
from gitdash.model.repository import Unreadable
from gitdash.units import printable_path

TIME_LIMIT_S: Final = 2.0
"""A machine with 5,000 processes takes one."""

_PROC: Final = b"/proc"
_DELETED: Final = b" (deleted)"
_SECTOR_BYTES: Final = 512
"""What `st_blocks` counts, whatever the file system."""
_MAPS_BYTES: Final = 16 << 20
"""Of one process; 100,000 mappings."""
_MAP_FIELDS: Final = 6
_PARENT_FIELD: Final = 1
_FLAGS_FIELD: Final = 6
"""Fields of `stat`, counted from the one after the command's closing bracket."""
_KERNEL_THREAD: Final = 0x00200000
"""PF_KTHREAD: it opens no files."""
_ANCESTORS: Final = 64

_File = tuple[bytes, int]
"""Path that it had, and inode."""


@dataclass(slots=True)
class _Look:
    """One look at all processes."""

    store: bytes
    """Real path of the object store, with a slash at the end."""
    deadline_s: float
    bytes_by_file: dict[_File, int] = field(default_factory=dict)
    unseen_count: int = 0

    def is_over(self) -> bool:
        return time.monotonic() > self.deadline_s

    def files_of(self, process: bytes) -> dict[_File, int]:
        """Return bytes by deleted file that a process holds; what may be seen, if that is not all."""
        held: dict[_File, int] = {}
        try:
            for look in (self._open_files, self._mapped_files):
                for file, size_bytes in look(process):
                    held[file] = max(held.get(file, 0), size_bytes)
        except PermissionError:
            self.unseen_count += not _is_kernel_thread(process)
        except (OSError, ValueError):
            # it has ended meanwhile
            return {}
        self.bytes_by_file |= held
        return held

    def _open_files(self, process: bytes) -> Iterator[tuple[_File, int]]:
        folder = _PROC + b"/" + process + b"/fd"
        for descriptor in os.listdir(folder):
            if self.is_over():
                return
            # it may have been closed meanwhile
            with contextlib.suppress(OSError):
                link = folder + b"/" + descriptor
                path = os.readlink(link)
                if self._is_ours(path):
                    found = os.stat(link)
                    if not _is_there(path, found):
                        yield (_unescaped(path), found.st_ino), _kept_bytes(found)

    def _mapped_files(self, process: bytes) -> Iterator[tuple[_File, int]]:
        with open(_PROC + b"/" + process + b"/maps", "rb") as file:
            lines = file.read(_MAPS_BYTES).splitlines()
        for line in lines:
            if not line.endswith(_DELETED) or self.is_over():
                continue
            fields = line.split(None, _MAP_FIELDS - 1)
            if len(fields) < _MAP_FIELDS:
                continue
            path = _unescaped(fields[5])
            if self._is_ours(path):
                yield (path, int(fields[4])), _mapped_bytes(process, fields[0], int(fields[2], 16))

    def _is_ours(self, path: bytes) -> bool:
        return path.endswith(_DELETED) and path.startswith(self.store)


def held_packs(objects_dir: bytes, *, time_limit_s: float = TIME_LIMIT_S) -> HeldPacks | Unreadable:
    """Return who holds deleted files of an object store, after one look at all processes."""
    if not os.path.isdir(b"/proc/self/fd"):
        return Unreadable("this system does not say which files a process has open")
    look = _Look(os.path.realpath(objects_dir) + b"/", time.monotonic() + time_limit_s)
    holders: list[PackHolder] = []
    for process in filter(bytes.isdigit, os.listdir(_PROC)):
        if look.is_over():
            break
        held = look.files_of(process)
        if held:
            holders.append(_holder(process, held))
    return HeldPacks(
        holders=tuple(sorted(holders, key=lambda holder: (-holder.bytes, holder.process_id))),
        bytes=sum(look.bytes_by_file.values()),
        unseen_count=look.unseen_count,
        is_complete=not look.is_over(),
    )


def _holder(process: bytes, held: dict[_File, int]) -> PackHolder:
    names = [path.removesuffix(_DELETED).rpartition(b"/")[2] for path, _ in held]
    packs = {name.rpartition(b".")[0] for name in names if name.startswith(b"pack-")}
    return PackHolder(
        process_id=int(process),
        command=_command(process),
        is_own=_is_own(process),
        pack_count=len(packs),
        other_count=sum(not name.startswith(b"pack-") for name in names),
        bytes=sum(held.values()),
    )


def _unescaped(path: bytes) -> bytes:
    """Return a path as `maps` means it; it does not tell a line feed from its escape, so neither do we."""
    return path.replace(b"\\012", b"\n")


def _is_there(path: bytes, found: os.stat_result) -> bool:
    """Tell whether it only is called so."""
    try:
        return os.path.samestat(os.lstat(path), found)
    except OSError:
        return False


def _kept_bytes(found: os.stat_result) -> int:
    """A file that has another name would take its space without the process, too."""
    return found.st_blocks * _SECTOR_BYTES if stat.S_ISREG(found.st_mode) and found.st_nlink == 0 else 0


def _mapped_bytes(process: bytes, addresses: bytes, offset_bytes: int) -> int:
    """Return what a mapped file keeps; at least what is mapped, where only that may be seen."""
    start, end = (int(address, 16) for address in addresses.split(b"-"))
    try:
        return _kept_bytes(os.stat(_PROC + b"/" + process + b"/map_files/%x-%x" % (start, end)))
    except OSError:
        return offset_bytes + end - start


def _command(process: bytes) -> str:
    try:
        with open(_PROC + b"/" + process + b"/comm", "rb") as file:
            return printable_path(file.read().removesuffix(b"\n"))
    except OSError:
        return "?"


def _is_own(process: bytes) -> bool:
    """Tell whether a process is this one, or descends from it."""
    own = b"%d" % os.getpid()
    for _ in range(_ANCESTORS):
        if process == own:
            return True
        process = _stat_field(process, _PARENT_FIELD)
        if process in (b"", b"0"):
            # it has ended, or has no parent: the file of that name above is about the machine
            return False
    return False


def _is_kernel_thread(process: bytes) -> bool:
    flags = _stat_field(process, _FLAGS_FIELD)
    return flags.isdigit() and bool(int(flags) & _KERNEL_THREAD)


def _stat_field(process: bytes, place: int) -> bytes:
    """Return a field of `stat`; empty if the process has ended."""
    try:
        with open(_PROC + b"/" + process + b"/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[place]
    except (OSError, IndexError):
        return b""
