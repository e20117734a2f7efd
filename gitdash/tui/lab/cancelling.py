"""Ends an experiment that waits or runs, and says so."""

from collections.abc import Callable

from gitdash.model.experiment import ExperimentKind
from gitdash.model.job import Job, JobState
from gitdash.tui.context import Context


def job_of(context: Context, path: bytes, kind: ExperimentKind) -> Job | None:
    """Return the job of the last experiment of a kind on a repository; None if there is none, or it is forgotten."""
    under_way = context.experiments.get((path, kind))
    return None if under_way is None else context.jobs.get(under_way.job_number)


def cancel_experiment(context: Context, path: bytes, kind: ExperimentKind, say: Callable[[str], None]) -> None:
    """Cancel what waits or runs."""
    job = job_of(context, path, kind)
    if job is None or job.state.has_ended:
        say(f"No experiment {kind.value} runs here.")
        return
    context.source.cancel_job(job.number)
    if job.state is JobState.QUEUED:
        say(f"The experiment {kind.value} will not begin.")
    else:
        say(f"Cancelling the experiment {kind.value}: what was measured so far is kept as not complete.")
