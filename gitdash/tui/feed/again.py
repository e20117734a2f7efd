"""Another look at single repositories, asked for by a key, ahead of whatever the survey is doing.

Two queues, for a thread each, so that nobody who only wants the files read waits for git: a look at the files, and a
measurement. Each reads the files again and works out anew what the index difference gives if they changed. What waits
is a job, and so can be cancelled.
"""

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec

from gitdash.errors import GitdashError
from gitdash.model.inspection import Inspection
from gitdash.model.job import JobKind, JobState
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository, Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes
from gitdash.survey.events import Report
from gitdash.survey.patience import silence, within
from gitdash.survey.shared_queries import SharedQueries
from gitdash.tui.clock import Clock
from gitdash.tui.feed.figures import figures_of, outcome_of, question_text
from gitdash.tui.feed.jobs import JobRegister
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.git_program import GitProgram
    from gitdash.history.store import History
    from gitdash.survey.single import Single


class Say(Protocol):
    """Tells what is being done."""

    def __call__(self, *, step: str, done_count: int = 0, known_count: int | None = None) -> None:
        """Take a few words, and how much of how many is done."""


class LookAgain:
    """Looks again at what `ask` names, in the order of asking."""

    def __init__(  # noqa: PLR0913 - what the looks share with the survey
        self,
        *,
        settings: "Settings",
        history: "History | None",
        program: "GitProgram",
        clock: Clock,
        register: JobRegister,
        queries: SharedQueries,
        report_of: Callable[[bytes], RepositoryReport | None],
        on_look: Callable[[Report], None],
        on_busy: Callable[[bytes, int], None],
        cancel: threading.Event,
    ) -> None:
        """Take what all looks share.

        `queries` are shared with all who measure. `report_of` tells what is known, `on_look` gets what is found as it
        is to be shown, `on_busy` 1 when work on a repository begins and -1 when it ends; `cancel` ends all for good.
        """
        self._settings = settings
        self._history = history
        self._program = program
        self._clock = clock
        self._register = register
        self._queries = queries
        self._report_of = report_of
        self._on_look = on_look
        self._on_busy = on_busy
        self._cancel = cancel
        self._changed = threading.Condition()
        self._asked: dict[JobKind, dict[bytes, int]] = {JobKind.RESCAN: {}, JobKind.MEASURE: {}}
        """Numbers of jobs by path, in the order of asking."""
        self._former: dict[bytes, Sizes] = {}
        """What was known of the sizes that a measurement has been asked for, until one is made."""

    def ask(self, path: bytes, kind: JobKind) -> None:
        """Queue a repository, unless it waits already."""
        with self._changed:
            asked = self._asked[kind]
            number = asked.get(path)
            if number is not None and self._register.is_queued(number):
                return
            asked.pop(path, None)
            asked[path] = self._register.ask(kind, path)
            self._changed.notify_all()

    def wake(self) -> None:
        """Make a waiting `serve` notice that it is cancelled."""
        with self._changed:
            self._changed.notify_all()

    def serve(self, kind: JobKind) -> None:
        """Do the jobs of one queue as they come, until all is over."""
        while (asked := self._next(kind)) is not None:
            path, number = asked
            if self._register.is_queued(number):
                self._do(path, kind, number)

    def _next(self, kind: JobKind) -> tuple[bytes, int] | None:
        asked = self._asked[kind]
        with self._changed:
            self._changed.wait_for(lambda: bool(asked) or self._cancel.is_set())
            if self._cancel.is_set():
                return None
            path = next(iter(asked))
            return path, asked.pop(path)

    def _do(self, path: bytes, kind: JobKind, number: int) -> None:
        from gitdash.survey.summarize import summarize

        known = self._report_of(path)
        before = None if known is None else figures_of(summarize(known))
        if (cancel := self._register.start(number, before=before)) is None:
            return
        if known is None:
            self._register.end(number, JobState.FAILED, reason="nothing is known of it yet")
            return
        self._on_busy(path, 1)
        try:
            report = self._look(known, kind, number, cancel)
        finally:
            self._on_busy(path, -1)
        state, reason = outcome_of(report, kind, is_cancelled=cancel.is_set())
        self._register.end(number, state, after=figures_of(summarize(report)), reason=reason)

    def _look(self, known: RepositoryReport, kind: JobKind, number: int, cancel: threading.Event) -> RepositoryReport:
        """Tell what the files of a repository say, and then each size that is worked out; return the last of it.

        One at the files asks for a measurement at the end if git has to answer anew. What only a survey of all knows,
        such as who borrows from the repository, stays as it was known. Ends early once `cancel` is set.
        """
        from gitdash.survey.memory import Memory
        from gitdash.survey.summarize import summarize

        path, report = known.repository.path, known
        former = known.sizes
        if kind is JobKind.MEASURE and (earlier := self._former.pop(path, None)) is not None:
            # more may be known by now: one that was cancelled before may have left this
            former = _filled(former, earlier)
        memory = Memory(self._history, now_s=self._clock(), policy_for=self._settings.policy_for)
        for report in self._reports(known, kind, cancel, partial(self._register.advance, number)):
            memory.save(report, summarize(report))
            shown = msgspec.structs.replace(report, sizes=_with_former(report, former))
            self._on_look(Report(report, summarize(shown)))
        memory.flush()
        if kind is JobKind.RESCAN and not cancel.is_set() and _has_open_sizes(report):
            self._former[path] = former
            self.ask(path, JobKind.MEASURE)
        return report

    def _reports(
        self, known: RepositoryReport, kind: JobKind, cancel: threading.Event, say: Say
    ) -> Iterator[RepositoryReport]:
        say(step="reading files")
        single = self._single(known.repository, cancel)
        if single is None:
            return
        merged = msgspec.structs.replace(
            single.report, roles=known.roles, borrowers=known.borrowers, counts_store=known.counts_store
        )
        report = single.judge.with_sizes(merged, merged.sizes)
        yield report
        for sizes in self._with_exclusive(report, cancel, say):
            report = single.judge.with_sizes(report, sizes)
            yield report
        if kind is JobKind.MEASURE:
            for sizes in self._with_answers(report, cancel, say):
                report = single.judge.with_sizes(report, sizes)
                yield report

    def _single(self, repository: Repository, cancel: threading.Event) -> "Single | None":
        """Inspect a repository, for as long as that may take; None if it is cancelled."""
        # Imported here and not above: the first paint does not wait for inspection to be loaded.
        from gitdash.survey.single import report_single, unread_single

        limit_s, now_s = self._settings.scan.time_limit_s, self._clock()
        look = partial(
            report_single,
            repository,
            settings=self._settings,
            history=self._history,
            program=self._program,
            effective_uid=os.geteuid(),
            now_s=now_s,
        )
        try:
            return within(limit_s, look, cancel=cancel)
        except TimeoutError:
            if cancel.is_set():
                return None
        reason = Unreadable(silence(limit_s))
        return unread_single(repository, reason, settings=self._settings, program=self._program, now_s=now_s)

    def _with_exclusive(self, report: RepositoryReport, cancel: threading.Event, say: Say) -> Iterator[Sizes]:
        """Yield the sizes with those of the index difference, if they are not known."""
        from gitdash.measurement.exclusive import LenderIds
        from gitdash.survey.exclusive import exclusive_of

        sizes = report.sizes
        if not report.repository.has_own_store or isinstance(sizes.exclusive, ExclusiveSizes):
            return
        say(step="comparing indexes")
        limit_s, common_dir = self._settings.size.time_limit_s, report.repository.common_dir
        compare = partial(exclusive_of, common_dir, report.inspection, LenderIds(), now_s=self._clock())
        exclusive: ExclusiveSizes | Unreadable
        try:
            exclusive = within(limit_s, compare, cancel=cancel)
        except TimeoutError:
            exclusive = Unreadable(silence(limit_s))
        if not cancel.is_set():
            yield msgspec.structs.replace(sizes, exclusive=exclusive)

    def _with_answers(self, report: RepositoryReport, cancel: threading.Event, say: Say) -> Iterator[Sizes]:
        """Yield the sizes with each answer of git."""
        from gitdash.survey.sizing import Sizing, preferred_strategy, with_answer

        sizing = Sizing(
            self._program,
            history=self._history,
            clock=self._clock,
            time_limit_s=self._settings.size.time_limit_s,
            preferred=preferred_strategy(self._settings),
            queries=self._queries,
        )
        sizes = report.sizes
        for done_count, question in enumerate(Question):
            say(step=question_text(question), done_count=done_count, known_count=len(Question))
            answer: SizeMeasurement | Unreadable
            try:
                answer = sizing(report, question, cancel=cancel)
            except GitdashError as error:
                answer = Unreadable(printable(str(error)))
            if cancel.is_set():
                # what was cancelled is no answer
                return
            sizes = with_answer(sizes, question, answer)
            yield sizes


def _has_open_sizes(report: RepositoryReport) -> bool:
    """Tell whether git could answer, and has not for this state of the files."""
    answers = (report.sizes.reachable, report.sizes.reachable_own)
    return isinstance(report.inspection, Inspection) and not all(isinstance(size, SizeMeasurement) for size in answers)


def _with_former(report: RepositoryReport, former: Sizes) -> Sizes:
    """Return the sizes to show meanwhile: a figure with its age says more than a blank."""
    return report.sizes if isinstance(report.inspection, Unreadable) else _filled(report.sizes, former)


def _filled(sizes: Sizes, former: Sizes) -> Sizes:
    return msgspec.structs.replace(
        sizes,
        exclusive=sizes.exclusive or former.exclusive,
        reachable=sizes.reachable or former.reachable,
        reachable_own=sizes.reachable_own or former.reachable_own,
    )
