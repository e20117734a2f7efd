"""What is known of a repository before and after a job, and how the job ended. Pure."""

from typing import Final

import msgspec

from gitdash.model.job import JobFigures, JobKind, JobState
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement
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


def with_sizes_of_this_run(report: RepositoryReport, started_at_s: float) -> RepositoryReport:
    """Return a stored report in which only sizes that were measured before this run began are said to be remembered."""
    sizes = report.sizes
    reachable, own = (
        msgspec.structs.replace(size, from_history=False)
        if isinstance(size, SizeMeasurement) and size.measured_at_s >= started_at_s
        else size
        for size in (sizes.reachable, sizes.reachable_own)
    )
    changed = msgspec.structs.replace(sizes, reachable=reachable, reachable_own=own)
    return msgspec.structs.replace(report, sizes=changed)


def question_text(question: Question) -> str:
    """Return what git is asked, for the step of a job."""
    return f"asking git for {_QUESTION_NAMES[question]}"


def _known(value: int | Unreadable | None) -> int | None:
    return value if isinstance(value, int) else None
