"""The survey: what is known, then discovery, inspection, judgement, and what was asked for beyond, as one stream.

Both front ends drive it by iterating; nothing happens between two events that they do not ask for. A repository costs
at most its own row: what cannot be read becomes `Unreadable` there, and only wrong roots end the survey.
"""

import enum
import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gitdash.gitcmd.git_program import GitProgram
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.sizes import Question
from gitdash.model.summary import RepositorySummary
from gitdash.survey.events import Finished, Notice, Progress, Report, SurveyEvent
from gitdash.survey.forgetting import take_back_given_up
from gitdash.survey.inspecting import Inspecting
from gitdash.survey.judging import Inspected, Judge
from gitdash.survey.loans import Loans
from gitdash.survey.memory import Memory
from gitdash.survey.patience import silence
from gitdash.survey.priorities import Priorities
from gitdash.survey.searched import remember_searched
from gitdash.survey.searching import search_roots
from gitdash.survey.store_state import StoreStates
from gitdash.survey.summarize import summarize, totals_of
from gitdash.survey.watching import SizeWatch
from gitdash.survey.workers import InspectionPool
from gitdash.units import printable_path

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History
    from gitdash.survey.measuring import Measuring
    from gitdash.survey.shared_queries import SharedQueries


class SizesWanted(enum.StrEnum):
    """What a survey measures beyond the sizes of files."""

    DISK = "disk"
    """Nothing: what is stored and still true is shown."""
    EXCLUSIVE = "exclusive"
    """Exclusive and duplicate bytes, from index files."""
    REACHABLE = "reachable"
    """The sizes that git has to work out: those of the questions that are wanted."""
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRequest:
    """What to survey, and with what."""

    roots: tuple[bytes, ...]
    """Absolute."""
    settings: "Settings"
    sizes: SizesWanted
    questions: tuple[Question, ...] = tuple(Question)
    """Which reachable sizes are measured, if these are."""
    now_s: float
    """When the survey begins: ages are judged against it."""
    clock: Callable[[], float]
    """Tells when a measurement was made."""
    program: GitProgram | None
    """None if sizes that need git are not wanted."""
    history: "History | None"
    """The open state file; None to know and keep nothing."""
    effective_uid: int
    choose: Callable[[Sequence[RepositorySummary]], Collection[bytes]] | None = None
    """Returns the paths of those that are measured, given all before anything is measured; None is all."""
    reports_early: bool = False
    """Report a repository as soon as it is inspected, before it is known who borrows from it; and again after that."""
    queries: "SharedQueries | None" = None
    """Those of others who may ask git for the same size meanwhile."""


def run_survey(
    request: SurveyRequest,
    *,
    cancel: threading.Event,
    priorities: Priorities | None = None,
    watch: SizeWatch | None = None,
) -> Iterator[SurveyEvent]:
    """Yield what the survey finds; it ends soon after `cancel` is set, then without `Finished`.

    `priorities` says what is measured first, and may change while the survey runs; `watch` is told what git is asked
    right now. Raises RootError for a root that does not exist, before anything else.
    """
    return _Survey(request, cancel, priorities or Priorities(), watch).events()


