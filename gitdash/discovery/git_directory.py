"""Is this folder a git directory? The answer follows git's own test.

Source: gitrepository-layout(5); `is_git_directory` and `validate_headref` in setup.c and path.c of git 2.39.5:
HEAD is a symbolic link into `refs/`, or begins with `ref:` and a name in `refs/`, or with an object id; `objects`
and `refs` of the common directory can be entered. Does not judge the config, nor whether objects are whole.
"""

import os
import re
import stat
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.masking import presentable_bytes

ReadFile = Callable[[bytes, int], bytes]
"""Reads a regular file of at most so many bytes, or raises a GitdashError."""

_HEAD: Final = re.compile(rb"ref:[ \t\n\r]*refs/|[0-9a-fA-F]{40}")
_ESSENTIAL_PARTS: Final = frozenset({"HEAD", "objects", "refs"})
PARTS: Final = _ESSENTIAL_PARTS | {"commondir"}
"""Names in a git directory by which one is recognised."""
_TRACES: Final = (b"/config", b"/packed-refs", b"/commondir", b"/objects/pack", b"/objects/info")
_FAN_OUT: Final = re.compile(rb"[0-9a-f]{2}")
_HEAD_MAXIMUM_BYTES: Final = 1 << 16
_COMMON_DIR_MAXIMUM_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class GitDirectory:
    """A folder that git takes for a git directory."""

    common_dir: bytes
    """Absolute: where objects, refs and config lie."""
    linked: bool
    """It has a `commondir` file: the git directory of a linked worktree."""


def examine(path: bytes, read: ReadFile) -> GitDirectory | str:
    """Return what the folder `path` is as a git directory, or the reason why it is none."""
    try:
        head = read(path + b"/HEAD", _HEAD_MAXIMUM_BYTES)
    except GitdashError:
        reason = _head_problem(path)
    else:
        reason = None if _HEAD.match(head) else "HEAD holds neither an object id nor a reference"
    if reason is not None:
        return reason
    common_dir = path
    linked = os.access(path + b"/commondir", os.F_OK)
    if linked:
        try:
            common_dir = common_directory(path, read)
        except (GitdashError, OSError, ValueError):
            return "commondir cannot be read"
    for name in (b"/objects", b"/refs"):
        if not os.access(common_dir + name, os.X_OK):
            return _folder_problem(common_dir, name, linked)
    return GitDirectory(common_dir, linked)


def may_be_git_directory(name: bytes, parts: AbstractSet[str], *, has_git_entry: bool) -> bool:
    """Tell whether a folder is worth a look; `parts` are those of `PARTS` that are in it."""
    if name.endswith(b".git"):
        return bool(parts) or not has_git_entry
    return len(parts) >= 2


def was_git_directory(path: bytes, parts: AbstractSet[str]) -> bool:
    """Tell whether a folder that is none was one: it has two of the essential parts, whatever happened to the third.

    `objects` and `refs` alone say nothing, for other programs have folders of these names, as GitPython in its package:
    then there is anything else that git puts there.
    """
    essential_parts = parts & _ESSENTIAL_PARTS
    if "HEAD" in essential_parts or len(essential_parts) < 2:
        return len(essential_parts) >= 2
    if any(os.path.lexists(path + name) for name in _TRACES):
        return True
    try:
        with os.scandir(path + b"/objects") as entries:
            return any(_FAN_OUT.fullmatch(entry.name) for entry in entries)
    except OSError:
        return False


def common_directory(path: bytes, read: ReadFile) -> bytes:
    """Return the folder that the `commondir` file of `path` names, symlinks resolved.

    Raises what `read` raises, OSError if there is no such folder, and ValueError for a path that holds a NUL.
    """
    target = read(path + b"/commondir", _COMMON_DIR_MAXIMUM_BYTES).rstrip(b"\r\n")
    return real_path(os.path.join(path, target))


def real_path(path: bytes) -> bytes:
    """Return the path without symbolic links of what exists; raises OSError and ValueError.

    The system is asked first, for it bounds the length of paths and of chains of links; Python does neither.
    """
    os.stat(path)
    return os.path.realpath(path)


def _head_problem(path: bytes) -> str | None:
    """Say why HEAD could not be read; None if it is the symbolic link that old versions of git wrote."""
    head = path + b"/HEAD"
    try:
        status = os.lstat(head)
        if stat.S_ISLNK(status.st_mode):
            return None if os.readlink(head).startswith(b"refs/") else "HEAD is a symbolic link out of refs"
    except FileNotFoundError:
        return "no HEAD"
    except OSError as error:
        return f"HEAD cannot be read: {system_reason(error)}"
    if not stat.S_ISREG(status.st_mode):
        return f"HEAD is {kind_of_file(status.st_mode)}"
    if status.st_size > _HEAD_MAXIMUM_BYTES:
        return f"HEAD has {status.st_size} bytes"
    return "HEAD cannot be read"


def _folder_problem(common_dir: bytes, name: bytes, linked: bool) -> str:
    text = os.fsdecode(name[1:])
    where = f" in {presentable_bytes(common_dir)}" if linked else ""
    try:
        os.stat(common_dir + name)
    except FileNotFoundError:
        return f"no {text} folder{where}"
    except OSError as error:
        return f"{text} cannot be entered: {system_reason(error)}{where}"
    return f"{text} cannot be entered{where}"


def kind_of_file(mode: int) -> str:
    """Name the kind of a file that is not a regular one, with its article."""
    for test, name in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return name
    return "a file"


def system_reason(error: OSError) -> str:
    """Return the system's own words for an error, in lower case and without the path."""
    return (error.strerror or str(error)).lower()
