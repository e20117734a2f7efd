"""What a person has done to repositories from the dashboard: plans, fetches and maintenance, each a job.

Plans and everything before a job is queued are made in a thread of their own: facts are read and git is asked. The
ledger is read in another. What a job did is looked at again once it is over, so that its row shows it.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from gitdash.errors import GitdashError
from gitdash.model.job import JobFigures, JobKind, JobState
from gitdash.model.ledger import LedgerEntry, StoreFigures
from gitdash.model.plan import Plan, PlannedTask
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task
from gitdash.tui.clock import Clock
from gitdash.tui.feed.endings import how_it_ended, recall
from gitdash.tui.feed.jobs import JobRegister
from gitdash.tui.feed.lanes import Lanes, Work
from gitdash.tui.feed.retries import Retries
from gitdash.tui.source import Changes
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.git_program import GitProgram
    from gitdash.history.store import History
    from gitdash.maintenance.fetching.options import FetchOptions
    from gitdash.survey.acting import Actions
    from gitdash.survey.action_means import OpenReaders
    from gitdash.survey.maintaining import Planned

_UNKNOWN: Final = "nothing is known of this repository yet"
_ALLOWED_ONCE: Final = "among the choices of 'Fetch, and choose how'"
"""Where a protocol can be allowed for one fetch."""
Tell = Callable[[Callable[[Changes], None]], None]


class Acting:
    """Makes plans and runs them; for any thread. Nothing of it waits."""

    def __init__(  # noqa: PLR0913 - what acting needs of the feed, each by name
        self,
        *,
        settings: "Settings",
        history: "History | None",
        program: "GitProgram",
        clock: Clock,
        register: JobRegister,
        retries: Retries,
        readers: "OpenReaders",
        report_of: Callable[[bytes], RepositoryReport | None],
        tell: Tell,
        on_busy: Callable[[bytes, int], None],
        look_again: Callable[[bytes], None],
        guarded: Callable[[Work], None],
        cancel: threading.Event,
        read_only: bool,
    ) -> None:
        """Take what all actions share.

        `report_of` tells what is known of a repository, `tell` hands out the record that an answer is written to,
        `look_again` has a repository read once something was done to it.
        """
        self._settings = settings
        self._history = history
        self._program = program
        self._clock = clock
        self._register = register
        self._retries = retries
        self._readers = readers
        self._report_of = report_of
        self._tell = tell
        self._on_busy = on_busy
        self._look_again = look_again
        self._cancel = cancel
        self._read_only = read_only
        self._lock = threading.Lock()
        self._made: Actions | None = None
        self._lanes = Lanes(guarded)

    def say_what_was_cut_off(self) -> None:
        """Tell which actions an earlier run did not end; it may look into repositories, so call it in a thread."""
        if self._history is None:
            return
        import os

        from gitdash.export.ledger_lines import cut_off_lines
        from gitdash.survey.cut_off import settle_actions

        settled = settle_actions(
            self._history.ledger, settings=self._settings, effective_uid=os.geteuid(), now_s=self._clock()
        )
        if settled:
            lines = cut_off_lines(settled)
            self._tell(lambda changes: changes.notices.extend(lines))
        for number, entry in recall(self._register, self._history.ledger, settled):
            again = partial(self._do_again, entry)
            self._retries.remember(number, partial(self._lanes.add, "fetches", again))

    def _do_again(self, entry: LedgerEntry) -> None:
        if entry.task is not None:
            asked = PlannedTask(task=entry.task, because=("asked for again",), steps=(), gain="")
            self.run_plans([Plan(path=entry.path, tasks=(asked,))], None)
            return
        options = self._configured()
        if entry.remote is not None:
            options = msgspec.structs.replace(options, remotes=(entry.remote,))
        self.fetch([entry.path], msgspec.structs.replace(options, dry_run=entry.is_preview))

    def request_plans(self, paths: Sequence[bytes], tasks: Sequence[Task] | None) -> None:
        """Have plans made, one after the other."""
        for path in paths:
            self._lanes.add("plans", partial(self._tell_plan, path, tasks))

    def run_plans(self, plans: Sequence[Plan], confirmed_name: str | None) -> None:
        """Queue the tasks of plans, of each plan as one job."""
        self._lanes.add("plans", partial(self._run_plans, plans, confirmed_name))

    def _run_plans(self, plans: Sequence[Plan], confirmed_name: str | None) -> None:
        run = self._actions.new_run()
        for plan in plans:
            if plan.runnable:
                self._lanes.add("plans", partial(self._maintain, plan, run, confirmed_name))

    def fetch(self, paths: Sequence[bytes], options: "FetchOptions | None") -> None:
        """Queue fetches, of each remote as one job; None is as the configuration says.

        Of repositories with one object store, such as a repository and its linked worktrees, one is fetched into.
        """
        self._lanes.add("fetches", partial(self._fetch_all, paths, options))

    def _fetch_all(self, paths: Sequence[bytes], options: "FetchOptions | None") -> None:
        from gitdash.survey.each_store import each_store_once

        run = self._actions.new_run()
        options = msgspec.structs.replace(options or self._configured(), allowed_once=_ALLOWED_ONCE)
        known = [report.repository for path in paths if (report := self._report_of(path)) is not None]
        known_paths = {repository.path for repository in known}
        for path in [path for path in paths if path not in known_paths]:
            self._fail(path, options, run, _UNKNOWN)
        for repository in each_store_once(known):
            fetch = partial(self._fetch, repository.path, options, run, is_named=len(paths) == 1)
            self._lanes.add("fetches", fetch)

    def _configured(self) -> "FetchOptions":
        from gitdash.maintenance.fetching.options import configured_options

        return configured_options(self._settings.fetch)

    def request_entries(self, path: bytes) -> None:
        """Have the ledger read."""
        self._lanes.add("ledger", partial(self._tell_entries, path))

    def stop(self, limit_s: float) -> None:
        """Have all that runs stop; what was started for it is ended elsewhere."""
        if (made := self._made) is not None:
            made.cancel_all()
            made.wait(limit_s)

    def wait(self, limit_s: float) -> bool:
        """Wait until nothing acts any more; False if that takes longer."""
        made = self._made
        return made is None or made.wait(limit_s)

    @property
    def _actions(self) -> "Actions":
        """What acts: one, whichever thread asks first, for two would not know of each other."""
        # Imported here and not above: the first paint does not wait for it.
        from gitdash.survey.acting import Actions

        with self._lock:
            if self._made is None:
                self._made = Actions(
                    settings=self._settings,
                    program=self._program,
                    history=self._history,
                    clock=self._clock,
                    readers=self._readers,
                    read_only=self._read_only,
                )
            return self._made

    def _tell_plan(self, path: bytes, tasks: Sequence[Task] | None) -> None:
        planned = self._planned(path, tasks)
        if planned is not None:
            answer = planned if isinstance(planned, Unreadable) else planned.plan
            self._tell(lambda changes: changes.plans.update({path: answer}))

    def _planned(self, path: bytes, tasks: Sequence[Task] | None) -> "Planned | Unreadable | None":
        """Return a plan, why there can be none, or None if all is over."""
        known = self._report_of(path)
        if known is None:
            return Unreadable(_UNKNOWN)
        try:
            return self._actions.plan(known.repository, tasks, known=known, cancel=self._cancel)
        except GitdashError as error:
            return None if self._cancel.is_set() else Unreadable(printable(str(error)))

    def _maintain(self, plan: Plan, run: str, confirmed_name: str | None) -> None:
        tasks = tuple(task.task for task in plan.runnable)
        # what drops objects is confirmed by typing a name, each time
        again = partial(self.run_plans, [plan], None)
        number = self._ask(JobKind.MAINTAIN, plan.path, ", ".join(tasks), again, run=run)
        planned = self._planned(plan.path, tasks)
        if planned is None or isinstance(planned, Unreadable):
            self._register.end(number, JobState.FAILED, reason=planned.reason if planned is not None else None)
            return
        if self._cancel.is_set() or not self._register.is_queued(number):
            # cancelled, or all is over, while its plan was made
            return
        name = None if confirmed_name is None else confirmed_name.encode("utf-8", "surrogateescape")
        # planned anew, its tasks are there only because they were asked for: a person saw better reasons
        planned = replace(planned, plan=planned.plan.with_reasons_of(plan))
        ticket = self._actions.maintain(planned, self._watch(number, plan.path), run=run, confirmed_name=name)
        self._register.on_cancel(number, ticket.cancel)

    def _fetch(self, path: bytes, options: "FetchOptions", run: str, *, is_named: bool) -> None:
        known = self._report_of(path)
        if known is None:
            self._fail(path, options, run, _UNKNOWN)
            return
        try:
            report = self._actions.facts(known.repository)
            plan = self._actions.plan_fetch(report, options)
        except GitdashError as error:
            self._fail(path, options, run, printable(str(error)))
            return
        if self._cancel.is_set():
            return
        remotes = {printable(remote.name): remote for remote in plan.remotes}
        numbers: dict[str, int] = {}

        def watch_of(name: str) -> "_JobWatch":
            remote = remotes.get(name)
            # a job is one remote's: its others have jobs of their own, and may have done well
            same = options if remote is None else msgspec.structs.replace(options, remotes=(remote.name,), group=None)
            host = None if remote is None else remote.host
            numbers[name] = self._ask(JobKind.FETCH, path, name, partial(self.fetch, [path], same), host=host, run=run)
            return self._watch(numbers[name], path)

        tickets = self._actions.fetch(report, plan, watch_of, run=run, is_named=is_named)
        for remote, ticket in zip(plan.runnable, tickets, strict=True):
            self._register.on_cancel(numbers[printable(remote.name)], ticket.cancel)

    def _fail(self, path: bytes, options: "FetchOptions", run: str, reason: str) -> None:
        number = self._ask(JobKind.FETCH, path, "", partial(self.fetch, [path], options), run=run)
        self._register.end(number, JobState.FAILED, reason=reason)

    def _ask(
        self,
        kind: JobKind,
        path: bytes,
        what: str,
        again: Callable[[], None],
        *,
        host: str | None = None,
        run: str = "",
    ) -> int:
        number = self._register.ask(kind, path, what=what, host=None if host is None else printable(host), run=run)
        self._retries.remember(number, again)
        return number

    def _watch(self, number: int, path: bytes) -> "_JobWatch":
        return _JobWatch(number, path, self._register, self._on_busy, self._look_again)

    def _tell_entries(self, path: bytes) -> None:
        known = self._report_of(path)
        entries = self._actions.ledger.entries(path) if known is None else self._actions.entries(known.repository)
        self._tell(lambda changes: changes.entries.update({path: entries}))


class _JobWatch:
    """Keeps the register up to date while an action goes on."""

    def __init__(
        self,
        number: int,
        path: bytes,
        register: JobRegister,
        on_busy: Callable[[bytes, int], None],
        look_again: Callable[[bytes], None],
    ) -> None:
        self._number = number
        self._path = path
        self._register = register
        self._on_busy = on_busy
        self._look_again = look_again
        self._has_begun = False

    @property
    def shows_progress(self) -> bool:
        """The Jobs screen does."""
        return True

    def begins(self, before: StoreFigures) -> None:
        """Say that the job runs."""
        self._has_begun = True
        self._register.start(self._number, before=_job_figures(before))
        self._on_busy(self._path, 1)

    def advances(
        self, step: str, done_count: int, known_count: int | None, *, received_bytes: int | None = None
    ) -> None:
        """Say how far it is."""
        self._register.advance(
            self._number, step=step, done_count=done_count, known_count=known_count, received_bytes=received_bytes
        )

    def ends(self, entries: Sequence[LedgerEntry]) -> None:
        """Say how it ended, and have the repository read again if it was touched."""
        after = next((entry.after for entry in reversed(entries) if entry.after is not None), None)
        state, reason = how_it_ended(entries)
        self._register.end(
            self._number,
            state,
            after=None if after is None else _job_figures(after),
            reason=reason,
            entries=tuple(entries),
        )
        if self._has_begun:
            self._on_busy(self._path, -1)
            self._look_again(self._path)


def _job_figures(figures: StoreFigures) -> JobFigures:
    return JobFigures(
        pack_count=figures.pack_count,
        loose_count=figures.loose_count,
        disk_bytes=figures.disk_bytes,
        reference_count=figures.reference_count,
        finding_count=figures.finding_count,
    )
