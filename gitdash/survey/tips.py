"""The tips of a repository for a size query: read from files, or by git where files are not enough (reftable).

git is asked only for repositories that its own ownership check would accept, for it reads their configuration.
"""

import os
import re
import threading
from dataclasses import dataclass

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.store_files import irregular_reference_file
from gitdash.inspection.config_includes import include_problem
from gitdash.inspection.references import ReferenceTips, read_tips
from gitdash.inspection.reftables import unreadable_reftable
from gitdash.model.inspection import Inspection, ObjectFormat, ReferenceBackend
from gitdash.model.repository import Repository, Unreadable
from gitdash.units import printable

_REFTABLE_SINCE = (2, 45)
_TIME_LIMIT_S = 60.0
_IGNORED = re.compile(r"^warning: ignoring (?:broken ref|ref with broken name) (.+)$", re.MULTILINE)
_LINE = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) ([^\n]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TipsSource:
    """Where the references of one repository are."""

    git_dir: bytes
    common_dir: bytes
    object_format: ObjectFormat
    backend: ReferenceBackend
    is_foreign: bool
    """Another user owns it: git is not to be run in it."""


def tips_source(repository: Repository, inspection: Inspection) -> TipsSource:
    """Return where an inspected repository has its references."""
    return TipsSource(
        git_dir=repository.git_dir,
        common_dir=repository.common_dir,
        object_format=inspection.object_format,
        backend=inspection.reference_backend,
        is_foreign=repository.is_foreign,
    )


def tips_of(source: TipsSource, program: GitProgram, cancel: threading.Event) -> ReferenceTips | Unreadable:
    """Return all references with their ids, HEADs included."""
    try:
        if source.backend is ReferenceBackend.FILES:
            return read_tips(source.git_dir, source.common_dir, source.object_format)
        return why_not_by_git(source, program) or _tips_by_git(source.git_dir, program, cancel)
    except GitdashError as error:
        return Unreadable(printable(f"references: {error}"))


def why_not_by_git(source: TipsSource, program: GitProgram) -> Unreadable | None:
    """Return why git cannot be asked for the references of a reftable; None if its answer will be good."""
    if source.is_foreign:
        return Unreadable("its reftable needs git, which refuses repositories of another owner")
    if program.version < _REFTABLE_SINCE:
        return Unreadable(f"its reftable needs git 2.45 or newer, this is {program.version_text}")
    problem = include_problem(source.git_dir, source.common_dir)
    if problem is not None:
        return Unreadable(problem)
    for folder in dict.fromkeys((source.git_dir, source.common_dir)):
        irregular = irregular_reference_file(folder)
        if irregular is not None:
            return Unreadable(printable(f"{os.fsdecode(irregular[0])} is {irregular[1]}, and git would open it"))
        unreadable = unreadable_reftable(folder)
        if unreadable is not None:
            return unreadable
    return None


def _tips_by_git(git_dir: bytes, program: GitProgram, cancel: threading.Event) -> ReferenceTips:
    listing = ["for-each-ref", "--format=%(objectname) %(refname)"]
    listed = run_git(program, listing, git_dir=git_dir, time_limit_s=_TIME_LIMIT_S, cancel=cancel)
    # An unborn HEAD has no id, and rev-parse then fails without a word.
    resolving = ["rev-parse", "--verify", "--quiet", "HEAD"]
    head = run_git(program, resolving, git_dir=git_dir, time_limit_s=_TIME_LIMIT_S, cancel=cancel, check=False)
    lines = [*listed.stdout.splitlines(), head.stdout.strip() + b" HEAD"]
    found = [match for match in map(_LINE.fullmatch, lines) if match]
    return ReferenceTips(
        references=tuple((match[2], match[1].decode()) for match in found),
        broken=tuple((os.fsencode(name), "git says it is broken") for name in _IGNORED.findall(listed.stderr)),
    )


def first_tip(repository: Repository, inspection: Inspection) -> str | None:
    """Return the id of one reference that lies in files; None if there is none, or none that can be read."""
    try:
        tips = read_tips(repository.git_dir, repository.common_dir, inspection.object_format)
    except GitdashError:
        return None
    return next((object_id for _, object_id in tips.references), None)
