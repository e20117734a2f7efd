"""What a `.git` entry leads to: a folder, a file with a path, or a symbolic link.

Source: gitrepository-layout(5), "A gitfile"; setup.c of git 2.39.5, `read_gitfile_gently`. A path that a `.git` file
names is followed wherever it leads, as git does; a symbolic link is followed only inside the root. Chains of `.git`
files do not exist: the target must be a git directory.
"""

import os
import stat
from dataclasses import dataclass
from typing import Final

from gitdash.discovery.git_directory import GitDirectory, ReadFile, examine, kind_of_file, real_path, system_reason
from gitdash.errors import GitdashError
from gitdash.formats.git_config import read_config
from gitdash.formats.git_file import MAXIMUM_BYTES, read_git_file
from gitdash.formats.reading import FormatError
from gitdash.gitcmd.masking import presentable_bytes
from gitdash.model.repository import RepositoryKind

_CONFIG_MAXIMUM_BYTES: Final = 1 << 20
_SHOWN_TARGET_LENGTH: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The repository that a `.git` entry leads to."""

    git_dir: bytes
    common_dir: bytes
    kind: RepositoryKind
    owned_paths: tuple[bytes, ...]
    """What git's ownership check looks at, in its order, when it starts in the work tree."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A `.git` entry that stands for a repository and leads to none."""

    reason: str


def follow(folder: bytes, real_root: bytes, read: ReadFile) -> Target | Broken | str | None:
    """Return where `folder/.git` leads; None if it has vanished meanwhile, text if it is not to be followed."""
    entry = folder + b"/.git"
    try:
        mode = os.lstat(entry).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        return Broken(system_reason(error))
    if stat.S_ISDIR(mode):
        return _target(folder, entry, read)
    if stat.S_ISREG(mode):
        return _follow_file(folder, read)
    if stat.S_ISLNK(mode):
        return _follow_link(folder, real_root, read)
    return f"{kind_of_file(mode)}, neither a folder nor a file"


def _follow_file(folder: bytes, read: ReadFile) -> Target | Broken:
    entry = folder + b"/.git"
    try:
        path = read_git_file(read(entry, MAXIMUM_BYTES))
    except FormatError as error:
        return Broken(error.message)
    except GitdashError as error:
        return Broken(f"cannot be read: {_why_unreadable(entry, error)}")
    shown = presentable_bytes(path)[:_SHOWN_TARGET_LENGTH]
    try:
        git_dir = real_path(os.path.join(folder, path))
    except OSError as error:
        return Broken(f"names {shown}: {system_reason(error)}")
    target = _target(folder, git_dir, read)
    if isinstance(target, Target):
        return target
    return Broken(f"names {shown}, which is no git directory: {target.reason}")


def _follow_link(folder: bytes, real_root: bytes, read: ReadFile) -> Target | Broken | str:
    entry = folder + b"/.git"
    try:
        git_dir = real_path(entry)
    except OSError as error:
        return Broken(f"a symbolic link that leads nowhere: {system_reason(error)}")
    if not is_below(git_dir, real_root):
        return "a symbolic link out of the root, which is not followed"
    return _target(folder, git_dir, read)


def _target(folder: bytes, git_dir: bytes, read: ReadFile) -> Target | Broken:
    entry = folder + b"/.git"
    examined = examine(git_dir, read)
    if isinstance(examined, str):
        return Broken(examined)
    owned_paths = (folder, entry) if git_dir == entry else (entry, folder, git_dir)
    kind = RepositoryKind.WORKTREE if git_dir == entry else kind_elsewhere(git_dir, examined, read)
    return Target(git_dir=git_dir, common_dir=examined.common_dir, kind=kind, owned_paths=owned_paths)


def kind_elsewhere(git_dir: bytes, examined: GitDirectory, read: ReadFile) -> RepositoryKind:
    """Return the kind of a git directory that a `.git` entry elsewhere names."""
    if examined.linked:
        return RepositoryKind.LINKED_WORKTREE
    if lies_in_modules(git_dir, read):
        return RepositoryKind.SUBMODULE
    return RepositoryKind.BARE if _is_bare(examined.common_dir, read) else RepositoryKind.WORKTREE


def lies_in_modules(git_dir: bytes, read: ReadFile) -> bool:
    """Say whether the path leads through, or to, the `modules` folder of another git directory."""
    path = git_dir + b"/"
    position = path.find(b"/modules/")
    while position >= 0:
        if isinstance(examine(path[:position], read), GitDirectory):
            return True
        position = path.find(b"/modules/", position + 1)
    return False


def is_below(path: bytes, root: bytes) -> bool:
    """Say whether `path` is `root` or lies below it; both absolute, without `..`."""
    return path == root or path.startswith(root.rstrip(b"/") + b"/")


def _is_bare(common_dir: bytes, read: ReadFile) -> bool:
    """Say whether `core.bare` is true; a config that cannot be read says nothing."""
    try:
        entries = read_config(read(common_dir + b"/config", _CONFIG_MAXIMUM_BYTES))
    except GitdashError:
        return False
    values = [
        entry.value for entry in entries if (entry.section, entry.subsection, entry.name) == ("core", None, "bare")
    ]
    return bool(values) and (values[-1] is None or values[-1].lower() in {b"true", b"yes", b"on", b"1"})


def _why_unreadable(path: bytes, error: GitdashError) -> str:
    """Return the reason without the path, which the reader of the reason sees already."""
    try:
        size_bytes = os.lstat(path).st_size
    except OSError as system_error:
        return system_reason(system_error)
    if size_bytes > MAXIMUM_BYTES:
        return f"{size_bytes} bytes are too large for a .git file"
    reason = getattr(error, "reason", None)
    return reason if isinstance(reason, str) else "not readable"
