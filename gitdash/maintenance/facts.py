"""Reads what a decision to act needs besides a report; the one part of the decision that is not pure.

Files are read through `inspection.files`; who else is at work, `others_at_work` reads. Sources: statvfs(3),
git-config(1), git-maintenance(1). git is asked whether all references lead somewhere, whether they lead to commits if
that matters, and from 2.53 on what it would do itself.
It judges nothing.
"""

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitOutput, GitProgram
from gitdash.gitcmd.output import first_complaint
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.store_files import irregular_file, irregular_reference_file
from gitdash.inspection.config_includes import include_problem
from gitdash.maintenance.action_facts import NOBODY_LOOKED_FOR, ActionFacts, Neighbourhood
from gitdash.maintenance.heuristics import may_have_pseudo_merges
from gitdash.maintenance.links import OBJECTS, find_links
from gitdash.maintenance.others_at_work import (
    gc_pid,
    live_locks,
    maintenance_lock,
    operations,
    worktree_with_references,
)
from gitdash.maintenance.pause import pause_marker
from gitdash.maintenance.remembered_loans import told_borrower
from gitdash.maintenance.root_references import operations_in_tables
from gitdash.maintenance.shared_files import linked_object_file, shared_with
from gitdash.maintenance.sharers import mounted_part, sharer_of
from gitdash.maintenance.stale_files import look_for_leftovers
from gitdash.maintenance.vouching import objection_to_lender
from gitdash.maintenance.work import STDOUT_LIMIT_BYTES
from gitdash.model.inspection import Inspection, ObjectStore
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task
from gitdash.units import printable, printable_path, sum_bytes

_SERVER_INFO: Final = b"objects/info/packs"
_READ_FILES: Final = (b"info/attributes", b"info/grafts", b"info/refs", _SERVER_INFO)
"""git reads them whenever it packs, follows the history, or writes the latter two anew."""

_REFERENCES_TIME_LIMIT_S: Final = 120.0
_WITHOUT_DERIVED_FILES: Final = (("core.commitGraph", "false"), ("core.multiPackIndex", "false"))
"""Damage of these is mended by tasks, and must not speak against them."""
_IS_NEEDED_TIME_LIMIT_S: Final = 20.0
_IS_NEEDED_SINCE: Final = (2, 53)
_GIT_TASKS: Final = (
    Task.LOOSE_OBJECTS,
    Task.INCREMENTAL_REPACK,
    Task.GEOMETRIC_REPACK,
    Task.COMMIT_GRAPH,
    Task.PACK_REFS,
)
"""Tasks that git-maintenance(1) has by the same name."""


def read_facts(  # noqa: PLR0913 - what the facts depend on, each by name
    report: RepositoryReport,
    *,
    program: GitProgram,
    now_s: float,
    is_read_only_mode: bool = False,
    policy: Policy | None = None,
    others: Neighbourhood = NOBODY_LOOKED_FOR,
    cancel: threading.Event | None = None,
) -> ActionFacts:
    """Read the facts of one repository as they are now; the report gives locks and says where everything lies.

    `others` are the repositories that might need its objects.
    Raises GitError only if cancelled: what git cannot answer is a fact, too.
    """
    repository = report.repository
    objects_dir = repository.common_dir + b"/objects"
    is_mounted_read_only, free_bytes = volume_of(objects_dir)
    links = find_links(repository.common_dir)
    irregular = _irregular_file(report) or next(map(_told, links.irregular), None)
    linked = linked_object_file(objects_dir)
    may_ask = irregular is None and _may_be_asked(report)
    return ActionFacts(
        read_at_s=now_s,
        git_version=program.version,
        effective_uid=os.geteuid(),
        owner_uid=_owner(objects_dir),
        free_bytes=free_bytes,
        is_read_only_mode=is_read_only_mode,
        is_mounted_read_only=is_mounted_read_only,
        lent_bytes_elsewhere=_lent_bytes_elsewhere(report),
        objects_is_link=os.path.islink(objects_dir),
        store_elsewhere=mounted_part(repository.common_dir)
        or sharer_of(repository.common_dir, others.paths, others.given_up),
        remembered_borrower=told_borrower(others.loans),
        why_borrowers_are_unknown=others.objection,
        searched_for_borrowers=tuple(map(printable_path, others.searched)),
        has_server_info=os.path.lexists(repository.common_dir + b"/" + _SERVER_INFO),
        links=tuple(printable_path(path) for path in links.paths if path != OBJECTS),
        has_unseen_names=not links.is_complete,
        linked_object=None if linked is None else printable_path(linked),
        shared_with_lender=_shared_with_lender(report, objects_dir),
        objection_to_lender=_objection_to_lender(report),
        pause=pause_marker(repository.git_dir, repository.common_dir),
        worktree_with_references=worktree_with_references(repository.common_dir),
        operations=(
            *operations(repository.common_dir),
            *(operations_in_tables(report, program, cancel) if may_ask else ()),
        ),
        maintenance_lock=maintenance_lock(objects_dir, cancel),
        gc_pid=gc_pid(report, policy or Policy(), now_s),
        live_locks=live_locks(report, policy or Policy(), now_s, cancel),
        stale_files=tuple(leftover.file for leftover in look_for_leftovers(report, now_s, others.loans, policy)),
        irregular_file=irregular,
        has_reference_to_no_commit=may_ask and _has_reference_to_no_commit(report, program, cancel),
        broken_references=_broken_references(report, program, cancel) if may_ask else None,
    )


def git_says_of_tasks(
    report: RepositoryReport, facts: ActionFacts, *, program: GitProgram, cancel: threading.Event | None = None
) -> tuple[tuple[Task, bool], ...]:
    """Return of which tasks git says that they are needed, and of which that they are not; for a plan alone.

    Raises GitError only if cancelled.
    """
    may_ask = facts.irregular_file is None and _may_be_asked(report)
    return tuple(_is_needed(report, program, cancel)) if may_ask else ()


