"""git's own `objects/maintenance.lock`, held by us: our maintenance and that of git exclude each other.

git makes the file with O_CREAT|O_EXCL and skips all maintenance, with exit code 0, while it is there (builtin/gc.c,
lockfile.h). Ours says who made it: `gitdash PID START HOST BOOT NAMESPACE`, so that the lock of a gitdash that was
killed is known for what it is. Only such a lock is ever taken over: of this host, of this run of the machine, and of a
process that is gone. Any other, however old, is left to people.
"""

import contextlib
import errno
import fcntl
import os
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from gitdash.errors import GitdashError
from gitdash.inspection.files import FileError, read_start
from gitdash.inspection.mounts import filesystem_type
from gitdash.maintenance.lasting import lasting_files
from gitdash.maintenance.processes import boot_id, openers, process_namespace, started_ticks
from gitdash.maintenance.writing import create_file, open_folder, remove_open_file
from gitdash.units import printable

LOCK_NAME: Final = b"maintenance.lock"

_CONTENT_BYTES: Final = 512
_MARK: Final = "gitdash"
_FIELD_COUNT: Final = 6
_DAY_S: Final = 86_400.0
_NOT_WRITABLE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_ONE_MACHINE_ONLY: Final = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs"})
"""File systems that no second machine has mounted: nothing on them is held by what ran before this machine started."""


class LockHeldError(GitdashError):
    """Another process does maintenance in the same object store, or left its lock there."""

    def __init__(self, objects_dir: bytes, holder: str, process_id: int | None) -> None:
        super().__init__(f"objects/{LOCK_NAME.decode()} is {holder}")
        self.objects_dir = objects_dir
        self.process_id = process_id
        """Of the holder; None if it is not known."""


class LockRefusedError(GitdashError):
    """An object store is not ours to lock: another user owns it, or nothing can be written there."""

    def __init__(self, objects_dir: bytes, reason: str) -> None:
        super().__init__(reason)
        self.objects_dir = objects_dir


@contextlib.contextmanager
def hold_locks(
    stores: Collection[bytes],
    *,
    optional: Collection[bytes] = (),
    now_s: float,
    cancel: threading.Event | None = None,
) -> Iterator[None]:
    """Hold the locks of object stores, in order of path, and give all of them back at the end, however that comes.

    One that another holds is tried once more if it is gone, or is another's, a moment later.
    One that is not ours to write is passed by if it is among `optional`: then nobody here maintains it either.
    Raises LockHeldError, LockRefusedError and, where there is no store or no room for a lock, OSError.
    """
    with contextlib.ExitStack() as held:
        for store in sorted({*stores, *optional}):
            try:
                held.enter_context(_hold_lock(store, now_s, cancel))
            except LockRefusedError:
                if store in stores:
                    raise
        yield


@contextlib.contextmanager
def _hold_lock(objects_dir: bytes, now_s: float, cancel: threading.Event | None) -> Iterator[None]:
    with open_folder(objects_dir) as folder:
        owner_uid = os.fstat(folder).st_uid
        if owner_uid != os.geteuid():
            raise LockRefusedError(objects_dir, f"user {owner_uid} owns it, and this is user {os.geteuid()}")
        try:
            descriptor = _make(folder, objects_dir, now_s, cancel)
        except OSError as error:
            if error.errno in _NOT_WRITABLE:
                raise LockRefusedError(objects_dir, f"nothing can be written there: {error.strerror}") from error
            raise
        try:
            yield
        finally:
            # somebody may have removed it, and another may hold a new one
            remove_open_file(folder, LOCK_NAME, descriptor)
            os.close(descriptor)


def _make(folder: int, objects_dir: bytes, now_s: float, cancel: threading.Event | None) -> int:
    with contextlib.suppress(FileExistsError):
        return _create(folder)
    is_free = _remove_if_abandoned(folder, objects_dir)
    if is_free or not lasting_files([os.path.join(objects_dir, LOCK_NAME)], cancel):
        with contextlib.suppress(FileExistsError):
            return _create(folder)
    raise _held(objects_dir, now_s)


