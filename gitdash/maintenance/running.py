"""Runs one task: under the lock, from facts that are read again, step by step, and says what came of it.

Whether anything changed is told by what lies in the repository before and after, never by git's exit code: git says 0
for what it skipped, too. Source: git-maintenance(1). What a task consists of, `tasks` says; whether it
may run, `refusals`; how its steps are run, `stepping`.
"""

import dataclasses
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final

import msgspec

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.maintenance.action_facts import NOBODY_LOOKED_FOR, Neighbourhood
from gitdash.maintenance.changes import LISTED_REMOVED, State, doubled_by_stopped, read_state, removed_between
from gitdash.maintenance.facts import read_facts
from gitdash.maintenance.figures import figures_of
from gitdash.maintenance.lasting import lasting_files
from gitdash.maintenance.leftovers import leftovers
from gitdash.maintenance.links_meanwhile import sentence_on_links
from gitdash.maintenance.lock import LOCK_NAME, LockHeldError, LockRefusedError, hold_locks, lock_bytes
from gitdash.maintenance.others_at_work import place_of
from gitdash.maintenance.outcomes import classify
from gitdash.maintenance.own_leavings import remove_own_leavings, removed_sentence
from gitdash.maintenance.reclaiming import dropped_objects, note_objects, require_confirmation
from gitdash.maintenance.refusals import refusals_of
from gitdash.maintenance.stepping import Surroundings, run_steps
from gitdash.maintenance.steps import CHECK_LENDERS, removes_own_copies
from gitdash.maintenance.tasks import steps_of
from gitdash.maintenance.verdicts import locks_of_store, success, unbegun
from gitdash.maintenance.work import TaskStoppedError, Work, objects_dir_of, refused
from gitdash.model.inspection import Inspection
from gitdash.model.ledger import Outcome, Reason, RecordedCommand, StoreFigures
from gitdash.model.plan import PlannedTask, Refusal, Step
from gitdash.model.policy import Policy
from gitdash.model.progress import CommandProgress
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Role
from gitdash.model.task import Task
from gitdash.units import counted, printable_path

DEFAULT_TIME_LIMIT_S: Final = 21_600.0
"""Of one command: a full repack of a very large repository takes hours."""
_SHOWN_LEFT: Final = 5
_VANISHED: Final = "the repository is not there any more"
_LOCKS_LENDERS: Final = frozenset({Task.DEDUPLICATE, Task.UNLINK})
"""Tasks that rely on what lenders have while they run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What came of one task."""

    outcome: Outcome
    reason: Reason | None = None
    """None if it went as asked."""
    sentence: str
    """What became of it, for people."""
    before: StoreFigures | None = None
    after: StoreFigures | None = None
    removed: tuple[str, ...] = ()
    """Files that are gone, relative to the common directory, at most 1,000. Printable."""
    removed_count: int = 0
    """Of all."""
    dropped_ids: tuple[str, ...] = ()
    """Objects that are gone for good, in hexadecimal, the largest first, at most 1,000."""
    dropped_count: int = 0
    """Of all."""
    commands: tuple[RecordedCommand, ...] = ()
    leftovers: tuple[str, ...] = ()
    """Locks and temporary files that were not there before. Printable."""


def run_task(  # noqa: PLR0913 - what a task needs of its surroundings, each by name
    report: RepositoryReport,
    planned: PlannedTask,
    *,
    look: Callable[[], RepositoryReport],
    program: GitProgram,
    cancel: threading.Event,
    on_step: Callable[[str, int, int], None],
    close_readers: Callable[[], None],
    warm_readers: Callable[[], None],
    now_s: float,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    policy: Policy | None = None,
    others: Neighbourhood = NOBODY_LOOKED_FOR,
    look_around: Callable[[], Neighbourhood] | None = None,
    on_progress: Callable[[CommandProgress], None] | None = None,
    confirmed_name: bytes | None = None,
) -> TaskResult:
    """Run one task of a plan; no error of git or of the file system leaves it.

    `time_limit_s` is for each command, `on_progress` hears how far one is. `confirmed_name` is what a person typed to
    confirm RECLAIM; `others` are the repositories that might need its objects, and `look_around` looks for them again
    before any are dropped.
    """
    work = Work(
        report=report,
        program=program,
        cancel=cancel,
        time_limit_s=time_limit_s,
        started_at_s=now_s,
        on_progress=on_progress,
        confirmed_name=confirmed_name,
        loans=others.loans,
        searched=others.searched,
        policy=policy,
    )
    around = Surroundings(
        look=look,
        others=others,
        look_around=look_around or (lambda: others),
        policy=policy,
        on_step=on_step,
        close_readers=close_readers,
        warm_readers=warm_readers,
    )
    if planned.refusals:
        return _not_run(work, planned.refusals)
    try:
        with _locks(work, planned.task):
            return _under_lock(work, around, planned.task)
    except LockRefusedError as error:
        return _ended(work, Outcome.REFUSED, Reason.PERMISSION, str(error))
    except LockHeldError as error:
        return _ended(work, Outcome.SKIPPED, Reason.LOCK_HELD, str(error))
    except (GitdashError, OSError) as error:
        return _failed(work, error)


