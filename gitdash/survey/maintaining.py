"""Runs the tasks of a plan, one after the other, each with an entry in the ledger. Whether they may run, plans say."""

import dataclasses
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from gitdash.gitcmd.command_log import commands_for
from gitdash.inspection.held_packs import held_packs
from gitdash.maintenance.figures import figures_of
from gitdash.maintenance.running import TaskResult, run_task
from gitdash.maintenance.verdicts import unbegun
from gitdash.model.held_packs import HeldPacks
from gitdash.model.ledger import LedgerEntry, Outcome, Reason
from gitdash.model.plan import Plan, PlannedTask
from gitdash.model.progress import CommandProgress
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task
from gitdash.survey.action_means import ActionMeans, ActionWatch
from gitdash.survey.bookkeeping import OpenEntry
from gitdash.units import counted

ACTION: Final = "maintain"
_HOLDERS_NAMED: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan, with the report that it was made from."""

    report: RepositoryReport
    plan: Plan


def maintain(
    planned: Planned,
    means: ActionMeans,
    watch: ActionWatch,
    run: str,
    confirmed_name: bytes | None,
    cancel: threading.Event,
) -> Outcome:
    """Run what nothing speaks against, up to the first task that fails; the others are written down as not begun."""
    running = _Running(planned=planned, means=means, watch=watch, run=run, confirmed_name=confirmed_name)
    entries: list[LedgerEntry] = []
    try:
        with commands_for(planned.report.repository.path):
            watch.begins(figures_of(planned.report))
            entries.extend(running.entries(cancel))
    finally:
        watch.ends(entries)
    return next((entry.outcome for entry in entries if not entry.outcome.is_good), Outcome.DONE)


def _after(stopped: LedgerEntry) -> tuple[Outcome, Reason, str]:
    """Return what becomes of a task that comes after one that did not succeed."""
    if stopped.outcome is Outcome.CANCELLED:
        return Outcome.CANCELLED, Reason.CANCELLED, f"not begun, for {stopped.task} was cancelled"
    return Outcome.SKIPPED, Reason.OTHER, f"not begun, for {stopped.task} did not succeed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    planned: Planned
    means: ActionMeans
    watch: ActionWatch
    run: str
    confirmed_name: bytes | None

    def entries(self, cancel: threading.Event) -> Iterator[LedgerEntry]:
        """Yield the entry of each task when it is over; of a plan in which nothing may be done, one without a task."""
        if not self.planned.plan.tasks and self.planned.plan.refusals:
            yield self._begin().end(*unbegun(self.planned.plan.refusals))
        stopped_by: LedgerEntry | None = None
        for place, task in enumerate(self.planned.plan.tasks):
            if task.refusals:
                yield self._unbegun(task, *unbegun(task.refusals))
            elif stopped_by is not None:
                yield self._unbegun(task, *_after(stopped_by))
            else:
                entry = self._run(task, place, cancel)
                yield entry
                if not entry.outcome.is_good:
                    stopped_by = entry

    def _run(self, task: PlannedTask, place: int, cancel: threading.Event) -> LedgerEntry:
        report, means = self.planned.report, self.means
        path = report.repository.path
        entry = self._begin(task)
        told = _Told(self.watch, task.task, place, len(self.planned.plan.tasks))
        result = TaskResult(outcome=Outcome.FAILED, reason=Reason.OTHER, sentence="gitdash itself failed")
        look_around = partial(means.look_around, report.repository, [task.task], cancel)
        entry.note_before(figures_of(report))
        try:
            with commands_for(path, entry.begin_command):
                result = run_task(
                    report,
                    task,
                    look=partial(means.look, report.repository, report),
                    program=means.program,
                    cancel=cancel,
                    on_step=told.step,
                    on_progress=told.progress,
                    close_readers=partial(means.readers.close, report.repository),
                    warm_readers=partial(means.readers.warm, report.repository),
                    now_s=means.clock(),
                    time_limit_s=means.settings.maintenance.time_limit_s,
                    policy=means.settings.policy_for(path),
                    others=look_around(),
                    look_around=look_around,
                    confirmed_name=self.confirmed_name,
                )
            result = _with_holders(result, report.repository.common_dir)
        finally:
            ended = entry.end_task(result)
        return ended

    def _unbegun(self, task: PlannedTask, outcome: Outcome, reason: Reason | None, sentence: str) -> LedgerEntry:
        return self._begin(task).end(outcome, reason, sentence)

    def _begin(self, task: PlannedTask | None = None) -> OpenEntry:
        path = self.means.recorded_path(self.planned.report.repository)
        if task is None:
            return self.means.books.begin(ACTION, path, run=self.run)
        return self.means.books.begin(ACTION, path, run=self.run, task=task.task, choices=task.because)


class _Told:
    """Says how far one task is: what a step does, until git says it in more words."""

    def __init__(self, watch: ActionWatch, task: Task, place: int, task_count: int) -> None:
        self._watch = watch
        self._name = f"{task} ({place + 1} of {task_count})" if task_count > 1 else task.value

    def step(self, does: str, number: int, step_count: int) -> None:
        """Say that a step begins."""
        which = f" ({number} of {step_count})" if step_count > 1 else ""
        self._watch.advances(f"{self._name}: {does}{which}", 0, None)

    def progress(self, progress: CommandProgress) -> None:
        """Say how far its command is."""
        self._watch.advances(f"{self._name}: {progress.phase}", progress.done_count, progress.total_count)


def _with_holders(result: TaskResult, common_dir: bytes) -> TaskResult:
    """Say who keeps the space of packs that a task has removed."""
    if not any(path.startswith("objects/pack/") for path in result.removed):
        return result
    found = held_packs(common_dir + b"/objects")
    if not isinstance(found, HeldPacks) or not found.holders:
        return result
    named = [holder.sentence for holder in found.holders[:_HOLDERS_NAMED]]
    more_count = len(found.holders) - _HOLDERS_NAMED
    if more_count > 0:
        named.append(f"{counted(more_count, 'more process', 'more processes')} hold deleted packs")
    return dataclasses.replace(result, sentence="; ".join((result.sentence, *named)))
