"""Which git there is: where it lies, and whether it is new enough. Source: git-version(1)."""

import os
import re
from dataclasses import replace
from typing import Final

from gitdash.gitcmd.environment import search_path
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import DEFAULT_MEMORY_LIMIT_BYTES, GitProgram
from gitdash.gitcmd.runner import run_git

OLDEST_VERSION: Final = (2, 39)
"""Older ones lack flags that the matrix of safe commands was tried with."""

_TIME_LIMIT_S: Final = 20.0


def find_git(program: str | None = None, *, memory_limit_bytes: int | None = None) -> GitProgram:
    """Return the git to use: `program`, a path or a name, else `git` on PATH. Relative PATH entries do not count.

    `memory_limit_bytes` holds for all calls of it; None is half of the machine, at most 8 GiB.
    Raises GitError with kind MISSING or TOO_OLD.
    """
    path = _locate(program or "git")
    if path is None:
        where = f"no program {program!r}" if program else "no git on PATH"
        raise GitError(f"{where}: gitdash needs git {_dotted(OLDEST_VERSION)} or newer", kind=GitFailure.MISSING)
    limit_bytes = DEFAULT_MEMORY_LIMIT_BYTES if memory_limit_bytes is None else memory_limit_bytes
    unknown = GitProgram(path=path, version=(), version_text="", memory_limit_bytes=limit_bytes)
    try:
        output = run_git(unknown, ["version"], time_limit_s=_TIME_LIMIT_S)
    except GitError as error:
        raise GitError(f"{path!r} does not run: {error}", kind=GitFailure.MISSING, stderr=error.stderr) from error
    text = output.stdout.decode("utf-8", "replace").strip().removeprefix("git version ")
    match = re.match(r"\d+(?:\.\d+)+", text)
    if match is None:
        raise GitError(f"{path!r} is not git: its version is {text[:80]!r}", kind=GitFailure.MISSING)
    version = tuple(int(number) for number in match.group().split("."))
    if version < OLDEST_VERSION:
        oldest = _dotted(OLDEST_VERSION)
        raise GitError(f"git {text} at {path!r} is too old: gitdash needs {oldest} or newer", kind=GitFailure.TOO_OLD)
    return replace(unknown, version=version, version_text=text)


def _locate(program: str) -> str | None:
    folders = [""] if "/" in program else search_path(os.environ).split(":")
    for folder in folders:
        path = os.path.join(folder, program) if folder else os.path.abspath(os.path.expanduser(program))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
