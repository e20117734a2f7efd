"""Drive a survey for a command: collect its reports, show progress and notices on stderr.

It does not print data; that is each command's own matter.
"""

import gc
import os
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitdash.cli.clock import wall_clock
from gitdash.cli.measuring_line import MeasuringLine
from gitdash.cli.output import say
from gitdash.cli.session import Session
from gitdash.model.report import RepositoryReport, Totals
from gitdash.model.repository import NotRepository, Unreadable
from gitdash.model.sizes import Question, Sizes
from gitdash.model.summary import RepositorySummary
from gitdash.survey.events import Finished, NotARepository, Notice, Progress, Report, SurveyEvent
from gitdash.survey.survey import SizesWanted, SurveyRequest, run_survey
from gitdash.units import printable_path

Choose = Callable[[Sequence[RepositorySummary]], Collection[bytes]]
"""Returns which repositories are measured, given all before that."""

_STEPS: Final = {"inspected": "inspected", "measured": "sizes measured"}


@dataclass(slots=True)
class Survey:
    """What a finished survey found."""

    now_s: float
    """When it began; ages are shown against it."""
    git_version: str
    reports: dict[bytes, RepositoryReport] = field(default_factory=dict)
    """By path."""
    summaries: dict[bytes, RepositorySummary] = field(default_factory=dict)
    candidates: list[NotRepository] = field(default_factory=list)
    """What looked like a repository and is none, or could not be searched."""
    totals: Totals | None = None
    failures: dict[bytes, str] = field(default_factory=dict)
    """By path why a size that was to be measured could not be had."""

    def rows(self) -> list[RepositorySummary]:
        """Return all rows, sorted by path."""
        return [self.summaries[path] for path in sorted(self.summaries)]


def survey_roots(
    session: Session,
    roots: tuple[bytes, ...],
    sizes: str,
    choose: Choose | None = None,
    questions: tuple[Question, ...] = tuple(Question),
) -> Survey:
    """Run a whole survey; raises GitdashError for wrong roots, configuration, state or git.

    `questions` are those of the reachable sizes that are wanted, where `sizes` has these measured.
    """
    # What the collector would go through again and again is all in use.
    gc.disable()
    try:
        survey, request = _run_whole(session, roots, sizes, choose, questions)
    finally:
        # what comes after, such as hours of fetches, is looked through as ever, and the survey never
        gc.freeze()
        gc.enable()
    if not survey.reports:
        say(f"gitdash: no repositories below {', '.join(map(printable_path, request.roots))}")
    for candidate in survey.candidates:
        say_candidate(candidate)
    for path in sorted(survey.reports):
        reasons = _failures(survey.reports[path].sizes, request)
        if reasons:
            survey.failures[path] = reasons
    return survey


def _run_whole(
    session: Session,
    roots: tuple[bytes, ...],
    sizes: str,
    choose: Choose | None,
    questions: tuple[Question, ...],
) -> tuple[Survey, SurveyRequest]:
    now_s = wall_clock()
    program = session.git
    survey = Survey(now_s=now_s, git_version=program.version_text)
    with session.history() as history, MeasuringLine() as progress:
        request = SurveyRequest(
            roots=session.roots(roots),
            settings=session.settings,
            sizes=SizesWanted(sizes),
            questions=questions,
            now_s=now_s,
            clock=wall_clock,
            program=program,
            history=history,
            effective_uid=os.geteuid(),
            choose=choose,
        )
        for event in run_survey(request, cancel=threading.Event(), watch=progress):
            _take(event, survey, progress)
    return survey, request


def say_candidate(candidate: NotRepository) -> None:
    """Say what is no repository, but for plain files, which would be the same lines in the mail of each night."""
    if not candidate.is_plain_file:
        say(f"not a repository: {printable_path(candidate.path)}: {candidate.reason}")


def say_failures(survey: Survey, concerned: Collection[bytes]) -> bool:
    """Say which sizes could not be had in the repositories that are concerned; returns whether there was one."""
    failures = {path: reasons for path, reasons in survey.failures.items() if path in concerned}
    for path, reasons in failures.items():
        say(f"gitdash: a measurement failed: {printable_path(path)}: {reasons}")
    return bool(failures)


def _failures(sizes: Sizes, request: SurveyRequest) -> str:
    """Return why wanted sizes could not be had, one clause for each reason; empty if all could."""
    wanted = request.sizes
    asked: list[tuple[str, object]] = []
    if wanted in {SizesWanted.EXCLUSIVE, SizesWanted.ALL}:
        asked.append(("exclusive", sizes.exclusive))
    if wanted in {SizesWanted.REACHABLE, SizesWanted.ALL}:
        answers = {
            Question.REACHABLE: ("reachable", sizes.reachable),
            Question.REACHABLE_OWN: ("own", sizes.reachable_own),
        }
        asked += [answers[question] for question in request.questions]
    names: dict[str, list[str]] = {}
    for name, size in asked:
        if isinstance(size, Unreadable):
            names.setdefault(size.reason, []).append(name)
    return "; ".join(f"{', '.join(sizes_without)}: {reason}" for reason, sizes_without in names.items())


def _take(event: SurveyEvent, survey: Survey, progress: MeasuringLine) -> None:
    match event:
        case Report(report, summary):
            survey.reports[summary.path] = report
            survey.summaries[summary.path] = summary
        case Progress():
            open_end = "" if event.complete else "+"
            progress.show(f"{_STEPS[event.step]} {event.done_count:,}/{event.known_count:,}{open_end}")
        case NotARepository(candidate):
            survey.candidates.append(candidate)
        case Notice(text):
            progress.clear()
            say(text)
        case Finished():
            survey.totals = event.totals
        case _:
            pass
