"""The tips of a repository for a size query: read from files, or by git where files are not enough (reftable).

git is asked only for repositories that its own ownership check would accept, for it reads their configuration.
"""

import re
import threading
from collections.abc import Sequence

from gitdash.errors import GitdashError
from gitdash.gitcmd.runner import GitError, GitFailure, GitProgram, run_git
from gitdash.inspection.references import ReferenceTips, read_tips
from gitdash.model.inspection import ObjectFormat, ReferenceBackend

_REFTABLE_SINCE = (2, 45)
_TIME_LIMIT_S = 60.0
_LINE = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) ([^\n]+)")


def tips_of(
    git_dir: bytes,
    common_dir: bytes,
    *,
    object_format: ObjectFormat,
    backend: ReferenceBackend,
    is_foreign: bool,
    program: GitProgram,
    cancel: threading.Event | None = None,
) -> ReferenceTips:
    """Return all references with their ids, HEADs included. Raises FileError, FormatError or GitError."""
    if backend is ReferenceBackend.FILES:
        return read_tips(git_dir, common_dir, object_format)
    if is_foreign:
        raise GitError("reftable needs git, which refuses repositories of another owner", kind=GitFailure.REFUSED)
    if program.version < _REFTABLE_SINCE:
        raise GitError("reftable needs git 2.45 or newer", kind=GitFailure.TOO_OLD)
    listed = run_git(
        program,
        ["for-each-ref", "--format=%(objectname) %(refname)"],
        git_dir=git_dir,
        time_limit_s=_TIME_LIMIT_S,
        cancel=cancel,
    ).stdout
    head = run_git(
        program,
        ["rev-parse", "--verify", "--quiet", "HEAD"],
        git_dir=git_dir,
        time_limit_s=_TIME_LIMIT_S,
        cancel=cancel,
        check=False,
    ).stdout
    lines = listed.splitlines() + ([head.strip() + b" HEAD"] if head.strip() else [])
    found = [match for match in map(_LINE.fullmatch, lines) if match]
    return ReferenceTips(references=tuple((match[2], match[1].decode()) for match in found), broken=())
