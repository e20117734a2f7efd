"""How many jobs stand where. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from gitdash.model.job import Job, JobState


class JobCounts(NamedTuple):
    """What is worth a word of all jobs."""

    running: int
    queued: int
    failed: int
    """Those that have not been done again since: of what was tried ten times on one repository, the last."""
    refused: int = 0
    """The same."""
    skipped: int = 0
    """The same."""


def job_counts(jobs: Iterable[Job]) -> JobCounts:
    """Count jobs; those of a survey that failed are part of it, and so are its queries that run now."""
    states = [job.state for job in jobs if not job.is_settled]
    return JobCounts(
        states.count(JobState.RUNNING),
        states.count(JobState.QUEUED),
        states.count(JobState.FAILED),
        states.count(JobState.REFUSED),
        states.count(JobState.SKIPPED),
    )
