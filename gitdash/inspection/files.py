"""The one door to the files of scanned repositories.

Whatever lies there may be hostile: a FIFO that never answers, a link to a device that never ends, a file that is
cut short while it is read. So each file is looked at before it is opened, only regular files are opened, never
through a link and never blocking, the descriptor is looked at again, and bytes come by pread(2) up to a limit.
mmap(2) is not used: reading a mapped file that another process cuts short ends the interpreter (SIGBUS).

Paths may be relative to the current folder: the inspection worker, which has one thread, uses that for speed.
Does not judge what the bytes mean.
"""

import errno
import os
import stat
from typing import Final, Self

from gitdash.errors import GitdashError
from gitdash.inspection.page_cache import cached_page_bytes
from gitdash.units import printable_path

_OPEN_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_HEAD_BYTES: Final = 2048
"""More than the fan-out table of an index with its header."""

_KIND_NAMES: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class FileError(GitdashError):
    """A file could not be read, or is not a regular file."""

    def __init__(self, path: bytes, reason: str) -> None:
        super().__init__(f"{printable_path(path)}: {reason}")
        self.path = path
        self.reason = reason
        """One clause, lower case, without the path."""


class FileMissingError(FileError):
    """There is no such file."""


class FileBuffer:
    """An open file as a buffer that reads only the slices that are asked for.

    A slice is shorter than asked for if the file shrinks meanwhile. A failing disk raises FileError.
    The head is read at once: most readers take several small slices of it. Leaving the `with` block closes it.
    """

    __slots__ = ("_descriptor", "_head", "_path", "_size_bytes")

    def __init__(self, descriptor: int, path: bytes, size_bytes: int) -> None:
        self._descriptor = descriptor
        self._path = path
        self._size_bytes = size_bytes
        self._head = _read_range(descriptor, path, 0, min(_HEAD_BYTES, size_bytes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def __len__(self) -> int:
        return self._size_bytes

    def __getitem__(self, key: slice, /) -> bytes:
        start, stop, _ = key.indices(self._size_bytes)
        if stop <= len(self._head):
            return self._head[start:stop]
        return _read_range(self._descriptor, self._path, start, max(stop - start, 0))


def file_error(path: bytes, error: OSError) -> FileError:
    """Return the error of this module that says what an OSError says."""
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return FileMissingError(path, "missing")
    if error.errno == errno.ELOOP:
        return FileError(path, "a symbolic link")
    return FileError(path, (error.strerror or "unreadable").lower())


def kind_name(mode: int) -> str:
    """Return what a file of this mode is, for people: `a FIFO`."""
    return _KIND_NAMES.get(stat.S_IFMT(mode), "not a regular file")


def read_file(path: bytes, maximum_bytes: int, *, listed: os.stat_result | None = None) -> bytes:
    """Return the whole content; a file larger than `maximum_bytes` is an error.

    Args:
        path: Absolute, or relative to the current folder.
        maximum_bytes: The most that is read.
        listed: What lstat(2) said of it moments ago; spares asking again.
    """
    descriptor, size_bytes = _open(path, listed)
    try:
        if size_bytes > maximum_bytes:
            raise FileError(path, f"{size_bytes} bytes are too many to read, the limit is {maximum_bytes}")
        return _read_range(descriptor, path, 0, size_bytes)
    finally:
        os.close(descriptor)


def read_start(path: bytes, size_bytes: int, *, listed: os.stat_result | None = None) -> bytes:
    """Return at most `size_bytes` from the start of a file of any size."""
    descriptor, _ = _open(path, listed)
    try:
        return _read_range(descriptor, path, 0, size_bytes)
    finally:
        os.close(descriptor)


def open_buffer(path: bytes, *, listed: os.stat_result | None = None) -> FileBuffer:
    """Open a file of any size, to be used in a `with` statement; its bytes are read by slices."""
    descriptor, size_bytes = _open(path, listed)
    try:
        return FileBuffer(descriptor, path, size_bytes)
    except FileError:
        os.close(descriptor)
        raise


def forget_cached(path: bytes) -> None:
    """Have the system drop what it has of a file in memory, so that the next reader reads from the disk.

    What is not on the disk yet is written there first: such pages would stay. Without effect where the system has no
    posix_fadvise(2). Raises FileError.
    """
    descriptor, _ = _open(path, None)
    try:
        if hasattr(os, "posix_fadvise"):
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError as error:
        raise file_error(path, error) from error
    finally:
        os.close(descriptor)


def cached_bytes(path: bytes) -> int | None:
    """Return how much of a file is in memory; None where the system does not say. Raises FileError."""
    descriptor, _ = _open(path, None)
    try:
        return cached_page_bytes(descriptor)
    finally:
        os.close(descriptor)


def _open(path: bytes, listed: os.stat_result | None) -> tuple[int, int]:
    try:
        before = listed or os.lstat(path)
        _require_regular(path, before.st_mode)
        descriptor = os.open(path, _OPEN_FLAGS)
    except OSError as error:
        raise file_error(path, error) from error
    try:
        after = os.fstat(descriptor)
        _require_regular(path, after.st_mode)
    except (OSError, FileError) as error:
        os.close(descriptor)
        raise (file_error(path, error) if isinstance(error, OSError) else error) from error
    return descriptor, after.st_size


def _require_regular(path: bytes, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise FileError(path, f"{kind_name(mode)}, not a regular file")


def _read_range(descriptor: int, path: bytes, start: int, size_bytes: int) -> bytes:
    try:
        data = os.pread(descriptor, size_bytes, start)
        if not data or len(data) == size_bytes:
            return data
        chunks = [data]
        missing_bytes = size_bytes - len(data)
        while missing_bytes > 0:
            chunk = os.pread(descriptor, missing_bytes, start + size_bytes - missing_bytes)
            if not chunk:
                break
            chunks.append(chunk)
            missing_bytes -= len(chunk)
    except OSError as error:
        raise file_error(path, error) from error
    return b"".join(chunks)
