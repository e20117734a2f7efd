"""Acts on repositories for both front ends: makes plans, queues what is asked for, runs it, and keeps the ledger.

The facts of a repository are read anew when its turn comes, for minutes may have passed since a person looked. The
ledger is told before git starts and after it ended, so that a run that was killed is seen by the next one. What becomes
of an action its watch hears, from the thread that does it. Nothing here decides whether something is safe: plans do.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from gitdash.gitcmd.command_log import commands_for
from gitdash.gitcmd.git_program import GitProgram
from gitdash.history.ledger import Ledger, memory_ledger
from gitdash.maintenance.claims import Claims, Families, claims_of
from gitdash.maintenance.droppable import count_droppable
from gitdash.maintenance.facts import git_says_of_tasks, read_facts
from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.maintenance.fetching.planning import plan_fetch
from gitdash.maintenance.fetching.remotes import read_remotes
from gitdash.maintenance.left_locks import with_known_jobs
from gitdash.maintenance.planning import plan
from gitdash.maintenance.queue import ActionQueue, Ticket, Work
from gitdash.maintenance.schedule import QueueLimits
from gitdash.model.fetch import FetchPlan, RemotePlan
from gitdash.model.ledger import LedgerEntry, Outcome, Reason
from gitdash.model.plan import Refusal
from gitdash.model.progress import CommandProgress
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository, Role
from gitdash.model.task import Task
from gitdash.survey.action_means import ActionMeans, ActionWatch, NoReaders, OpenReaders
from gitdash.survey.bookkeeping import Bookkeeping
from gitdash.survey.fetching import ACTION as FETCH
from gitdash.survey.fetching import fetch_remote, refused_fetch
from gitdash.survey.maintaining import ACTION as MAINTAIN
from gitdash.survey.maintaining import Planned, maintain
from gitdash.survey.open_watch import OpenWatch
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History

_UNDER_WAY: Final = "gitdash does the same there already"
_READ_ONLY: Final = Refusal(rule="read-only-mode", reason="gitdash was told to change nothing")


class Actions:
    """All that acts in this process; for any thread."""

    def __init__(
        self,
        *,
        settings: "Settings",
        program: GitProgram,
        history: "History | None",
        clock: Callable[[], float],
        readers: OpenReaders | None = None,
        read_only: bool = False,
    ) -> None:
        """Take what all actions share; nothing is started yet."""
        self.ledger: Ledger = memory_ledger() if history is None else history.ledger
        self._read_only = read_only
        self._means = ActionMeans(
            settings=settings,
            program=program,
            history=history,
            books=Bookkeeping(self.ledger, program, clock),
            clock=clock,
            readers=readers or NoReaders(),
        )
        jobs = settings.jobs
        self._queue = ActionQueue(
            QueueLimits(
                jobs=jobs.limit,
                per_host=jobs.limit_per_host,
                per_volume=jobs.limit_per_volume,
                host_pause_s=jobs.host_pause_s,
            )
        )

    def new_run(self) -> str:
        """Return an id for what is started together."""
        return self._means.books.new_run()

    def look(self, repository: Repository, known: RepositoryReport | None = None) -> RepositoryReport:
        """Read the facts of a repository now; `known` adds borrowers that a survey has seen."""
        return self._means.look(repository, known)

    def entries(self, repository: Repository) -> tuple[LedgerEntry, ...]:
        """Return what the ledger has of a repository, the newest first; of a linked worktree what its store's has."""
        return self.ledger.entries(self._means.recorded_path(repository))

    def facts(self, repository: Repository) -> RepositoryReport:
        """Read the facts of a repository now, without judging them; enough for a fetch."""
        return self._means.facts(repository)

    def plan(
        self,
        repository: Repository,
        tasks: Sequence[Task] | None,
        *,
        known: RepositoryReport | None = None,
        cancel: threading.Event | None = None,
        on_progress: Callable[[CommandProgress], None] | None = None,
    ) -> Planned:
        """Return what would be done to a repository: the tasks asked for, or what its findings name (None).

        `on_progress` hears how far a walk over everything is that counts what RECLAIM would drop.
        """
        report = self.look(repository, known)
        if Task.DEDUPLICATE in (tasks or ()):
            # a finding that names it has measured what it frees; who asks for it by name wants to know that, too
            report = _with_what_is_duplicate(report, self._means.clock())
        with commands_for(repository.path):
            facts = read_facts(
                report,
                program=self._means.program,
                now_s=self._means.clock(),
                is_read_only_mode=self._read_only,
                policy=self._means.settings.policy_for(repository.path),
                others=self._means.look_around(repository, tasks or (), cancel),
                cancel=cancel,
            )
            if facts.live_locks:
                facts = with_known_jobs(facts, self.entries(repository))
            said = git_says_of_tasks(report, facts, program=self._means.program, cancel=cancel)
            facts = msgspec.structs.replace(facts, is_needed=said)
            found = plan(report, facts, tasks)
            if any(task.task is Task.RECLAIM for task in found.runnable):
                droppable = count_droppable(
                    report,
                    program=self._means.program,
                    now_s=self._means.clock(),
                    time_limit_s=self._means.settings.maintenance.time_limit_s,
                    cancel=cancel,
                    on_progress=on_progress,
                )
                found = plan(report, msgspec.structs.replace(facts, droppable=droppable), tasks)
        return Planned(report=report, plan=found)

    def plan_fetch(self, report: RepositoryReport, options: FetchOptions) -> FetchPlan:
        """Return how a repository would be fetched into."""
        program = self._means.program
        with commands_for(report.repository.path):
            config = read_remotes(report, program)
        found = plan_fetch(report, options, config=config, git_version=program.version)
        if self._read_only and not options.dry_run:
            return msgspec.structs.replace(found, refusals=(_READ_ONLY, *found.refusals))
        return found

    def maintain(
        self,
        planned: Planned,
        watch: ActionWatch,
        *,
        run: str,
        families: Families | None = None,
        confirmed_name: bytes | None = None,
    ) -> Ticket:
        """Queue the tasks of a plan; `families` of all that is started together, None for this one alone.

        What is the same as another that waits or runs is skipped.
        """
        tasks = planned.plan.tasks
        claims = claims_of(
            planned.report,
            families=families or Families([planned.report]),
            writes=any(task.task.changes_repository for task in tasks),
        )
        key = (MAINTAIN, tuple((task.task, task.steps, task.refusals) for task in tasks), confirmed_name)
        open_watch = OpenWatch(watch)
        work = partial(maintain, planned, self._means, open_watch, run, confirmed_name)
        skipped = partial(self._skipped_tasks, planned, run)
        return self._add(claims, key, work, open_watch, skipped)

    def fetch(
        self,
        report: RepositoryReport,
        found: FetchPlan,
        watch_of: Callable[[str], ActionWatch],
        *,
        run: str,
        families: Families | None = None,
        is_named: bool = True,
    ) -> list[Ticket]:
        """Queue a fetch from each remote of a plan, and return the tickets, in the order of its `runnable`.

        What the plan refuses is written down and told at once; what is the same as another that waits or runs is
        skipped. `watch_of` gives the watch for a remote by its printable name, which is empty where the plan has none.
        One of many that are fetched into is not `is_named`: it may have no remote.
        """
        refused = partial(refused_fetch, report, means=self._means, run=run, is_named=is_named)
        if found.refusals:
            watch_of("").ends([refused(None, found.refusals)])
            return []
        tickets = []
        for remote in found.remotes:
            name = printable(remote.name)
            watch = watch_of(name)
            if remote.refusals:
                watch.ends([refused(name, remote.refusals)])
                continue
            claims = claims_of(
                report,
                families=families or Families([report]),
                writes=not remote.is_preview,
                host=remote.host,
            )
            # what a fetch waits for is its server, not the disk
            claims = replace(claims, volume=None)
            open_watch = OpenWatch(watch)
            work = partial(self._fetch, report, remote, open_watch, run)
            skipped = partial(self._skipped_fetch, report, remote, run)
            tickets.append(self._add(claims, (FETCH, remote), work, open_watch, skipped))
        return tickets

    def cancel_all(self) -> None:
        """Empty the queue and have all that runs stop."""
        self._queue.cancel_all()

    def wait(self, limit_s: float) -> bool:
        """Wait until nothing waits or runs; False if that takes longer."""
        return self._queue.wait(limit_s)

    def _add(
        self,
        claims: Claims,
        key: Hashable,
        work: Work,
        watch: OpenWatch,
        skipped: Callable[[], Sequence[LedgerEntry]],
    ) -> Ticket:
        """Queue one request. `key` has all that makes two different: one that is the same does no more."""

        def tell_what_is_still_open(ticket: Ticket) -> None:
            if ticket.claims is claims:
                watch.ends([])

        ticket = self._queue.add(claims, key, work, on_end=tell_what_is_still_open)
        if ticket.claims is not claims:
            watch.ends(skipped())
        return ticket

    def _skipped_tasks(self, planned: Planned, run: str) -> list[LedgerEntry]:
        path, begin = self._means.recorded_path(planned.report.repository), self._means.books.begin
        begun = [begin(MAINTAIN, path, run=run, task=task.task, choices=task.because) for task in planned.plan.tasks]
        return [entry.end(Outcome.SKIPPED, Reason.SAME_UNDER_WAY, _UNDER_WAY) for entry in begun]

    def _skipped_fetch(self, report: RepositoryReport, remote: RemotePlan, run: str) -> list[LedgerEntry]:
        entry = self._means.books.begin(
            FETCH,
            self._means.recorded_path(report.repository),
            run=run,
            remote=printable(remote.name),
            choices=remote.choices,
            is_preview=remote.is_preview,
        )
        return [entry.end(Outcome.SKIPPED, Reason.SAME_UNDER_WAY, _UNDER_WAY)]

    def _fetch(
        self, report: RepositoryReport, remote: RemotePlan, watch: ActionWatch, run: str, cancel: threading.Event
    ) -> Outcome:
        entry = fetch_remote(report, remote, self._means, watch, run, cancel)
        if entry.reason is Reason.SERVER_REFUSED and remote.host is not None:
            self._queue.host_refused(remote.host)
        return entry.outcome


def _with_what_is_duplicate(report: RepositoryReport, now_s: float) -> RepositoryReport:
    if Role.MEMBER not in report.roles:
        return report
    # numpy comes with it
    from gitdash.survey.exclusive import with_exclusive

    return with_exclusive(report, now_s=now_s)
