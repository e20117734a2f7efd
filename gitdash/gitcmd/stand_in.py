"""A git directory of our own for a fetch: the repository's references and objects, and a config that we wrote.

git reads config, hooks, legacy remotes, grafts, attributes and worktree config from the git directory. A fetch must
write references, so unlike a shadow (`shadow`) a stand-in leads, by symbolic links, to those of the repository: `refs`,
`packed-refs`, `reftable`, `logs`, `shallow` and `worktrees`. Whatever the repository's config says, and all that it
includes, has no effect on who is asked, by which program, and with whose credentials; the user's and the system's
config are read as in every fetch. Source: gitrepository-layout(5); git's contrib/workdir/git-new-workdir, which links
the same names; lockfile.c and refs/packed-backend.c, which lock and replace what a link leads to, so that other
processes of git and we exclude each other.

Only HEAD's lock is not shared: no fetch that gitdash starts moves a branch that is checked out. A log of references is
written where the repository has a folder for logs already.
"""

import contextlib
import functools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.shadow import held_folder
from gitdash.gitcmd.store_files import irregular_file, irregular_reference_file
from gitdash.units import printable_path

_LINKED: Final = (b"refs", b"packed-refs", b"shallow")
"""What git may make anew: the links lead there before it exists."""
_LINKED_IF_THERE: Final = (b"reftable", b"logs", b"worktrees")
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\b": "\\b"}
_ASK: Final = b"#!/bin/sh\nprintf '%s\\n' \"$1\" >&2\nexit 1\n"

Key = tuple[str, str | None, str]
"""Section, subsection, name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A git directory that stands in for a repository's own during a fetch."""

    folder: str
    """Where it lies: a folder that only we can enter, gone when the context ends."""
    environment: dict[str, str]
    """What `run_git` needs: GIT_DIR and GIT_OBJECT_DIRECTORY."""

    @property
    def asking_program(self) -> str:
        """What ssh may ask for a passphrase: it says what was asked on stderr, and that nobody answers."""
        return os.path.join(self.folder, "ask")

    @property
    def trace_file(self) -> str:
        """A path in it for what git traces."""
        return os.path.join(self.folder, "trace")


@contextlib.contextmanager
def stand_in(
    common_dir: bytes,
    *,
    head: bytes,
    config: Sequence[tuple[Key, str]],
    keeps_objects: bool,
    looks_at_loose: bool = True,
) -> Iterator[StandIn]:
    """Make a stand-in for a repository and remove it when the context ends, however it ends.

    Raises GitError if there is no folder for temporary files, or if the store holds something that git would wait for.

    Args:
        common_dir: Absolute.
        head: What the file HEAD says.
        config: All that git is to know of the repository.
        keeps_objects: What is fetched goes into the repository's store; else it is gone with the stand-in, for a
            preview must not fill the store.
        looks_at_loose: Whether loose objects may be something else than files; see `irregular_file`.
    """
    _refuse_what_holds_git_up(common_dir, looks_at_loose=looks_at_loose)
    if not os.path.isdir(common_dir + b"/logs"):
        config = [*config, (("core", None, "logallrefupdates"), "false")]
    objects = os.fsdecode(common_dir + b"/objects")
    own_folders = () if keeps_objects else ("objects",)
    with held_folder(functools.partial(_fill, common_dir, head, config, own_folders)) as folder:
        environment = {"GIT_DIR": folder, "GIT_OBJECT_DIRECTORY": objects}
        if not keeps_objects:
            environment["GIT_OBJECT_DIRECTORY"] = os.path.join(folder, "objects")
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted_path(objects)
        yield StandIn(folder=folder, environment=environment)


def config_text(config: Sequence[tuple[Key, str]]) -> str:
    r"""Return a config file that says this; each value stands in quotes, with git's escapes."""
    lines: list[str] = []
    for (section, subsection, name), value in config:
        quoted = "" if subsection is None else ' "' + subsection.replace("\\", "\\\\").replace('"', '\\"') + '"'
        lines.append(f'[{section}{quoted}]\n\t{name} = "{"".join(_ESCAPES.get(c, c) for c in value)}"\n')
    return "".join(lines)


def _refuse_what_holds_git_up(common_dir: bytes, *, looks_at_loose: bool) -> None:
    for prefix, irregular in (
        ("objects/", irregular_file(common_dir + b"/objects", looks_at_loose=looks_at_loose)),
        ("", irregular_reference_file(common_dir)),
    ):
        if irregular is not None:
            name, kind = printable_path(irregular[0]), irregular[1]
            raise GitError(f"{prefix}{name} is {kind}, and git would open it", kind=GitFailure.REFUSED)


def _fill(
    common_dir: bytes, head: bytes, config: Sequence[tuple[Key, str]], own_folders: Sequence[str], folder: str
) -> None:
    for own_folder in own_folders:
        os.mkdir(os.path.join(folder, own_folder), 0o700)
    path = os.fsencode(folder) + b"/"
    for name in (*_LINKED, *_LINKED_IF_THERE):
        target = common_dir + b"/" + name
        if name in _LINKED or os.path.isdir(target):
            os.symlink(target, path + name)
    text = config_text(config).encode("utf-8", "surrogateescape")
    for name, content in ((b"HEAD", head), (b"config", text), (b"ask", _ASK)):
        _write(path + name, content)


def _write(path: bytes, content: bytes) -> None:
    with open(path, "xb", opener=_private) as file:
        file.write(content)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o700)


def _quoted_path(path: str) -> str:
    """Return a path for a list of paths that colons separate; git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
