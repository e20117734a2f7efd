"""What an experiment is made of: variants that can be run, what a run gave, and when to stop.

Records only; `method` runs them.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gitdash.model.experiment import LEAST_RUNS, ExperimentRun
from gitdash.model.ledger import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one run gave. Figures are of the whole process tree; None where nothing of its own ran."""

    wall_s: float
    user_s: float | None = None
    system_s: float | None = None
    peak_memory_bytes: int | None = None
    """Of the largest process."""
    read_bytes: int | None = None
    """From the disk, not from memory."""
    answer: int | None = None
    """Such as bytes or objects; the same in each run, unless the repository changed."""
    phases: tuple[Phase, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    """All words of what was started, variables first; empty if it was no command, or the variant's own says it."""
    stdin: str = ""
    """What that was given, a few words."""

    def as_run(self, variant: str, *, number: int, started_at_s: float, load_1m: float | None) -> ExperimentRun:
        """Return the record of this run; number 0 is a warm-up."""
        return ExperimentRun(
            variant=variant,
            number=number,
            wall_s=self.wall_s,
            user_s=self.user_s,
            system_s=self.system_s,
            peak_memory_bytes=self.peak_memory_bytes,
            read_bytes=self.read_bytes,
            answer=self.answer,
            load_1m=load_1m,
            started_at_s=started_at_s,
            phases=self.phases,
            counts=dict(self.counts),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What a run gets."""

    cancel: threading.Event
    """Whoever runs for long ends soon after it is set."""
    time_limit_s: float
    """After this the run is to be ended: no single run may take more than the budget of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to do it."""

    name: str
    """Unique in the experiment, kebab case."""
    title: str
    """A few words."""
    explanation: str
    """What it does, and why it should be fast or slow."""
    run: Callable[[RunContext], Measured]
    """Do it once. A GitError of one run ends its variant, and is its note."""
    argv: tuple[str, ...] = ()
    """What is timed, in short; what a run has said of it takes its place."""
    skipped: str | None = None
    """Why it is not run, such as `needs git 2.46`; then `run` is not called."""
    objects_dirs: tuple[bytes, ...] = ()
    """Object folders that it reads, if they are not those that the whole experiment reads: what is emptied for a run
    with a cold cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When an experiment ends: each variant has its least runs, and its interval is narrow or the budget is spent."""

    least_runs: int = LEAST_RUNS
    most_runs: int = 30
    budget_s: float = 60.0
    """For all runs together, warm-ups included; once it is spent no further run begins, be it one of the least."""
    narrow_ratio: float = 0.05
    """An interval is narrow if its width is at most this part of the median."""
