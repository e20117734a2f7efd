"""What is known of a repository before and after a job, and how the job ended. Pure."""

from typing import Final

from gitdash.model.job import JobFigures, JobKind, JobState
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question
from gitdash.model.summary import RepositorySummary

_QUESTION_NAMES: Final = {Question.REACHABLE: "reachable", Question.REACHABLE_OWN: "own"}


def figures_of(summary: RepositorySummary) -> JobFigures:
    """Return what is known of a repository at this moment."""
    return JobFigures(
        pack_count=_known(summary.pack_count),
        loose_count=_known(summary.loose_count),
        disk_bytes=_known(summary.disk_bytes),
        reachable_bytes=_known(summary.reachable_bytes),
        reference_count=_known(summary.reference_count),
        finding_count=summary.finding_count,
    )


def outcome_of(report: RepositoryReport, kind: JobKind, *, is_cancelled: bool) -> tuple[JobState, str | None]:
    """Return how a look at one repository ended, by what it has found, and if it failed why."""
    if is_cancelled:
        return JobState.CANCELLED, None
    sizes = (report.sizes.reachable, report.sizes.reachable_own) if kind is JobKind.MEASURE else ()
    parts = (report.inspection, *sizes)
    reason = next((part.reason for part in parts if isinstance(part, Unreadable)), None)
    return (JobState.DONE if reason is None else JobState.FAILED), reason


def question_text(question: Question) -> str:
    """Return what git is asked, for the step of a job."""
    return f"asking git for {_QUESTION_NAMES[question]}"


def _known(value: int | Unreadable | None) -> int | None:
    return value if isinstance(value, int) else None