def volume_of(objects_dir: bytes) -> tuple[bool, int | None]:
    """Return whether a folder is mounted read-only, and the free bytes there; None if the file system does not say."""
    try:
        volume = os.statvfs(objects_dir)
    except OSError:
        return False, None
    return bool(volume.f_flag & os.ST_RDONLY), volume.f_bavail * volume.f_frsize


def _shared_with_lender(report: RepositoryReport, objects_dir: bytes) -> str | None:
    shared = (shared_with(objects_dir, lender.path) for lender in report.alternate_stores if lender.exists)
    return next((what for what in shared if what is not None), None)


def _objection_to_lender(report: RepositoryReport) -> str | None:
    objections = (objection_to_lender(lender.path) for lender in report.alternate_stores if lender.exists)
    return next((objection for objection in objections if objection is not None), None)


def _lent_bytes_elsewhere(report: RepositoryReport) -> int:
    store = report.inspection.object_store if isinstance(report.inspection, Inspection) else None
    device = store.device if isinstance(store, ObjectStore) else None
    return sum_bytes(
        size_bytes
        for lender in report.alternate_stores
        if lender.exists and lender.device != device
        for size_bytes in _file_sizes(lender.path)
    )


def _file_sizes(objects_dir: bytes) -> Iterator[int]:
    """Yield the bytes of what lies in `pack` and in the folders of loose objects; a folder that is closed has none."""
    for name in (b"pack", *(b"%02x" % number for number in range(256))):
        with contextlib.suppress(OSError), os.scandir(objects_dir + b"/" + name) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_size


def _owner(objects_dir: bytes) -> int | None:
    try:
        return os.stat(objects_dir).st_uid
    except OSError:
        return None


def _irregular_file(report: RepositoryReport) -> str | None:
    """Return what git would open that is no file, in the repository, in its includes and in its lenders."""
    repository = report.repository
    stores = [repository.common_dir + b"/objects"]
    stores += [lender.path for lender in report.alternate_stores if lender.exists]
    found = [(store, irregular_file(store)) for store in stores]
    found += [(folder, irregular_reference_file(folder)) for folder in {repository.git_dir, repository.common_dir}]
    for folder, irregular in found:
        if irregular is not None:
            return f"{printable_path(folder + b'/' + irregular[0])} is {irregular[1]}"
    for name in _READ_FILES:
        path = repository.common_dir + b"/" + name
        if os.path.exists(path) and not os.path.isfile(path):
            return f"{printable_path(path)} is not a regular file"
    return include_problem(repository.git_dir, repository.common_dir)


def _told(irregular: bytes) -> str:
    return f"{printable_path(irregular)} is not a regular file"


def _ask_of_references(
    report: RepositoryReport,
    arguments: Sequence[str],
    program: GitProgram,
    cancel: threading.Event | None,
    *,
    check: bool = True,
) -> GitOutput:
    return run_git(
        program,
        arguments,
        git_dir=report.repository.common_dir,
        config=_WITHOUT_DERIVED_FILES,
        time_limit_s=_REFERENCES_TIME_LIMIT_S,
        cancel=cancel,
        check=check,
        stdout_limit_bytes=STDOUT_LIMIT_BYTES,
    )


def _broken_references(report: RepositoryReport, program: GitProgram, cancel: threading.Event | None) -> str | None:
    """Ask git to look at the tip of every reference; what it says beside the answer counts, too."""
    try:
        output = _ask_of_references(report, ["rev-list", "--all", "--max-count=1"], program, cancel, check=False)
    except GitError as error:
        _raise_if_cancelled(error, cancel)
        return printable(str(error))
    complaint = first_complaint(output.stderr)
    if output.exit_code == 0 and not complaint:
        return None
    return printable(complaint or f"git rev-list ended with exit code {output.exit_code}")


def _has_reference_to_no_commit(report: RepositoryReport, program: GitProgram, cancel: threading.Event | None) -> bool:
    """Ask git what each reference, or the tag that it names, leads to; no answer counts as no commit."""
    if not may_have_pseudo_merges(report, program.version):
        return False
    try:
        types = ["for-each-ref", "--format=%(objecttype) %(*objecttype)"]
        output = _ask_of_references(report, types, program, cancel)
    except GitError as error:
        _raise_if_cancelled(error, cancel)
        return True
    return not {b"commit", b"tag commit"}.issuperset(map(bytes.rstrip, output.stdout.splitlines()))


def _is_needed(
    report: RepositoryReport, program: GitProgram, cancel: threading.Event | None
) -> Iterator[tuple[Task, bool]]:
    """Without `--auto` the answer is always yes; exit code 0 is yes, 1 is no, and anything else no answer."""
    if program.version < _IS_NEEDED_SINCE:
        return
    for task in _GIT_TASKS:
        try:
            output = run_git(
                program,
                ["maintenance", "is-needed", "--auto", f"--task={task.value}"],
                git_dir=report.repository.common_dir,
                time_limit_s=_IS_NEEDED_TIME_LIMIT_S,
                cancel=cancel,
                check=False,
            )
        except GitError as error:
            _raise_if_cancelled(error, cancel)
            return
        if output.exit_code in {0, 1}:
            yield task, output.exit_code == 0


def _may_be_asked(report: RepositoryReport) -> bool:
    """Run no git in what is another's or could not be read: it is refused in any case."""
    return isinstance(report.inspection, Inspection) and report.repository.foreign_owner_uid is None


def _raise_if_cancelled(error: GitdashError, cancel: threading.Event | None) -> None:
    if cancel is not None and cancel.is_set():
        raise error
