"""The folder that the demo fleet is in: one that was named and is empty, or a temporary one that is removed.

A marker file says that a folder is ours. While somebody looks at a temporary fleet the marker is locked; one that is
neither locked nor younger than a day is what a killed run left, and the next run removes it. Source: flock(2).
"""

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from typing import Final

from gitdash.errors import GitdashError
from gitdash.units import printable_path

MARKER: Final = b".gitdash-demo"

_PREFIX: Final = b"gitdash-demo-"
_MARKER_CONTENT: Final = b"A demo fleet that gitdash made. Nobody misses this folder when it is removed.\n"
_MADE: Final = (b"stock", b"fleet", b"elsewhere")
"""What a workshop makes beside the marker."""
_ABANDONED_AGE_S: Final = 86_400.0


class DemoError(GitdashError):
    """The demo fleet cannot be made."""


@contextlib.contextmanager
def given_folder(path: bytes) -> Iterator[bytes]:
    """Make the folder that was named, an absolute path, mark it and yield it for the fleet to be made in.

    If the context ends by an exception, whatever was made goes, so that the same folder can be named again.
    Raises DemoError if there is something in it, or if it cannot be made: nothing is written then.
    """
    try:
        is_new = _make(path)
        is_empty = not os.listdir(path)
    except OSError as error:
        raise DemoError(f"cannot make a demo fleet in {printable_path(path)}: {reason_of(error)}") from error
    if not is_empty:
        raise DemoError(f"{printable_path(path)} is not empty: name a folder that is, or one that does not exist")
    try:
        _mark(path)
        yield path
    except BaseException:
        with unheard_signals():
            _unmake(path, is_new=is_new)
        raise


def _unmake(path: bytes, *, is_new: bool) -> None:
    """Remove what the making of a fleet left in a folder that was named, and nothing that others put there since."""
    with contextlib.suppress(OSError):
        for name in _MADE:
            shutil.rmtree(path + b"/" + name, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + b"/" + MARKER)
        if is_new:
            os.rmdir(path)


def _make(path: bytes) -> bool:
    """Make a folder unless it is there; return whether it is new."""
    try:
        os.mkdir(path)
    except FileExistsError:
        return False
    return True


def temporary_folder() -> bytes:
    """Make and mark a folder among those for temporary files, and return its absolute path. Raises DemoError."""
    try:
        folder = tempfile.mkdtemp(prefix=os.fsdecode(_PREFIX))
    except OSError as error:
        raise DemoError(f"cannot make a temporary folder: {reason_of(error)}") from error
    absolute = os.path.abspath(os.fsencode(folder))
    try:
        _mark(absolute)
    except DemoError:
        remove(absolute)
        raise
    return absolute


@contextlib.contextmanager
def unheard_signals() -> Iterator[None]:
    """Hear no request to end: a folder shall not be left half made or half removed."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)


@contextlib.contextmanager
def in_use(folder: bytes) -> Iterator[None]:
    """Keep other runs from sweeping the folder while the context lasts; where files cannot be locked, do nothing."""
    with open(folder + b"/" + MARKER, "rb") as marker:
        with contextlib.suppress(OSError):
            fcntl.flock(marker, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield


def remove(folder: bytes) -> None:
    """Remove a folder of ours with all that is in it, the marker last; what cannot be removed stays.

    Links are removed and not followed.
    """
    marker = folder + b"/" + MARKER
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            others = [entry for entry in entries if entry.path != marker]
        for entry in others:
            _remove_entry(entry)
        os.unlink(marker)
        os.rmdir(folder)


def _remove_entry(entry: "os.DirEntry[bytes]") -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        os.unlink(entry.path)


def sweep_abandoned(now_s: float) -> None:
    """Remove temporary fleets of this user that a killed run left more than a day ago."""
    with contextlib.suppress(OSError):
        with os.scandir(os.fsencode(tempfile.gettempdir())) as entries:
            candidates = [entry.path for entry in entries if entry.name.startswith(_PREFIX)]
        for path in candidates:
            if _is_abandoned(path, now_s):
                remove(path)


def _is_abandoned(folder: bytes, now_s: float) -> bool:
    """Tell whether a folder is ours, marked, old and in nobody's use; a link to such a folder is not."""
    with contextlib.suppress(OSError):
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        descriptor = os.open(folder + b"/" + MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as marker:
            return _is_old_marker(descriptor, now_s) and marker.read() == _MARKER_CONTENT and _can_be_locked(descriptor)
    return False


def _is_old_marker(descriptor: int, now_s: float) -> bool:
    found = os.fstat(descriptor)
    is_ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_size == len(_MARKER_CONTENT)
    return is_ours and now_s - found.st_mtime > _ABANDONED_AGE_S


def _can_be_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _mark(folder: bytes) -> None:
    try:
        with open(folder + b"/" + MARKER, "xb") as marker:
            marker.write(_MARKER_CONTENT)
    except OSError as error:
        raise DemoError(f"cannot write to {printable_path(folder)}: {reason_of(error)}") from error


def reason_of(error: OSError) -> str:
    """Return the system's own words for an error, in lower case and without the path."""
    return (error.strerror or str(error)).lower()
