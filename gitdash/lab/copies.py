"""Throw-away copies of repositories, for experiments that write: the original is never written to.

A copy is a bare repository of our own; what is in it, `copying` says. It lies with the markers if that is on the volume
of the original, for a hard link cannot leave its volume; else beside the original. It goes when the context ends, and
at the latest with the process. Before it is made a marker says whose it is, so that `sweep_copies` finds the copy of a
gitdash that was killed. The same random token lies in the folder: a marker alone, whoever wrote it, removes nothing.
"""

import atexit
import contextlib
import errno
import os
import secrets
import shutil
import stat
import threading
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from gitdash.discovery.exclusion import THROW_AWAY_PREFIX
from gitdash.gitcmd.runner import run_git
from gitdash.history.cut_off import ProcessIdentity, is_process_alive, this_process
from gitdash.inspection.files import FileError, FileMissingError, read_file
from gitdash.lab.beside import folder_beside, require_room
from gitdash.lab.copying import ThrowAwayCopy, fill
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.model.report import RepositoryReport
from gitdash.units import printable_path

_MARKER_SUFFIX: Final = b".copy"
_MARKER_UNDER_WAY: Final = b".new"
_TOKEN: Final = b"token"
_COPY: Final = b"copy"
"""What lies in a folder: the token that its marker has, too, and what is made there."""
_TOKEN_LIMIT_BYTES: Final = 256
_MARKER_LIMIT_BYTES: Final = 64 * 1024
_SPARE_BYTES: Final = 64 * 1024**2
"""Of the volume: for the names of links, and for whoever else writes there."""

_WRITE_LIMIT_S: Final = 6 * 3600.0
"""For one repack of a copy. It is no part of what is timed, and can be cancelled."""

_live: Final[dict[bytes, int]] = {}
"""Folders of copies that this process has, and the threads that made them."""


class _Marker(msgspec.Struct, frozen=True, kw_only=True):
    """Which folder belongs to which process."""

    path: bytes
    token: str
    """Also in the folder."""
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


def git_in_copy(
    request: ExperimentRequest,
    copy: ThrowAwayCopy,
    arguments: Sequence[str],
    *,
    config: Sequence[tuple[str, str]] = (),
    stdin: bytes = b"",
) -> None:
    """Run git in a copy, to make of it what is measured. Raises GitError."""
    run_git(
        request.program,
        arguments,
        git_dir=copy.git_dir,
        config=config,
        stdin=stdin,
        time_limit_s=_WRITE_LIMIT_S,
        cancel=request.cancel,
    )


def sweep_copies(registry_dir: bytes) -> tuple[bytes, ...]:
    """Remove the copies of processes that are gone, and return their paths; what cannot be removed stays for later.

    Another host's are left to it: it may have the folder in common with us. A marker that says nothing, or names what
    is not ours, goes alone.
    """
    try:
        names = os.listdir(registry_dir)
    except OSError:
        return ()
    swept: list[bytes] = []
    for name in names:
        if name.endswith((_MARKER_SUFFIX, _MARKER_UNDER_WAY)):
            swept += _sweep_marker(os.path.join(registry_dir, name))
    return tuple(swept)


def _sweep_marker(marker_path: bytes) -> Iterator[bytes]:
    """Remove what one marker names, and yield its path; then the marker, unless it may be of use later."""
    marker = _read_marker(marker_path)
    if marker is None:
        # one under way says nothing yet
        if marker_path.endswith(_MARKER_SUFFIX) and not _may_be_read_later(marker_path):
            _unlink(marker_path)
        return
    if _is_alive(marker):
        return
    if _is_ours(marker):
        _remove(marker.path)
        yield marker.path
    if not _is_ours(marker):
        _unlink(marker_path)


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
            require_room(parent, room_needed_bytes + _SPARE_BYTES)
            stack.push(attempt.pop_all())
            return copy
    raise AssertionError("the last place either is the one or says why not")


def _places(report: RepositoryReport, registry_dir: bytes) -> Iterator[bytes]:
    """Yield where a copy may lie: with the markers, which bothers nobody, and beside the original, in no repository.

    Raises ExperimentError if there is no such place on the volume of the objects.
    """
    yield registry_dir
    yield folder_beside(report)


