"""Reads who else is at work in a repository: operations in progress, locks, and a gc that runs.

Sources: the state files of git-rebase(1), git-merge(1) and git-bisect(1) (wt-status.c), git-maintenance(1), gc.pid of
builtin/gc.c, lockfile.h. Linked work trees have operations and locks of their own.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gitdash.assessment.locks import kind_of
from gitdash.inspection.files import FileError, FileMissingError, read_start
from gitdash.maintenance.action_facts import HeldLock
from gitdash.maintenance.lasting import lasting_files
from gitdash.maintenance.lock import LOCK_NAME, is_abandoned, lock_owner, own_content
from gitdash.maintenance.processes import openers
from gitdash.model.inspection import Inspection, LockFile
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport
from gitdash.units import printable, printable_path

OPERATIONS: Final = (
    (b"rebase-merge", "a rebase"),
    (b"rebase-apply", "a rebase or am"),
    (b"MERGE_HEAD", "a merge"),
    (b"CHERRY_PICK_HEAD", "a cherry-pick"),
    (b"REVERT_HEAD", "a revert"),
    (b"sequencer", "a cherry-pick or revert of several commits"),
    (b"BISECT_LOG", "a bisect"),
    (b"NOTES_MERGE_PARTIAL", "a merge of notes"),
    (b"MERGE_AUTOSTASH", "a merge with changes set aside"),
)
"""What lies in the git directory of a work tree in the middle of an operation; references of these names are in the
table where there is one, see `root_references`."""
_WORKTREES_MAXIMUM_COUNT: Final = 1_000
_WORKTREE_LOCKS: Final = (b"index.lock", b"HEAD.lock")
"""What a commit in a linked work tree locks."""
_LOCK_BYTES: Final = 512
_MAINTENANCE_LOCK: Final = "objects/maintenance.lock"
_GC_PID: Final = "gc.pid"


def operations(common_dir: bytes) -> Iterator[str]:
    """Yield what is in progress in the main work tree, and in every linked one, by files."""
    for name, operation in OPERATIONS:
        if os.path.lexists(common_dir + b"/" + name):
            yield in_progress(operation, None)
    for worktree in worktrees(common_dir):
        for name, operation in OPERATIONS:
            if os.path.lexists(b"/".join((common_dir, b"worktrees", worktree, name))):
                yield in_progress(operation, worktree)


def in_progress(operation: str, worktree: bytes | None) -> str:
    """Say so, of a linked work tree by the name of its folder."""
    where = "" if worktree is None else f" in the work tree {printable_path(worktree)}"
    return f"{operation} is in progress{where}"


def worktree_with_references(common_dir: bytes) -> str | None:
    """Return the name of a linked work tree that has references of its own, printable; None if none has."""
    for worktree in worktrees(common_dir):
        references = b"/".join((common_dir, b"worktrees", worktree, b"refs"))
        if any(names for _, _, names in islice(os.walk(references), _WORKTREES_MAXIMUM_COUNT)):
            return printable_path(worktree)
    return None


def worktrees(common_dir: bytes) -> list[bytes]:
    """Return the names of the folders of linked work trees, at most a thousand."""
    try:
        with os.scandir(common_dir + b"/worktrees") as entries:
            return sorted(entry.name for entry in islice(entries, _WORKTREES_MAXIMUM_COUNT))
    except OSError:
        return []


def maintenance_lock(objects_dir: bytes, cancel: threading.Event | None = None) -> HeldLock | None:
    """Return the lock of another process; one that is gone a moment later is none.

    Neither is one of ours, nor that of a gitdash that is dead.
    """
    path = objects_dir + b"/" + LOCK_NAME
    lock = _held_by_another(path, objects_dir)
    return lock if lock is not None and lasting_files([path], cancel) else None


def _held_by_another(path: bytes, objects_dir: bytes) -> HeldLock | None:
    try:
        since_s = os.lstat(path).st_mtime
    except OSError:
        return None
    try:
        content = read_start(path, _LOCK_BYTES)
    except FileMissingError:
        return None
    except FileError as error:
        return HeldLock(path=_MAINTENANCE_LOCK, since_s=since_s, holder=error.reason)
    if content == own_content() or is_abandoned(content, objects_dir):
        return None
    real_path = os.path.realpath(path)
    process_id, owner = openers([real_path]).get(real_path), lock_owner(content)
    if process_id == os.getpid():
        # on a full disk ours says nothing
        return None
    holder = None if process_id is None else f"PID {process_id}"
    if owner is not None:
        holder = f"gitdash, PID {owner.process_id} on {printable(owner.host)}"
    return HeldLock(path=_MAINTENANCE_LOCK, since_s=since_s, holder=holder)


def _locks(report: RepositoryReport) -> tuple[LockFile, ...]:
    return report.inspection.locks if isinstance(report.inspection, Inspection) else ()


def gc_pid(report: RepositoryReport, policy: Policy, now_s: float) -> HeldLock | None:
    """Return a gc that runs, or may run on another host; one older than git honours is none."""
    for lock in _locks(report):
        is_honoured = now_s - lock.mtime_s < policy.gc_pid_age_s
        if lock.path == _GC_PID and is_honoured and (lock.holder_pid is not None or lock.holder_host is not None):
            holder = f"PID {lock.holder_pid}" if lock.holder_pid is not None else f"a process on {lock.holder_host}"
            return HeldLock(path=lock.path, since_s=lock.mtime_s, holder=holder)
    return None


def live_locks(
    report: RepositoryReport, policy: Policy, now_s: float, cancel: threading.Event | None = None
) -> tuple[HeldLock, ...]:
    """Return the locks that others hold, or may hold; those that are gone a moment later are none.

    git closes a lock before it renames it: a young one without a holder is no proof that nobody has it.
    """
    found = [(lock, place_of(report, lock.path)) for lock in _live_now(report, policy, now_s)]
    lasting = lasting_files([path for _, path in found if path is not None], cancel)
    return tuple(lock for lock, path in found if path is None or path in lasting)


def place_of(report: RepositoryReport, path: str) -> bytes | None:
    """Return where a lock lies; None if its name has an escape, so that it cannot be told."""
    if "\\" in path:
        return None
    repository = report.repository
    own = repository.git_dir + b"/" + os.fsencode(path)
    return own if os.path.lexists(own) else repository.common_dir + b"/" + os.fsencode(path)


def _live_now(report: RepositoryReport, policy: Policy, now_s: float) -> Iterator[HeldLock]:
    for lock in _locks(report):
        is_young = now_s - lock.mtime_s < kind_of(lock.path).age_s(policy)
        if lock.path not in {_MAINTENANCE_LOCK, _GC_PID} and (lock.holder_pid is not None or is_young):
            holder = None if lock.holder_pid is None else f"PID {lock.holder_pid}"
            yield HeldLock(path=lock.path, since_s=lock.mtime_s, holder=holder)
    for worktree in worktrees(report.repository.common_dir):
        for name in _WORKTREE_LOCKS:
            path = b"/".join((b"worktrees", worktree, name))
            with contextlib.suppress(OSError):
                since_s = os.lstat(report.repository.common_dir + b"/" + path).st_mtime
                if now_s - since_s < kind_of(name.decode()).age_s(policy):
                    yield HeldLock(path=printable_path(path), since_s=since_s)