class _Survey:
    """One run: the state of the generator below `run_survey`."""

    def __init__(
        self, request: SurveyRequest, cancel: threading.Event, priorities: Priorities, watch: SizeWatch | None
    ) -> None:
        self._request = request
        self._cancel = cancel
        self._priorities = priorities
        self._watch = watch
        self._memory = Memory(request.history, now_s=request.now_s, policy_for=request.settings.policy_for)
        self._reports: dict[bytes, RepositoryReport] = {}
        self._searching = search_roots(
            request.roots, settings=request.settings, effective_uid=request.effective_uid, cancel=cancel
        )

    def events(self) -> Iterator[SurveyEvent]:
        """Yield everything, in the order of the steps."""
        started_s = time.monotonic()
        inspecting = yield from self._inspect()
        if not self._cancel.is_set():
            self._remember_searched()
            loans = Loans(self._request.history, inspecting.inspected.values(), self._searching.silent)
            judge = self._judge(inspecting.inspected.values())
            judge.know(loans.other_borrowers())
            loans.remember(judge.graph.keeper)
            yield from self._report_all(judge)
            yield from self._measure(judge)
        self._memory.flush()
        if self._cancel.is_set():
            return
        gone_paths = self._memory.forget_gone(self._request.roots, self._reports, self._searching.silent)
        silent = silence(self._request.settings.scan.time_limit_s)
        for path in self._searching.silent:
            yield Notice(f"{printable_path(path)} {silent}: what was known below it stays as it was")
        if self._memory.problem is not None:
            yield Notice(self._memory.problem)
        yield Finished(
            totals=totals_of(self._reports.values()),
            reused_count=inspecting.reused_count,
            gone_paths=gone_paths,
            silent_paths=tuple(self._searching.silent),
            elapsed_s=time.monotonic() - started_s,
        )

    def _remember_searched(self) -> None:
        seen = (self._request.history, self._request.roots, self._searching.silent)
        remember_searched(*seen)
        take_back_given_up(*seen)

    def _inspect(self) -> Generator[SurveyEvent, None, Inspecting]:
        scan = self._request.settings.scan
        with InspectionPool(scan.workers or os.cpu_count() or 1, time_limit_s=scan.time_limit_s) as pool:
            # After the pool, whose processes start meanwhile.
            self._memory.recall(self._request.roots)
            inspecting = Inspecting(
                pool,
                stored=self._memory.stored,
                policy_for=self._request.settings.policy_for,
                now_s=self._request.now_s,
                cancel=self._cancel,
            )
            for event in inspecting.events(self._searching.results()):
                if not isinstance(event, Inspected):
                    yield event
                elif self._request.reports_early and _stands_alone(event):
                    report, _ = self._judge([event]).report(event.repository.path)
                    yield Report(report, summarize(report))
        return inspecting

    def _judge(self, inspected: Iterable[Inspected]) -> Judge:
        program = self._request.program
        return Judge(
            inspected,
            policy_for=self._request.settings.policy_for,
            outside_fingerprint=cache(_outside_fingerprint),
            stores_fingerprint=StoreStates(self._request.now_s).fingerprint,
            git_version=program.version_text if program is not None else None,
            now_s=self._request.now_s,
        )

    def _report_all(self, judge: Judge) -> Iterator[SurveyEvent]:
        for path in judge.paths():
            report, is_stored = judge.report(path)
            yield self._reported(report, is_stored=is_stored)

    def _measure(self, judge: Judge) -> Iterator[SurveyEvent]:
        measuring = self._measuring(judge)
        if measuring is None:
            return
        if measuring.wanted_count:
            yield Progress(step="measured", done_count=0, known_count=measuring.wanted_count, complete=True)
        for done_count, measured in enumerate(measuring.answers(), start=1):
            report = self._memory.with_newer_sizes(self._reports[measured.path])
            yield self._reported(judge.with_sizes(report, measured.added_to(report.sizes)))
            yield Progress(step="measured", done_count=done_count, known_count=measuring.wanted_count, complete=True)

    def _measuring(self, judge: Judge) -> "Measuring | None":
        wanted, program = self._request.sizes, self._request.program
        if wanted is SizesWanted.DISK:
            return None
        from gitdash.survey.measuring import Measuring
        from gitdash.survey.sizing import Sizing, preferred_strategy

        measuring = Measuring(
            self._reports,
            lenders=judge.graph.lenders,
            clock=self._request.clock,
            priorities=self._priorities,
            cancel=self._cancel,
            watch=self._watch,
        )
        chosen = self._chosen()
        if wanted in {SizesWanted.EXCLUSIVE, SizesWanted.ALL}:
            measuring.want_exclusive(chosen)
        if wanted in {SizesWanted.REACHABLE, SizesWanted.ALL} and program is not None:
            settings = self._request.settings
            sizing = Sizing(
                program,
                history=self._request.history,
                clock=self._request.clock,
                time_limit_s=settings.size.time_limit_s,
                preferred=preferred_strategy(settings),
                queries=self._request.queries,
            )
            measuring.want_reachable(sizing, settings.size.workers, chosen, self._request.questions)
        return measuring

    def _chosen(self) -> Collection[bytes]:
        choose = self._request.choose
        return self._reports if choose is None else choose([*map(summarize, self._reports.values())])

    def _reported(self, report: RepositoryReport, *, is_stored: bool = False) -> Report:
        self._reports[report.repository.path] = report
        summary = summarize(report)
        if not is_stored:
            self._memory.save(report, summary)
        return Report(report, summary)


def _outside_fingerprint(objects_dir: bytes) -> bytes:
    """Return the fingerprint of a lender outside the roots; what reads it is imported only if there is one (20 ms)."""
    from gitdash.survey.lenders import store_fingerprint

    return store_fingerprint(objects_dir)


def _stands_alone(one: Inspected) -> bool:
    """Tell whether a repository can be judged before the others are known: it borrows nothing, and it is new."""
    return not one.is_reused and isinstance(one.inspection, Inspection) and one.inspection.alternates is None