def _create(folder: int) -> int:
    """Make the lock. On a full disk it says nothing, as that of git: what makes room shall be able to run."""
    try:
        return create_file(folder, LOCK_NAME, own_content())
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
    return create_file(folder, LOCK_NAME, b"")


def _remove_if_abandoned(folder: int, objects_dir: bytes) -> bool:
    """Remove the lock of a gitdash that is dead. Only one of several that try does it: flock(2) on the file itself."""
    try:
        descriptor = os.open(LOCK_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_over = is_abandoned(os.pread(descriptor, _CONTENT_BYTES, 0), objects_dir)
        return is_over and remove_open_file(folder, LOCK_NAME, descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOwner:
    """Who made a lock of ours."""

    process_id: int
    started_ticks: int
    host: str
    boot: str
    namespace: str

    def is_dead(self, objects_dir: bytes) -> bool:
        """Return whether it is known that the process is gone; its number may be another's by now."""
        host, boot, namespace = _machine()
        if self.host != host:
            return False
        if self.boot != boot:
            return filesystem_type(os.path.realpath(objects_dir)) in _ONE_MACHINE_ONLY
        return self.namespace == namespace and started_ticks(self.process_id) != self.started_ticks


def _machine() -> tuple[str, str, str]:
    """Return host, run of the machine and namespace of process ids, each without blanks."""
    return (os.uname().nodename.replace(" ", "_"), boot_id() or "-", process_namespace() or "-")


def lock_bytes(objects_dir: bytes) -> int:
    """Return the size of the lock in an object store; 0 if there is none."""
    try:
        return os.lstat(os.path.join(objects_dir, LOCK_NAME)).st_size
    except OSError:
        return 0


def own_content() -> bytes:
    """Return what our locks hold."""
    process_id = os.getpid()
    fields = (_MARK, process_id, started_ticks(process_id) or 0, *_machine())
    return (" ".join(map(str, fields)) + "\n").encode()


def lock_owner(content: bytes) -> LockOwner | None:
    """Return who made a lock; None if it was not gitdash. Pure."""
    fields = content.decode("utf-8", "replace").split()
    if len(fields) != _FIELD_COUNT or fields[0] != _MARK or not (fields[1] + fields[2]).isdecimal():
        return None
    return LockOwner(
        process_id=int(fields[1]),
        started_ticks=int(fields[2]),
        host=fields[3],
        boot=fields[4],
        namespace=fields[5],
    )


def is_abandoned(content: bytes, objects_dir: bytes) -> bool:
    """Return whether a lock with this content is that of a gitdash of this machine that is dead."""
    owner = lock_owner(content)
    return owner is not None and owner.is_dead(objects_dir)


def _held(objects_dir: bytes, now_s: float) -> LockHeldError:
    path = os.path.join(objects_dir, LOCK_NAME)
    try:
        since_s = os.lstat(path).st_mtime
        content = read_start(path, _CONTENT_BYTES)
    except (OSError, FileError):
        return LockHeldError(objects_dir, "held by a process that is not seen here", None)
    real_path = os.path.realpath(path)
    process_id = openers([real_path]).get(real_path)
    owner = lock_owner(content)
    since = clock_text(since_s, now_s)
    if process_id is not None:
        return LockHeldError(objects_dir, f"held by PID {process_id} since {since}", process_id)
    if owner is not None:
        where = "" if owner.host == _machine()[0] else f" on {printable(owner.host)}"
        return LockHeldError(objects_dir, f"held by PID {owner.process_id}{where} since {since}", owner.process_id)
    return LockHeldError(objects_dir, f"held since {since} by a process that is not seen here", None)


def clock_text(moment_s: float, now_s: float) -> str:
    """Return a moment as clocks here show it, with the day unless that was within the last."""
    is_today = abs(now_s - moment_s) < _DAY_S
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", time.localtime(moment_s))
