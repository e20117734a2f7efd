"""The one door for what gitdash itself writes into repositories, and removes from them.

Every folder is entered from the one above it by a descriptor and never through a symbolic link, every file is looked at
before it is touched, and only regular files of the effective user, whose names the caller knows, are removed. Source:
openat(2), unlinkat(2), linkat(2). Decides nothing: what may go, and when, stands in the modules that call this.

Errors of the system leave as OSError; what is no regular file of ours is a `WriteRefusedError`.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from gitdash.errors import GitdashError
from gitdash.inspection.files import kind_name
from gitdash.units import printable_path

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_COPY_BYTES: Final = 1 << 20
_NO_LINK: Final = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.EACCES})
"""Another device, protected_hardlinks, too many links, or a file system without links: a copy does it, too."""
_COPY_PREFIX: Final = b"tmp_gitdash_"
"""A copy under way: git ignores it, and what a kill leaves of it is swept like a temporary file of git's own."""


class WriteRefusedError(GitdashError):
    """Something that gitdash does not touch lies where it would write."""

    def __init__(self, path: bytes, reason: str) -> None:
        super().__init__(f"{printable_path(path)}: {reason}")
        self.path = path
        self.reason = reason
        """One clause, lower case, without the path."""


@contextlib.contextmanager
def open_folder(base: bytes, relative: bytes = b"") -> Iterator[int]:
    """Open a folder below `base`, which is absolute and without links at its end; gives a descriptor.

    Raises OSError, ELOOP or ENOTDIR where a part of `relative` is a link.
    """
    descriptor = os.open(base, _FOLDER_FLAGS)
    try:
        for part in filter(None, relative.split(b"/")):
            below = os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def look_at(folder: int, name: bytes) -> os.stat_result | None:
    """Return what lies at a name, None if nothing does."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def create_file(folder: int, name: bytes, content: bytes) -> int:
    """Make a file that must not be there yet and return its open descriptor. Raises FileExistsError."""
    descriptor = os.open(name, _NEW_FILE_FLAGS, 0o644, dir_fd=folder)
    try:
        _write_whole(descriptor, content)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        os.close(descriptor)
        raise
    return descriptor


def _write_whole(descriptor: int, content: bytes) -> None:
    """Write all: a full disk may take a part, and refuses only what comes after it. Raises OSError."""
    while content:
        content = content[os.write(descriptor, content) :]


def remove_open_file(folder: int, name: bytes, descriptor: int) -> bool:
    """Remove a name if what it stands for is the file that is open; return whether it was."""
    found = look_at(folder, name)
    if found is None or not os.path.samestat(found, os.fstat(descriptor)):
        return False
    os.unlink(name, dir_fd=folder)
    return True


def remove_file(base: bytes, path: bytes, *, is_expected: Callable[[os.stat_result], bool]) -> int | None:
    """Remove one regular file of ours, if it still is what the caller expects; return its bytes.

    `path` is relative to `base`. None if it is gone, or not as expected any more. Raises WriteRefusedError and OSError.
    """
    folder_path, name = os.path.split(path)
    try:
        with open_folder(base, folder_path) as folder:
            found = look_at(folder, name)
            if found is None:
                return None
            _require_own_file(path, found)
            if not is_expected(found):
                return None
            os.unlink(name, dir_fd=folder)
            return found.st_size
    except FileNotFoundError:
        return None


def remove_folder(
    base: bytes,
    path: bytes,
    *,
    is_expected: Callable[[os.stat_result], bool],
    is_part: Callable[[bytes, os.stat_result], bool] = lambda _path, _found: True,
) -> int | None:
    """Remove a folder of ours with the regular files in it, if all that lies in it is as expected; return their bytes.

    `is_expected` is asked for the folder and for all below it, before anything is removed; `is_part` for all below it,
    by its path in the folder. None as for `remove_file`.
    """
    above_path, name = os.path.split(path)
    try:
        with open_folder(base, above_path) as above:
            found = look_at(above, name)
            if found is None or not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                return None
            if not is_expected(found):
                return None
            with open_folder(base, path) as folder:
                if not _is_expected_below(folder, path, partial(_is_expected_part, path, is_expected, is_part)):
                    return None
                removed_bytes = _empty(folder, path)
            os.rmdir(name, dir_fd=above)
            return removed_bytes
    except FileNotFoundError:
        return None


def _is_expected_part(
    folder_path: bytes,
    is_expected: Callable[[os.stat_result], bool],
    is_part: Callable[[bytes, os.stat_result], bool],
    path: bytes,
    found: os.stat_result,
) -> bool:
    return is_expected(found) and is_part(path[len(folder_path) + 1 :], found)


def _is_expected_below(folder: int, path: bytes, is_expected: Callable[[bytes, os.stat_result], bool]) -> bool:
    for name in _names(folder):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not is_expected(path + b"/" + name, found):
            return False
        if stat.S_ISDIR(found.st_mode):
            with _opened(name, folder) as below:
                if not _is_expected_below(below, path + b"/" + name, is_expected):
                    return False
        else:
            _require_own_file(path + b"/" + name, found)
    return True


def _empty(folder: int, path: bytes) -> int:
    removed_bytes = 0
    for name in _names(folder):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            with _opened(name, folder) as below:
                removed_bytes += _empty(below, path + b"/" + name)
            os.rmdir(name, dir_fd=folder)
        else:
            _require_own_file(path + b"/" + name, found)
            os.unlink(name, dir_fd=folder)
            removed_bytes += found.st_size
    return removed_bytes


@contextlib.contextmanager
def _opened(name: bytes, folder: int) -> Iterator[int]:
    descriptor = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _names(folder: int) -> list[bytes]:
    return [os.fsencode(name) for name in os.listdir(folder)]


def make_folder(base: bytes, path: bytes) -> None:
    """Make a folder below `base` unless it is there; those above it must be."""
    above_path, name = os.path.split(path)
    with open_folder(base, above_path) as above, contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=above)


def link_file(source_base: bytes, target_base: bytes, path: bytes) -> int:
    """Give a regular file the same path below another folder: by a link, or by a copy where no link can be made.

    Returns the bytes that were copied, 0 for a link. A copy appears whole or not at all, with the age of what it is of.
    Raises FileExistsError, WriteRefusedError and OSError.
    """
    folder_path, name = os.path.split(path)
    with open_folder(source_base, folder_path) as source, open_folder(target_base, folder_path) as target:
        found = os.stat(name, dir_fd=source, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise WriteRefusedError(path, f"{kind_name(found.st_mode)}, not a regular file")
        try:
            os.link(name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
            return _copy(name, source, target)
    return 0


def _copy(name: bytes, source: int, target: int) -> int:
    temporary = _COPY_PREFIX + name
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=target)
    reading = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=source)
    try:
        found = os.fstat(reading)
        writing = os.open(temporary, _NEW_FILE_FLAGS, 0o444, dir_fd=target)
        try:
            _copy_bytes(reading, writing)
            os.fsync(writing)
        finally:
            os.close(writing)
        os.utime(temporary, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=target)
        _rename(target, temporary, name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=target)
        raise
    finally:
        os.close(reading)
    return found.st_size


def _copy_bytes(reading: int, writing: int) -> None:
    while data := os.read(reading, _COPY_BYTES):
        view = memoryview(data)
        while view:
            view = view[os.write(writing, view) :]


def rename_file(base: bytes, folder_path: bytes, old: bytes, new: bytes) -> None:
    """Rename a regular file of ours within its folder; raises FileExistsError if the new name is taken."""
    with open_folder(base, folder_path) as folder:
        found = os.stat(old, dir_fd=folder, follow_symlinks=False)
        _require_own_file(old, found)
        _rename(folder, old, new)
        os.fsync(folder)


def _rename(folder: int, old: bytes, new: bytes) -> None:
    if look_at(folder, new) is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
    os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)


def settle(base: bytes, path: bytes) -> None:
    """Have the names in a folder written to the disk before something is built on them."""
    with open_folder(base, path) as folder, contextlib.suppress(OSError):
        os.fsync(folder)


def _require_own_file(path: bytes, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise WriteRefusedError(path, f"{kind_name(found.st_mode)}, not a regular file")
    if found.st_uid != os.geteuid():
        raise WriteRefusedError(path, "another user owns it")
