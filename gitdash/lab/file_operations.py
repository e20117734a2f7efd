"""The file operations of git on an object store, one at a time, in a folder of our own that is laid out like `objects`.

Source: path_resolution(7), fsync(2), rename(2); git's object-file.c for the order create, write, flush, rename. A
look-up is an lstat(2), which is what checks for loose objects come to. Times are of one operation, the mean of a run.
Whoever calls has made the folder and removes it.
"""

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitdash.lab.variant import Measured

FOLDER_COUNT: Final = 16
"""Fan-out folders; git has up to 256, and making so many takes longer on a slow mount than all that is measured."""
_LOOK_UP_COUNT: Final = 96
"""In one run: enough for the clock to tell on a local disk, less than a second at 10 ms each."""
_FOLDER_READ_COUNT: Final = 12
_WRITE_COUNT: Final = 12
_CONTENT: Final = secrets.token_bytes(180)
"""About a small commit or tree, compressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsFolder:
    """A folder of our own with fan-out folders, and files in the first of them."""

    path: bytes
    present: tuple[bytes, ...]
    """Paths of the files in it."""

    def absent_names(self, count: int) -> list[bytes]:
        """Return paths that nobody has asked for yet, spread over the fan-out folders."""
        return [self._fan_out(number) + b"/" + secrets.token_hex(19).encode() for number in range(count)]

    def _fan_out(self, number: int) -> bytes:
        return self.path + b"/%02x" % (number % FOLDER_COUNT)


def make_objects_folder(parent: bytes) -> ObjectsFolder:
    """Make it below a folder of our own. Raises OSError."""
    path = parent + b"/objects"
    os.mkdir(path)
    present = []
    for number in range(FOLDER_COUNT):
        folder = path + b"/%02x" % number
        os.mkdir(folder)
        present.append(folder + b"/" + secrets.token_hex(19).encode())
        with open(present[-1], "xb") as file:
            file.write(_CONTENT)
    return ObjectsFolder(path=path, present=tuple(present))


def look_up_present(folder: ObjectsFolder) -> Measured:
    """Ask for names that are there, and that were asked for before."""
    paths = [folder.present[number % len(folder.present)] for number in range(_LOOK_UP_COUNT)]
    for path in folder.present:
        os.lstat(path)
    return _timed(os.lstat, paths)


def look_up_absent(folder: ObjectsFolder) -> Measured:
    """Ask for names that are not there, each for the first time."""
    return _timed(_is_absent, folder.absent_names(_LOOK_UP_COUNT))


def look_up_absent_again(folder: ObjectsFolder) -> Measured:
    """Ask a second time for names that are not there; only that is timed."""
    paths = folder.absent_names(_LOOK_UP_COUNT)
    for path in paths:
        _is_absent(path)
    return _timed(_is_absent, paths)


def read_folder(folder: ObjectsFolder) -> Measured:
    """Read the names of a folder from end to end."""
    return _timed(os.listdir, [folder.path] * _FOLDER_READ_COUNT)


def write_object(folder: ObjectsFolder) -> Measured:
    """Write files as git writes loose objects: under a temporary name, flushed, renamed; removed again untimed."""
    paths = folder.absent_names(_WRITE_COUNT)
    measured = _timed(_write, paths)
    for path in paths:
        os.unlink(path)
    return measured


def _timed(operation: Callable[[bytes], object], paths: list[bytes]) -> Measured:
    started_s = time.monotonic()
    for path in paths:
        operation(path)
    return Measured(wall_s=(time.monotonic() - started_s) / len(paths), counts={"operations": len(paths)})


def _is_absent(path: bytes) -> bool:
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    return False


def _write(path: bytes) -> None:
    temporary = os.path.dirname(path) + b"/tmp_obj_" + os.path.basename(path)[:6]
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        os.write(descriptor, _CONTENT)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(temporary, path)
