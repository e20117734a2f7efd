"""One survey as a job, and what git is asked for it as parts of that job."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from typing_extensions import override

from gitdash.model.job import JobFigures, JobKind, JobState
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement
from gitdash.survey.events import Progress
from gitdash.survey.watching import SizeWatch
from gitdash.tui.feed.figures import question_text
from gitdash.tui.feed.jobs import JobRegister

_STEPS: Final = {"inspected": "inspecting", "measured": "measuring"}


@dataclass(slots=True, kw_only=True)
class _Part:
    """What git is asked of one repository."""

    number: int
    questions: Sequence[Question]
    after: JobFigures
    answers: list[SizeMeasurement | Unreadable | None] = field(default_factory=list)


class SurveyJob(SizeWatch):
    """Keeps the register up to date while a survey runs."""

    def __init__(self, register: JobRegister, number: int) -> None:
        self._register = register
        self._number = number
        self._parts: dict[bytes, _Part] = {}
        """By path; each is touched by the one thread that measures the repository."""

    def note_progress(self, progress: Progress) -> None:
        """Take an event of the survey."""
        self._register.advance(
            self._number,
            step=_STEPS[progress.step],
            done_count=progress.done_count,
            known_count=progress.known_count,
            may_grow=not progress.complete,
        )

    def note_report(self, report: RepositoryReport) -> None:
        """Settle failures of jobs by what the survey has found since."""
        path, sizes = report.repository.path, report.sizes
        if not isinstance(report.inspection, Unreadable):
            self._register.settle(JobKind.RESCAN, path)
        if isinstance(sizes.reachable, SizeMeasurement) and isinstance(sizes.reachable_own, SizeMeasurement):
            self._register.settle(JobKind.MEASURE, path)

    def end(self, *, is_finished: bool) -> None:
        """Say that the survey is over."""
        self._register.end_parts(self._number)
        self._register.end(self._number, JobState.DONE if is_finished else JobState.CANCELLED)

    @override
    def begun(self, report: RepositoryReport, questions: Sequence[Question], cancel: threading.Event) -> None:
        path, reachable = report.repository.path, report.sizes.reachable
        number = self._register.ask(JobKind.MEASURE, path, part_of=self._number, cancel=cancel)
        before = JobFigures(reachable_bytes=reachable.bytes if isinstance(reachable, SizeMeasurement) else None)
        self._parts[path] = part = _Part(number=number, questions=questions, after=before)
        self._register.start(number, before=before)
        self._say_how_far(part)

    @override
    def answered(self, report: RepositoryReport, question: Question, size: SizeMeasurement | Unreadable | None) -> None:
        part = self._parts[report.repository.path]
        part.answers.append(size)
        if question is Question.REACHABLE and isinstance(size, SizeMeasurement):
            part.after = JobFigures(reachable_bytes=size.bytes)
        if len(part.answers) < len(part.questions):
            self._say_how_far(part)
            return
        del self._parts[report.repository.path]
        state, reason = _outcome(part.answers)
        self._register.end(part.number, state, after=part.after, reason=reason)

    def _say_how_far(self, part: _Part) -> None:
        done_count = len(part.answers)
        step = question_text(part.questions[done_count])
        self._register.advance(part.number, step=step, done_count=done_count, known_count=len(part.questions))


def _outcome(answers: Sequence[SizeMeasurement | Unreadable | None]) -> tuple[JobState, str | None]:
    reasons = [answer.reason for answer in answers if isinstance(answer, Unreadable)]
    if reasons:
        return JobState.FAILED, reasons[0]
    return (JobState.CANCELLED if None in answers else JobState.DONE), None
