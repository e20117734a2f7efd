"""An empty git directory of our own, through which a scanned repository's objects are asked.

git reads configuration, hooks, grafts, replace refs, promisor remotes and references from the git directory; of the
scanned repository it gets the object store alone (`GIT_OBJECT_DIRECTORY`) and, where there is one, the list of shallow
commits. Bitmaps, commit-graph, multi-pack-index and alternates lie in the object store and work. Source: git(1)
"The Git Repository" variables, gitrepository-layout(5). Not for anything that writes.
"""

import contextlib
import errno
import fcntl
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.store_files import irregular_file
from gitdash.model.inspection import ObjectFormat

_PREFIX: Final = "gitdash-shadow-"
"""Of the name of each such folder, and of those of `stand_in`."""
_HELD_PREFIX: Final = f"{_PREFIX}held-"
"""Of those that a process holds by flock(2), which ends with it, as long as it needs them."""
_MOST_TRIES: Final = 10
_HEAD = "ref: refs/heads/none\n"
_ABANDONED_AGE_S = 86_400.0
"""No query takes a day: an older folder is what a killed gitdash left, where the file system knows no locks."""

_CONFIGS = {
    ObjectFormat.SHA1: "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    ObjectFormat.SHA256: "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
    "[extensions]\n\tobjectFormat = sha256\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowGitDir:
    """A git directory without references, configuration or objects of its own."""

    path: bytes
    """Where it lies: a folder that only we can enter, gone when the context ends."""
    environment: dict[str, str]
    """What `run_git` needs: GIT_DIR, GIT_OBJECT_DIRECTORY, and GIT_SHALLOW_FILE where there is one."""


@contextlib.contextmanager
def shadow_git_dir(
    *, object_format: ObjectFormat, objects_dir: bytes, shallow_file: bytes | None = None
) -> Iterator[ShadowGitDir]:
    """Make a shadow git directory for one object store and remove it when the context ends, however it ends.

    `objects_dir` and `shallow_file` are absolute; without the shallow file git walks on into commits that are not
    there and dies. Raises GitError if the folder for temporary files cannot be written, or if the store holds
    something that git would wait for.
    """
    irregular = irregular_file(objects_dir)
    if irregular is not None:
        name, kind = os.fsdecode(irregular[0]), irregular[1]
        raise GitError(f"objects/{name} is {kind}, and git would open it", kind=GitFailure.REFUSED)
    with held_folder(functools.partial(_fill, object_format)) as folder:
        environment = {"GIT_DIR": folder, "GIT_OBJECT_DIRECTORY": os.fsdecode(objects_dir)}
        if shallow_file is not None:
            environment["GIT_SHALLOW_FILE"] = os.fsdecode(shallow_file)
        yield ShadowGitDir(path=os.fsencode(folder), environment=environment)


def temporary_folder() -> str:
    """Return a folder for temporary files that can be written.

    `tempfile` alone would fall back to the current folder, which may be a scanned work tree. Raises GitError.
    """
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for folder in (*named, "/tmp", "/var/tmp"):  # noqa: S108 - the folder made in it has a random name and is ours alone
        if folder and os.path.isabs(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise GitError("no folder for temporary files can be written", kind=GitFailure.NOT_STARTED)


def _fill(object_format: ObjectFormat, folder: str) -> None:
    for name in ("refs", "objects"):
        os.mkdir(os.path.join(folder, name), 0o700)
    for name, content in (("HEAD", _HEAD), ("config", _CONFIGS[object_format])):
        with open(os.path.join(folder, name), "x", encoding="ascii") as file:
            file.write(content)


@contextlib.contextmanager
def held_folder(fill: Callable[[str], None]) -> Iterator[str]:
    """Make a folder that only we can enter, have it filled, and remove it when the context ends, however it ends.

    If we are killed, the next gitdash removes it. Raises GitError if it cannot be made.
    """
    try:
        folder, descriptor = _make_held(temporary_folder())
    except OSError as error:
        raise _cannot_make(error) from error
    try:
        sweep_abandoned(os.path.dirname(folder))
        try:
            fill(folder)
        except OSError as error:
            raise _cannot_make(error) from error
        yield folder
    finally:
        # links in it are not entered: rmtree(3) removes a link itself
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _cannot_make(error: OSError) -> GitError:
    return GitError(f"cannot make a folder for temporary files: {error.strerror}", kind=GitFailure.NOT_STARTED)


def _make_held(parent: str) -> tuple[str, int]:
    """Return a new folder and the descriptor by which it is held; whoever sweeps may have it before we hold it."""
    for _ in range(_MOST_TRIES):
        folder = tempfile.mkdtemp(prefix=_HELD_PREFIX, dir=parent)
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if _lock(descriptor, fcntl.LOCK_SH) is not False and os.path.isdir(folder):
            return folder, descriptor
        os.close(descriptor)
    raise OSError(errno.EAGAIN, "somebody removes them")


def _lock(descriptor: int, how: int) -> bool | None:
    """Return whether it is locked now; None if the file system knows no locks."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@functools.cache
def sweep_abandoned(temporary_folder: str) -> tuple[tuple[str, float], ...]:
    """Remove such folders of this user that nobody holds any more, once a process; what cannot be removed stays.

    Returns the path of each, and when it changed last, seconds since the epoch; each further call returns the same.
    Those that cannot be held are removed when they are older than a day, by the clock of the file system: the folder
    that was made last gave `temporary_folder` its time.
    """
    swept: list[tuple[str, float]] = []
    with contextlib.suppress(OSError):
        now_s = os.stat(temporary_folder).st_mtime
        with os.scandir(temporary_folder) as entries:
            ours = [entry for entry in entries if _is_ours(entry)]
        for entry in ours:
            with contextlib.suppress(OSError):
                swept += _remove_if_abandoned(entry, now_s)
    return tuple(swept)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
        return False
    return entry.stat(follow_symlinks=False).st_uid == os.geteuid()


def _remove_if_abandoned(entry: os.DirEntry[str], now_s: float) -> list[tuple[str, float]]:
    """Return path and time of the folder if it was one to remove."""
    descriptor = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        is_free = _lock(descriptor, fcntl.LOCK_EX) if entry.name.startswith(_HELD_PREFIX) else None
        changed_at_s = os.fstat(descriptor).st_mtime
        is_old = now_s - changed_at_s > _ABANDONED_AGE_S
        if not (is_free or (is_free is None and is_old)):
            return []
        shutil.rmtree(entry.path, ignore_errors=True)
        return [(entry.path, changed_at_s)]
    finally:
        os.close(descriptor)
