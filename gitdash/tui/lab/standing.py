"""Where an experiment stands, in words. Pure."""

from gitdash.model.experiment import ExperimentResult
from gitdash.model.job import Job, JobState
from gitdash.tui.experiments import ExperimentUnderWay
from gitdash.units import ago_text, counted, human_duration


def doing_text(under_way: ExperimentUnderWay, job: Job, now_s: float) -> str:
    """Return what an experiment that is not over does now."""
    if job.state is JobState.QUEUED:
        return "Waits for its turn: experiments are made one after another."
    elapsed_s = max(now_s - (job.started_at_s or now_s), 0.0)
    done = f"{counted(under_way.run_count, 'run')} so far"
    return f"Running for {human_duration(elapsed_s)}, {done}: {under_way.step or 'begins'}."


def result_when(result: ExperimentResult, now_s: float) -> str:
    """Return how old a result is, and whether it is all that was wanted."""
    when = ago_text(max(now_s - result.started_at_s, 0.0))
    return when if result.is_complete else f"{when}, not complete"
