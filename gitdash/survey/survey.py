"""The survey: what is known, then discovery, inspection, judgement, and what was asked for beyond, as one stream.

Both front ends drive it by iterating; nothing happens between two events that they do not ask for. A repository costs
at most its own row: what cannot be read becomes `Unreadable` there, and only wrong roots end the survey.
"""

import contextlib
import enum
import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gitdash.discovery.roots import DiscoveryLimits, discover
from gitdash.gitcmd.runner import GitProgram
from gitdash.inspection.files import read_file
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement
from gitdash.survey.events import Finished, Notice, Progress, Report, SurveyEvent
from gitdash.survey.inspecting import Inspecting
from gitdash.survey.judging import Inspected, Judge
from gitdash.survey.lenders import store_fingerprint
from gitdash.survey.measure import SizingQueue
from gitdash.survey.memory import Memory
from gitdash.survey.sizing import Sizing, with_answer
from gitdash.survey.summarize import summarize, totals_of
from gitdash.survey.workers import InspectionPool

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History

_WAIT_S = 0.1


class SizesWanted(enum.StrEnum):
    """What a survey measures beyond the sizes of files."""

    DISK = "disk"
    """Nothing: what is stored and still true is shown."""
    EXCLUSIVE = "exclusive"
    """Exclusive and duplicate bytes, from index files."""
    REACHABLE = "reachable"
    """Both sizes that git has to work out."""
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRequest:
    """What to survey, and with what."""

    roots: tuple[bytes, ...]
    """Absolute."""
    settings: "Settings"
    sizes: SizesWanted
    now_s: float
    """When the survey begins: ages are judged against it."""
    clock: Callable[[], float]
    """Tells when a measurement was made."""
    program: GitProgram | None
    """None if sizes that need git are not wanted."""
    history: "History | None"
    """The open state file; None to know and keep nothing."""
    effective_uid: int
    reports_early: bool = False
    """Report a repository as soon as it is inspected, before it is known who borrows from it; and again after that."""


def run_survey(request: SurveyRequest, *, cancel: threading.Event) -> Iterator[SurveyEvent]:
    """Yield what the survey finds; it ends soon after `cancel` is set, then without `Finished`.

    Raises RootError for a root that does not exist, before anything else.
    """
    return _Survey(request, cancel).events()