def _locks(work: Work, task: Task) -> AbstractContextManager[None]:
    """A task that only reads takes none: it may read while others write, as git does."""
    if not task.changes_repository:
        return nullcontext()
    lenders = _lender_stores(work.report) if task in _LOCKS_LENDERS else ()
    return hold_locks((objects_dir_of(work.report),), optional=lenders, now_s=work.now_s, cancel=work.cancel)


def _lender_stores(report: RepositoryReport) -> tuple[bytes, ...]:
    return tuple(lender.path for lender in report.alternate_stores if lender.problem is None)


def _under_lock(work: Work, around: Surroundings, task: Task) -> TaskResult:
    work.report = _with_known_relatives(around.look(), work.report)
    facts = read_facts(
        work.report,
        program=work.program,
        now_s=work.now_s,
        policy=around.policy,
        others=around.others,
        cancel=work.cancel,
    )
    refusals = refusals_of(task, work.report, facts)
    if refusals:
        return _not_run(work, refusals)
    work.task, work.facts = task, facts
    work.links = frozenset(facts.links) if task.changes_repository else None
    steps = steps_of(task, work.report, facts)
    _require_safe_steps(work, task, steps)
    if task is Task.RECLAIM:
        note_objects(work)
    before = _figures(work.report, task)
    state = read_state(work.report.repository.common_dir)
    error = run_steps(work, around, steps)
    return _with_links_met(work, _judged(work, around, task, error, before, state))


def _with_links_met(work: Work, result: TaskResult) -> TaskResult:
    """Say where git may have written for another: no lock keeps a link from being put there while it runs."""
    sentence = sentence_on_links(work)
    if sentence is None or sentence in result.sentence or result.reason is Reason.VANISHED:
        return result
    outcome, reason = (Outcome.FAILED, Reason.OTHER) if result.outcome.is_good else (result.outcome, result.reason)
    return dataclasses.replace(result, outcome=outcome, reason=reason, sentence=f"{sentence}; {result.sentence}")


def _with_known_relatives(fresh: RepositoryReport, known: RepositoryReport) -> RepositoryReport:
    """Keep what only a survey of others tells: who borrows from it, and that another has the same object store."""
    return msgspec.structs.replace(
        fresh,
        roles=tuple(dict.fromkeys((*fresh.roles, *(role for role in known.roles if role is Role.POOL)))),
        borrowers=tuple(sorted({*fresh.borrowers, *known.borrowers})),
        counts_store=fresh.counts_store and known.counts_store,
    )


def _figures(report: RepositoryReport, task: Task) -> StoreFigures:
    store = objects_dir_of(report)
    # a store that a link leads to is counted nowhere here
    has_lock = task.changes_repository and os.path.dirname(store) == os.path.realpath(report.repository.common_dir)
    return figures_of(report, own_lock_bytes=lock_bytes(store) if has_lock else 0)


def _not_run(work: Work, refusals: Sequence[Refusal]) -> TaskResult:
    return _ended(work, *unbegun(refusals))


def _require_safe_steps(work: Work, task: Task, steps: Sequence[Step]) -> None:
    """Refuse steps that could drop an object, whatever planned them. Raises TaskStoppedError."""
    if task is Task.RECLAIM:
        require_confirmation(work, steps)
        return
    if work.lenders and any(map(removes_own_copies, steps)) and not any(step.act == CHECK_LENDERS for step in steps):
        raise refused("it would lose its own copies of what a lender has")


