"""Throw-away copies of repositories, for experiments that write: the original is never written to.

A copy is a bare repository of our own; what is in it, `copying` says. It lies with the markers if that is on the volume
of the original, for a hard link cannot leave its volume; else beside the original. It goes when the context ends, and
at the latest with the process. Before it is made a marker says whose it is, so that `sweep_copies` finds the copy of a
gitdash that was killed.
"""

import atexit
import contextlib
import errno
import os
import secrets
import shutil
import stat
import threading
from collections.abc import Iterator
from typing import Final

import msgspec

from gitdash.discovery.exclusion import THROW_AWAY_PREFIX
from gitdash.history.cut_off import ProcessIdentity, is_process_alive, this_process
from gitdash.inspection.files import FileError, read_file
from gitdash.lab.beside import folder_beside
from gitdash.lab.copying import ThrowAwayCopy, fill
from gitdash.lab.request import ExperimentError
from gitdash.model.report import RepositoryReport
from gitdash.units import human_bytes, printable_path

_MARKER_SUFFIX: Final = b".copy"
_MARKER_LIMIT_BYTES: Final = 64 * 1024
_SPARE_BYTES: Final = 64 * 1024**2
"""Of the volume: for the names of links, and for whoever else writes there."""

_live: Final[dict[bytes, int]] = {}
"""Folders of copies that this process has, and the threads that made them."""


class _Marker(msgspec.Struct, frozen=True, kw_only=True):
    """Which folder belongs to which process."""

    path: bytes
    process_id: int
    process_started_at_s: float
    host: str


@contextlib.contextmanager
def throw_away_copy(
    report: RepositoryReport, *, room_needed_bytes: int, registry_dir: bytes
) -> Iterator[ThrowAwayCopy]:
    """Make a copy and remove it when the context ends, however it ends.

    `room_needed_bytes` is what will be written into it. Raises ExperimentError if there is no room, or if the original
    cannot be linked or read.
    """
    with contextlib.ExitStack() as stack:
        yield _first_that_can_be_linked(report, room_needed_bytes, registry_dir, stack)


def sweep_copies(registry_dir: bytes) -> tuple[bytes, ...]:
    """Remove the copies of processes that are gone, and return their paths; what cannot be removed stays for later.

    Another host's are left to it: it may have the folder in common with us.
    """
    try:
        names = os.listdir(registry_dir)
    except OSError:
        return ()
    swept = []
    for name in names:
        marker_path = os.path.join(registry_dir, name)
        marker = _read_marker(marker_path) if name.endswith(_MARKER_SUFFIX) else None
        if marker is None or _is_alive(marker):
            continue
        if _is_ours(marker.path):
            shutil.rmtree(marker.path, ignore_errors=True)
            swept.append(marker.path)
        if not os.path.lexists(marker.path):
            _unlink(marker_path)
    return tuple(swept)


def leave_to_sweep(thread_id: int | None) -> None:
    """Let the folders of a thread that was given up be: to remove them now would wait for what it waits for."""
    for folder in [folder for folder, maker in tuple(_live.items()) if maker == thread_id]:
        _live.pop(folder, None)


def _first_that_can_be_linked(
    report: RepositoryReport, room_needed_bytes: int, registry_dir: bytes, stack: contextlib.ExitStack
) -> ThrowAwayCopy:
    """Make the copy in the first of the possible places, and leave its removal to `stack`."""
    for parent in _places(report, registry_dir):
        with contextlib.ExitStack() as attempt:
            folder = attempt.enter_context(marked_folder(parent, registry_dir))
            try:
                copy = fill(report, folder)
            except OSError as error:
                if error.errno == errno.EXDEV and parent == registry_dir:
                    continue
                where = printable_path(parent)
                raise ExperimentError(f"no copy can be made in {where}: {error.strerror}") from error
            except FileError as error:
                raise ExperimentError(f"no copy can be made: {error}") from error
            _require_room(parent, room_needed_bytes)
            stack.push(attempt.pop_all())
            return copy
    raise AssertionError("the last place either is the one or says why not")


def _places(report: RepositoryReport, registry_dir: bytes) -> Iterator[bytes]:
    """Yield where a copy may lie: with the markers, which bothers nobody, and beside the original, in no repository.

    Raises ExperimentError if there is no such place on the volume of the objects.
    """
    yield registry_dir
    yield folder_beside(report)


def _require_room(parent: bytes, room_needed_bytes: int) -> None:
    volume = os.statvfs(parent)
    free_bytes = volume.f_bavail * volume.f_frsize
    if free_bytes < room_needed_bytes + _SPARE_BYTES:
        raise ExperimentError(
            f"a copy would need {human_bytes(room_needed_bytes + _SPARE_BYTES)} in {printable_path(parent)},"
            f" where {human_bytes(free_bytes)} are free"
        )


@contextlib.contextmanager
def marked_folder(parent: bytes, registry_dir: bytes) -> Iterator[bytes]:
    """Return a path for a copy, marked as ours; what was made there is removed when the context ends."""
    name = THROW_AWAY_PREFIX + secrets.token_hex(8).encode()
    folder, marker_path = os.path.join(parent, name), os.path.join(registry_dir, name + _MARKER_SUFFIX)
    _live[folder] = threading.get_ident()
    try:
        _write_marker(marker_path, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _live.pop(folder, None)
        _unlink(marker_path)


def _write_marker(path: bytes, folder: bytes) -> None:
    process = this_process()
    marker = _Marker(
        path=folder,
        process_id=process.process_id,
        process_started_at_s=process.started_at_s,
        host=process.host,
    )
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "xb") as file:
            file.write(msgspec.json.encode(marker))
            file.flush()
            # a copy that nobody knows of would stay for ever, also after the power was lost
            os.fsync(file.fileno())
    except OSError as error:
        raise ExperimentError(f"no copy can be noted in {printable_path(path)}: {error.strerror}") from error


def _read_marker(path: bytes) -> _Marker | None:
    try:
        return msgspec.json.decode(read_file(path, _MARKER_LIMIT_BYTES), type=_Marker)
    except (FileError, msgspec.DecodeError):
        return None


def _is_alive(marker: _Marker) -> bool:
    return is_process_alive(
        ProcessIdentity(process_id=marker.process_id, started_at_s=marker.process_started_at_s, host=marker.host)
    )


def _is_ours(folder: bytes) -> bool:
    """Whether it is a folder of this user's that is called as copies are: a marker may be old, or made by hand."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    is_named_so = os.path.isabs(folder) and os.path.basename(folder).startswith(THROW_AWAY_PREFIX)
    return is_named_so and stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _unlink(path: bytes) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _remove_live() -> None:
    """Remove what a thread did not come to: its markers go at the next sweep."""
    for folder in tuple(_live):
        shutil.rmtree(folder, ignore_errors=True)


atexit.register(_remove_live)
