"""Lock files of a git directory, gc.pid, and who holds them.

Source: git's lockfile.h, which adds `.lock` to the name of what a command is about to replace, the commands' own
sources for those names, and Gitaly's list of stale files; gc.pid holds the process id and the host (builtin/gc.c). A
holder is a live process that has the file open (proc_pid_fd(5)), or that gc.pid names. git closes a lock before it
renames it, so that no holder seen is no proof of a stale lock. Nothing is removed here.
"""

import os
import time
from functools import lru_cache
from typing import Final

from gitdash.gitcmd.masking import presentable_bytes
from gitdash.inspection.files import FileError, read_start
from gitdash.inspection.listing import Listing
from gitdash.model.inspection import LockFile
from gitdash.units import printable_path

_LOCK_PATHS: Final = (
    (b"", b"config.lock"),
    (b"", b"HEAD.lock"),
    (b"", b"index.lock"),
    (b"", b"packed-refs.lock"),
    (b"", b"packed-refs.new"),
    (b"", b"shallow.lock"),
    (b"info", b"attributes.lock"),
    (b"reftable", b"tables.list.lock"),
    (b"objects", b"maintenance.lock"),
    (b"objects/info", b"alternates.lock"),
    (b"objects/info", b"commit-graph.lock"),
    (b"objects/info/commit-graphs", b"commit-graph-chain.lock"),
    (b"objects/pack", b"multi-pack-index.lock"),
    (b"objects/pack/multi-pack-index.d", b"multi-pack-index-chain.lock"),
)
"""Folder and name of every lock but those of single references."""

_GC_PID: Final = b"gc.pid"
_GC_PID_BYTES: Final = 512
_REFERENCE_LOCKS_KEPT: Final = 5_000
"""For those who read more nothing changes, and whoever makes a million files should not fill the memory."""


def inspect_locks(listing: Listing, git_dir: bytes) -> tuple[tuple[LockFile, ...], int]:
    """Return the locks of a listed git directory, `gc.pid` last, and how many of references are left out.

    Those before `gc.pid` are sorted by path. What is left out has no holder and is older than what is not, but for the
    oldest: it tells since when.
    """
    present: list[tuple[bytes, os.stat_result]] = []
    for folder, name in _LOCK_PATHS:
        found = listing.folders.get(folder, {}).get(name)
        if found is not None:
            present.append((folder + b"/" + name if folder else name, found))
    holders = _Holders(git_dir)
    of_references = _worth_keeping(listing.references.locks, holders)
    locks = [
        LockFile(
            path=printable_path(path), mtime_s=found.st_mtime, bytes=found.st_size, holder_pid=holders.process_id(path)
        )
        for path, found in sorted([*present, *of_references.items()])
    ]
    gc_pid = listing.top().get(_GC_PID)
    if gc_pid is not None:
        locks.append(_gc_pid(listing, gc_pid))
    return tuple(locks), len(listing.references.locks) - len(of_references)


def _worth_keeping(locks: dict[bytes, os.stat_result], holders: "_Holders") -> dict[bytes, os.stat_result]:
    if len(locks) <= _REFERENCE_LOCKS_KEPT:
        return locks
    by_age = sorted(locks, key=lambda path: locks[path].st_mtime)
    held = (path for path in by_age if holders.process_id(path) is not None)
    kept = {by_age[0], *by_age[1 - _REFERENCE_LOCKS_KEPT :], *held}
    return {path: found for path, found in locks.items() if path in kept}


class _Holders:
    """Who has the locks of one git directory open."""

    def __init__(self, git_dir: bytes) -> None:
        self._git_dir = git_dir
        self._real_folders: dict[bytes, bytes] = {}
        self._asked_at_s = int(time.monotonic())

    def process_id(self, path: bytes) -> int | None:
        """Return a process that has a lock open, by its path relative to the git directory."""
        folder, _, name = path.rpartition(b"/")
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(self._git_dir + b"/" + folder)
        # only where there is a lock: to look at all processes takes as long as to inspect a repository
        return _open_locks(self._asked_at_s).get(self._real_folders[folder] + b"/" + name)


def _gc_pid(listing: Listing, found: os.stat_result) -> LockFile:
    """Read gc.pid: a process of this host is a holder if it lives, one of another host cannot be asked."""
    try:
        content = read_start(listing.path(_GC_PID), _GC_PID_BYTES, listed=found)
    except FileError:
        content = b""
    fields = content.split()
    holder_pid = int(fields[0]) if len(fields) == 2 and fields[0].isdigit() and len(fields[0]) < 10 else None
    host = presentable_bytes(fields[1]) if holder_pid is not None else None
    if host is not None and host != os.uname().nodename:
        return LockFile(path="gc.pid", mtime_s=found.st_mtime, bytes=found.st_size, holder_host=host)
    if holder_pid is not None and not os.path.exists(f"/proc/{holder_pid}"):
        holder_pid = None
    return LockFile(path="gc.pid", mtime_s=found.st_mtime, bytes=found.st_size, holder_pid=holder_pid)


@lru_cache(maxsize=1)
def _open_locks(second: int) -> dict[bytes, int]:  # noqa: ARG001 - the key of the cache: the table is a second old
    """Return the process id by path of all lock files that any visible process has open."""
    holders: dict[bytes, int] = {}
    for process in _listed(b"/proc"):
        if process.isdigit():
            folder = b"/proc/" + process + b"/fd"
            for descriptor in _listed(folder):
                target = _link(folder + b"/" + descriptor)
                if target.endswith((b".lock", b"packed-refs.new")):
                    holders[target] = int(process)
    return holders


def _listed(folder: bytes) -> list[bytes]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _link(path: bytes) -> bytes:
    try:
        return os.readlink(path)
    except OSError:
        return b""