def _judged(
    work: Work,
    around: Surroundings,
    task: Task,
    error: GitdashError | OSError | None,
    before: StoreFigures,
    state: State,
) -> TaskResult:
    """Look once more, and say what became of it."""
    report_before = work.report
    common_dir = report_before.repository.common_dir
    if not os.path.isdir(common_dir):
        return _ended(work, Outcome.FAILED, Reason.VANISHED, _VANISHED)
    if error is not None:
        _remove_own_leavings(work)
    report = around.look()
    after = _figures(report, task)
    state_after = read_state(common_dir)
    removed, removed_count = removed_between(state, state_after)
    dropped = dropped_objects(work)
    if error is not None:
        _note_doubled(work, task, state, state_after)
        left = _left_by(work, report)
        failed = _failed(work, error, before=before, after=after, left=left)
        return dataclasses.replace(
            failed,
            removed=removed,
            removed_count=removed_count,
            dropped_ids=dropped[:LISTED_REMOVED],
            dropped_count=len(dropped),
        )
    changed = state != state_after
    held = () if changed else _lasting_locks(work, report)
    outcome, reason, sentence = success(task, before, after, changed=changed, held=held)
    gone = _still_gone(work.removed, state_after)
    if work.removed and outcome is Outcome.NOTHING_TO_DO:
        outcome, sentence = Outcome.DONE, _replaced(work.removed, gone)
    sentence = "; ".join((sentence, *work.notes))
    extra = tuple(path for path in gone if path not in frozenset(removed))
    return TaskResult(
        outcome=outcome,
        reason=reason,
        sentence=sentence,
        before=before,
        after=after,
        removed=(removed + extra)[:LISTED_REMOVED],
        removed_count=max(removed_count + len(extra), len(gone)),
        dropped_ids=dropped[:LISTED_REMOVED],
        dropped_count=len(dropped),
        commands=tuple(work.commands),
    )


def _still_gone(removed: Sequence[str], state: State) -> tuple[str, ...]:
    """Return those files and folders, as told, of which nothing is there again."""
    if not removed:
        return ()
    there = {printable_path(path) for path in state}
    folders = {path.rpartition("/")[0] for path in there}
    return tuple(path for path in removed if path not in there and path not in folders)


def _replaced(removed: Sequence[str], gone: Sequence[str]) -> str:
    """Say what became of files by which a repository looks as before: what was damaged has the same name and size."""
    anew = [path for path in dict.fromkeys(removed) if path not in frozenset(gone)]
    parts = [f"{counted(len(gone), 'file')} removed"] if gone else []
    parts += (
        [f"{', '.join(anew[:_SHOWN_LEFT])} {'was' if len(anew) == 1 else 'were'} removed and written anew"]
        if anew
        else []
    )
    return "; ".join(parts)


def _lasting_locks(work: Work, report: RepositoryReport) -> tuple[str, ...]:
    """Return the locks that a task that changed nothing has met, and that are still there a moment later."""
    places = {path: place_of(report, path) for path in locks_of_store(report)}
    lasting = lasting_files([place for place in places.values() if place is not None], work.cancel)
    return tuple(path for path, place in places.items() if place is None or place in lasting)


def _remove_own_leavings(work: Work) -> None:
    removed = remove_own_leavings(work.report, objects_dir_of(work.report), work.written_when_stopped)
    if removed:
        work.notes.append(removed_sentence(removed))


def _note_doubled(work: Work, task: Task, before: State, after: State) -> None:
    """Say that objects may be here twice: git puts the new pack in its place before it removes what that replaces."""
    new = doubled_by_stopped(before, after) if task.changes_repository and task not in _LOCKS_LENDERS else ()
    if new:
        shown = ", ".join(new[:_SHOWN_LEFT])
        work.notes.append(
            f"{shown} {'is' if len(new) == 1 else 'are'} new, and what was there before is there, too: objects may be"
            f" stored twice until {task} has run to its end"
        )


def _left_by(work: Work, report: RepositoryReport) -> tuple[str, ...]:
    """Return what a command that was stopped left; the lock that is still held is ours."""
    if not isinstance(report.inspection, Inspection):
        return ()
    found = leftovers(report.inspection, started_at_s=work.started_at_s)
    return tuple(path for path in found if not path.startswith("objects/" + LOCK_NAME.decode()))


def _failed(
    work: Work,
    error: GitdashError | OSError,
    *,
    before: StoreFigures | None = None,
    after: StoreFigures | None = None,
    left: tuple[str, ...] = (),
) -> TaskResult:
    if not os.path.isdir(work.report.repository.common_dir):
        outcome, reason, sentence = Outcome.FAILED, Reason.VANISHED, _VANISHED
    elif isinstance(error, TaskStoppedError):
        outcome, reason, sentence = error.outcome, error.reason, str(error)
    else:
        verdict = classify(error)
        outcome, reason, sentence = verdict.outcome, verdict.reason, verdict.sentence
    behind = (f"left behind: {', '.join(left[:_SHOWN_LEFT])}",) if left else ()
    return TaskResult(
        outcome=outcome,
        reason=reason,
        sentence="; ".join((sentence, *work.notes, *behind)),
        before=before,
        after=after,
        commands=tuple(work.commands),
        leftovers=left,
    )


def _ended(work: Work, outcome: Outcome, reason: Reason | None, sentence: str) -> TaskResult:
    """Return the result of a task that changed nothing."""
    return TaskResult(outcome=outcome, reason=reason, sentence=sentence, commands=tuple(work.commands))