@contextlib.contextmanager
def marked_folder(parent: bytes, registry_dir: bytes) -> Iterator[bytes]:
    """Return a path for a copy, in a folder marked as ours; that is removed when the context ends.

    Raises ExperimentError if no marker or no folder can be made.
    """
    name = THROW_AWAY_PREFIX + secrets.token_hex(8).encode()
    folder, marker_path = os.path.join(parent, name), os.path.join(registry_dir, name + _MARKER_SUFFIX)
    token = secrets.token_hex(16)
    _live[folder] = threading.get_ident()
    try:
        _write_marker(marker_path, folder, token)
        _make_folder(folder, token)
        yield os.path.join(folder, _COPY)
    finally:
        _remove(folder)
        _live.pop(folder, None)
        # what could not be removed, the next sweep has to know of
        if not os.path.lexists(folder):
            _unlink(marker_path)


def _make_folder(folder: bytes, token: str) -> None:
    try:
        os.mkdir(folder, 0o700)
        with open(os.path.join(folder, _TOKEN), "xb") as file:
            file.write(token.encode())
    except OSError as error:
        where = printable_path(os.path.dirname(folder))
        raise ExperimentError(f"no folder can be made in {where}: {error.strerror}") from error


def _remove(folder: bytes) -> None:
    """Remove a folder of ours, the token last: what is left of it must be known for ours."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name != _TOKEN:
                path = os.path.join(folder, name)
                shutil.rmtree(path, ignore_errors=True)
                if os.path.lexists(path):
                    return
        _unlink(os.path.join(folder, _TOKEN))
        os.rmdir(folder)


def _write_marker(path: bytes, folder: bytes, token: str) -> None:
    process = this_process()
    marker = _Marker(
        path=folder,
        token=token,
        process_id=process.process_id,
        process_started_at_s=process.started_at_s,
        host=process.host,
    )
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path + _MARKER_UNDER_WAY, "xb") as file:
            file.write(msgspec.json.encode(marker))
            file.flush()
            # a copy that nobody knows of would stay for ever, also after the power was lost
            os.fsync(file.fileno())
        # whole or not at all, for whoever sweeps meanwhile
        os.rename(path + _MARKER_UNDER_WAY, path)
    except OSError as error:
        raise ExperimentError(f"no copy can be noted in {printable_path(path)}: {error.strerror}") from error


def _read_marker(path: bytes) -> _Marker | None:
    try:
        return msgspec.json.decode(read_file(path, _MARKER_LIMIT_BYTES), type=_Marker)
    except (FileError, msgspec.DecodeError):
        return None


def _may_be_read_later(path: bytes) -> bool:
    """Whether a marker is a file that could not be read just now, and not one that says nothing, a FIFO or a link."""
    try:
        read_file(path, _MARKER_LIMIT_BYTES)
    except FileMissingError:
        return True
    except FileError:
        with contextlib.suppress(OSError):
            return stat.S_ISREG(os.lstat(path).st_mode)
        return True
    return False


def _is_alive(marker: _Marker) -> bool:
    return is_process_alive(
        ProcessIdentity(process_id=marker.process_id, started_at_s=marker.process_started_at_s, host=marker.host)
    )


def _is_ours(marker: _Marker) -> bool:
    """Whether it names a folder of this user's that is called as ours are and has its token, or nothing in it.

    A marker may be old, or made by hand.
    """
    folder = marker.path
    try:
        status = os.lstat(folder)
        is_named_so = os.path.isabs(folder) and os.path.basename(folder).startswith(THROW_AWAY_PREFIX)
        if not is_named_so or not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        # killed between the folder and its token
        return not os.listdir(folder) or _token_in(folder) == marker.token.encode()
    except OSError:
        return False


def _token_in(folder: bytes) -> bytes | None:
    try:
        return read_file(os.path.join(folder, _TOKEN), _TOKEN_LIMIT_BYTES)
    except FileError:
        return None


def _unlink(path: bytes) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _remove_live() -> None:
    """Remove what a thread did not come to: its markers go at the next sweep."""
    for folder in tuple(_live):
        _remove(folder)


atexit.register(_remove_live)
