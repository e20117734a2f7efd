"""An empty git directory of our own, through which a scanned repository's objects are asked.

git reads configuration, hooks, grafts, replace refs, promisor remotes and references from the git directory; of the
scanned repository it gets the object store alone (`GIT_OBJECT_DIRECTORY`) and, where there is one, the list of shallow
commits. Bitmaps, commit-graph, multi-pack-index and alternates lie in the object store and work. Source: git(1)
"The Git Repository" variables, gitrepository-layout(5). Not for anything that writes.
"""

import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.store_files import irregular_file
from gitdash.model.inspection import ObjectFormat

PREFIX: Final = "gitdash-shadow-"
"""Of the name of each such folder, and of those of `stand_in`."""
_HEAD = "ref: refs/heads/none\n"
_ABANDONED_AGE_S = 86_400.0
"""No query takes a day: an older folder is what a killed gitdash left."""

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
    folder = _make_folder(object_format)
    sweep_abandoned(os.path.dirname(folder))
    try:
        environment = {"GIT_DIR": folder, "GIT_OBJECT_DIRECTORY": os.fsdecode(objects_dir)}
        if shallow_file is not None:
            environment["GIT_SHALLOW_FILE"] = os.fsdecode(shallow_file)
        yield ShadowGitDir(path=os.fsencode(folder), environment=environment)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def temporary_folder() -> str:
    """Return a folder for temporary files that can be written.

    `tempfile` alone would fall back to the current folder, which may be a scanned work tree. Raises GitError.
    """
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for folder in (*named, "/tmp", "/var/tmp"):  # noqa: S108 - the folder made in it has a random name and is ours alone
        if folder and os.path.isabs(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise GitError("no folder for temporary files can be written", kind=GitFailure.REFUSED)


def _make_folder(object_format: ObjectFormat) -> str:
    folder = None
    try:
        folder = tempfile.mkdtemp(prefix=PREFIX, dir=temporary_folder())
        for name in ("refs", "objects"):
            os.mkdir(os.path.join(folder, name), 0o700)
        for name, content in (("HEAD", _HEAD), ("config", _CONFIGS[object_format])):
            with open(os.path.join(folder, name), "x", encoding="ascii") as file:
                file.write(content)
    except OSError as error:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise GitError(
            f"cannot make a folder for temporary files: {error.strerror}", kind=GitFailure.REFUSED
        ) from error
    return folder


@functools.cache
def sweep_abandoned(temporary_folder: str) -> None:
    """Remove shadow folders of this user that are older than a day, once a process; what cannot be removed stays.

    The age is by the clock of the file system: the folder that was just made gave `temporary_folder` its time.
    """
    with contextlib.suppress(OSError):
        now_s = os.stat(temporary_folder).st_mtime
        with os.scandir(temporary_folder) as entries:
            abandoned = [entry.path for entry in entries if _is_abandoned(entry, now_s)]
        for path in abandoned:
            shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(entry: os.DirEntry[str], now_s: float) -> bool:
    if not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False):
        return False
    status = entry.stat(follow_symlinks=False)
    return status.st_uid == os.geteuid() and now_s - status.st_mtime > _ABANDONED_AGE_S
