"""Operations in progress in a repository whose references are in reftables, which only git can be asked for.

There CHERRY_PICK_HEAD and its like are root references in the table of their work tree and no files, while the folders
of a rebase and MERGE_HEAD are files as ever. Source: gitglossary(7) "root refs", git-for-each-ref(1)
`--include-root-refs`, which came with reftables in git 2.45. What git cannot answer counts as an operation, and so
does a table that it would pass over without a word.
"""

import os
import threading
from collections.abc import Iterator
from typing import Final

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.inspection.files import FileError, read_start
from gitdash.inspection.reftables import unreadable_reftable
from gitdash.maintenance.others_at_work import OPERATIONS, in_progress, worktrees
from gitdash.model.inspection import Inspection, ReferenceBackend
from gitdash.model.report import RepositoryReport
from gitdash.units import printable, printable_path

_TIME_LIMIT_S: Final = 60.0
_COMMON_DIR_BYTES: Final = 4096


def operations_in_tables(
    report: RepositoryReport, program: GitProgram, cancel: threading.Event | None
) -> Iterator[str]:
    """Yield what is in progress in the main work tree and in every linked one; nothing where references are files.

    Raises GitError only if cancelled.
    """
    inspection = report.inspection
    if not isinstance(inspection, Inspection) or inspection.reference_backend is not ReferenceBackend.REFTABLE:
        return
    common_dir = report.repository.common_dir
    yield from _of(common_dir, None, program, cancel)
    for worktree in worktrees(common_dir):
        folder = b"/".join((common_dir, b"worktrees", worktree))
        if not os.path.lexists(folder + b"/reftable"):
            # git made none, so there is no reference
            continue
        if _belongs_to(folder, common_dir):
            yield from _of(folder, worktree, program, cancel)
        else:
            yield _unknown(worktree, "it is not one of this repository")


def _of(git_dir: bytes, worktree: bytes | None, program: GitProgram, cancel: threading.Event | None) -> Iterator[str]:
    damage = unreadable_reftable(git_dir)
    if damage is not None:
        yield _unknown(worktree, damage.reason)
        return
    names = [name.decode("ascii") for name, _ in OPERATIONS]
    try:
        output = run_git(
            program,
            ["for-each-ref", "--include-root-refs", "--format=%(refname)", *names],
            git_dir=git_dir,
            time_limit_s=_TIME_LIMIT_S,
            cancel=cancel,
        )
    except GitError as error:
        if cancel is not None and cancel.is_set():
            raise
        yield _unknown(worktree, str(error))
        return
    found = frozenset(output.stdout.splitlines())
    yield from (in_progress(operation, worktree) for name, operation in OPERATIONS if name in found)


def _belongs_to(folder: bytes, common_dir: bytes) -> bool:
    """Tell whether the git directory of a work tree leads git to this repository, whose files were looked at."""
    try:
        named = read_start(folder + b"/commondir", _COMMON_DIR_BYTES).rstrip(b"\n")
    except FileError:
        return False
    return os.path.realpath(os.path.join(folder, named)) == os.path.realpath(common_dir)


def _unknown(worktree: bytes | None, why: str) -> str:
    where = "" if worktree is None else f" in the work tree {printable_path(worktree)}"
    return f"nobody can say whether an operation is in progress{where}: {printable(why)}"