class _Survey:
    """One run: the state of the generator below `run_survey`."""

    def __init__(self, request: SurveyRequest, cancel: threading.Event) -> None:
        scan = request.settings.scan
        self._request = request
        self._cancel = cancel
        self._memory = Memory(request.history, now_s=request.now_s, policy_for=request.settings.policy_for)
        self._reports: dict[bytes, RepositoryReport] = {}
        limits = DiscoveryLimits(
            exclude=request.settings.exclude(), maximum_depth=scan.depth, one_file_system=scan.one_file_system
        )
        self._found = discover(
            request.roots,
            limits,
            read=read_file,
            effective_uid=request.effective_uid,
            trusted_roots=request.settings.trusted_roots(),
            cancel=cancel,
        )

    def events(self) -> Iterator[SurveyEvent]:
        """Yield everything, in the order of the steps."""
        started_s = time.monotonic()
        inspecting = yield from self._inspect()
        if not self._cancel.is_set():
            judge = self._judge(inspecting.inspected.values())
            yield from self._report_all(judge)
            yield from self._measure(judge)
        self._memory.flush()
        if self._cancel.is_set():
            return
        gone_paths = self._memory.forget_gone(self._request.roots, self._reports)
        if self._memory.problem is not None:
            yield Notice(self._memory.problem)
        yield Finished(
            totals=totals_of(self._reports.values()),
            reused_count=inspecting.reused_count,
            gone_paths=gone_paths,
            elapsed_s=time.monotonic() - started_s,
        )

    def _inspect(self) -> Generator[SurveyEvent, None, Inspecting]:
        scan = self._request.settings.scan
        with InspectionPool(scan.workers or os.cpu_count() or 1, time_limit_s=scan.time_limit_s) as pool:
            inspecting = Inspecting(
                pool,
                stored=self._memory.stored,
                policy_for=self._request.settings.policy_for,
                now_s=self._request.now_s,
                cancel=self._cancel,
            )
            for event in inspecting.events(self._found):
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
            outside_fingerprint=store_fingerprint,
            git_version=program.version_text if program is not None else None,
            now_s=self._request.now_s,
        )

    def _report_all(self, judge: Judge) -> Iterator[SurveyEvent]:
        for path in judge.paths():
            report, is_stored = judge.report(path)
            yield self._reported(report, is_stored=is_stored)

    def _measure(self, judge: Judge) -> Iterator[SurveyEvent]:
        wanted = self._request.sizes
        if wanted in {SizesWanted.EXCLUSIVE, SizesWanted.ALL}:
            yield from self._measure_exclusive(judge)
        if wanted in {SizesWanted.REACHABLE, SizesWanted.ALL} and self._request.program is not None:
            yield from self._measure_reachable(judge, self._request.program)

    def _measure_exclusive(self, judge: Judge) -> Iterator[SurveyEvent]:
        missing = [
            report for report in self._reports.values() if not isinstance(report.sizes.exclusive, ExclusiveSizes)
        ]
        if not missing:
            return
        from gitdash.measurement.exclusive import LenderIds
        from gitdash.survey.exclusive import exclusive_of

        lender_ids = LenderIds()
        # Members of one lender follow each other, so that its ids are read once.
        missing.sort(key=lambda report: judge.graph.lenders(report.repository.path))
        for number, report in enumerate(missing):
            if self._cancel.is_set():
                return
            exclusive = exclusive_of(
                report.repository.common_dir, report.inspection, lender_ids, now_s=self._request.clock()
            )
            sizes = msgspec.structs.replace(report.sizes, exclusive=exclusive)
            yield self._reported(judge.with_sizes(report, sizes))
            yield Progress(step="measured", done_count=number + 1, known_count=len(missing), complete=True)

    def _measure_reachable(self, judge: Judge, program: GitProgram) -> Iterator[SurveyEvent]:
        settings = self._request.settings.size
        sizing = Sizing(
            program,
            history=self._request.history,
            clock=self._request.clock,
            time_limit_s=settings.time_limit_s,
        )
        answers: queue.SimpleQueue[tuple[bytes, Question, SizeMeasurement | Unreadable]] = queue.SimpleQueue()

        def keep(report: RepositoryReport, question: Question, answer: SizeMeasurement | Unreadable) -> None:
            answers.put((report.repository.path, question, answer))

        with SizingQueue(sizing, on_measured=keep, thread_count=settings.workers or 2) as sizing_queue:
            known_count = 0
            for report in self._reports.values():
                questions = _open_questions(report)
                known_count += len(questions)
                if questions:
                    sizing_queue.submit(report, questions)
            done_count = 0
            while done_count < known_count and not self._cancel.is_set():
                with contextlib.suppress(queue.Empty):
                    path, question, answer = answers.get(timeout=_WAIT_S)
                    done_count += 1
                    sizes = with_answer(self._reports[path].sizes, question, answer)
                    yield self._reported(judge.with_sizes(self._reports[path], sizes))
                    yield Progress(step="measured", done_count=done_count, known_count=known_count, complete=True)

    def _reported(self, report: RepositoryReport, *, is_stored: bool = False) -> Report:
        self._reports[report.repository.path] = report
        summary = summarize(report)
        if not is_stored:
            self._memory.save(report, summary)
        return Report(report, summary)


def _open_questions(report: RepositoryReport) -> tuple[Question, ...]:
    known = ((Question.REACHABLE, report.sizes.reachable), (Question.REACHABLE_OWN, report.sizes.reachable_own))
    return tuple(question for question, size in known if not isinstance(size, SizeMeasurement))


def _stands_alone(one: Inspected) -> bool:
    """Tell whether a repository can be judged before the others are known: it borrows nothing, and it is new."""
    return not one.is_reused and isinstance(one.inspection, Inspection) and one.inspection.alternates is None
