"""Experiments of the lab: variants of one command on one repository, their runs, and what the runs say.

Times `*_at_s` are seconds since the epoch, durations end in `_s`. Texts are printable.
"""

import enum
from typing import Final

import msgspec

from gitdash.model.ledger import Phase
from gitdash.model.sizes import Question, Strategy

LEAST_RUNS: Final = 5
"""Of each variant, before anything is said of which is the fastest: from fewer the bootstrap gives only the range
of what was seen, and from one nothing at all."""


class ExperimentKind(enum.StrEnum):
    """What is compared."""

    SIZE = "size"
    """How the reachable size is obtained."""
    FETCH = "fetch"
    """Alternate refs as configured, and suppressed."""
    CONNECTIVITY = "connectivity"
    """The check that a fetch or a push makes, with the parts of a bitmap."""
    LOOKUP = "lookup"
    """Objects among many packs, with a multi-pack-index, and in one pack."""
    FILESYSTEM = "filesystem"
    """What look-ups and writes cost on a mount."""
    CLONE = "clone"
    """A clone into the same file system, counted and timed."""


class Measure(enum.StrEnum):
    """What of a run is compared."""

    WALL = "wall"
    CPU = "cpu"


class CacheState(enum.StrEnum):
    """What of the files is in memory when a run begins."""

    WARM = "warm"
    COLD = "cold"


class ExperimentRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one variant."""

    variant: str
    number: int
    """From 1 on in the order of running, over all variants; 0 for a warm-up, which counts for nothing."""
    wall_s: float
    user_s: float | None
    """Of the whole process tree, as is what follows; None where nothing of its own ran."""
    system_s: float | None
    peak_memory_bytes: int | None
    """Of the largest process."""
    read_bytes: int | None
    """From the disk, not from memory; None where the system does not count it."""
    answer: int | None = None
    """What it answered, such as bytes or objects; None if the variant answers nothing."""
    load_1m: float | None = None
    started_at_s: float
    phases: tuple[Phase, ...] = ()
    counts: dict[str, int] = {}
    """What was counted, such as look-ups by kind or system calls."""

    @property
    def is_counted(self) -> bool:
        """Whether it is no warm-up."""
        return self.number > 0

    def measured_s(self, measure: Measure) -> float | None:
        """Return what is compared; None if it was not measured."""
        if measure is Measure.WALL:
            return self.wall_s
        return None if self.user_s is None or self.system_s is None else self.user_s + self.system_s


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What the runs of one variant say of one measure, in seconds."""

    count: int
    median_s: float
    minimum_s: float
    low_s: float
    """The interval of 95 of 100 of the medians by bootstrap."""
    high_s: float

    @property
    def allows_verdict(self) -> bool:
        """Whether there are enough runs for the interval to say something."""
        return self.count >= LEAST_RUNS


class VariantResult(msgspec.Struct, frozen=True, kw_only=True):
    """One variant of an experiment."""

    name: str
    """Unique in the experiment, kebab case, such as `bitmap-without-lender`."""
    title: str
    """A few words."""
    explanation: str
    """What it does, and why it should be fast or slow; one or two sentences."""
    argv: tuple[str, ...] = ()
    """What was timed, every word of it, masked; variables first, as a shell takes them. Empty if it was no command."""
    stdin: str = ""
    """What that was given, a few words, such as `202 lines, from ... to ...`; empty for nothing."""
    skipped: str | None = None
    """Why it was not run, such as `needs git 2.46`; None if it was."""
    exact: bool | None = None
    """Whether its answer is the exact one; None if it answers nothing."""
    note: str = ""
    """Such as by how much it over-counts."""
    runs: tuple[ExperimentRun, ...] = ()
    summary: Summary | None = None
    """Of the measure of the experiment; None without runs."""


class StrategyComparison(msgspec.Struct, frozen=True, kw_only=True):
    """What an experiment says of the strategies for one size of one repository."""

    question: Question
    by_rule: Strategy
    """What the facts alone would have chosen."""
    by_rule_s: float
    """Its median."""
    best: Strategy
    """The one with the lowest median."""
    best_s: float
    winner: Strategy | None
    """The one whose interval lies below all others; None if the intervals do not part: then the rule stays."""
    measured_at_s: float
    git_version: str

    @property
    def regret(self) -> float:
        """How many times as long the rule's choice takes as the best; 1 if it is the best."""
        return self.by_rule_s / self.best_s if self.best_s > 0 else 1.0


class ExperimentResult(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment on one repository, as it is stored."""

    number: int
    """Given by the store; 0 until then."""
    kind: ExperimentKind
    question: str = ""
    """Which of its questions, such as `without the lender`; empty if it has one."""
    path: bytes
    fingerprint: bytes
    """Of what decides the outcome: references, packs, bitmaps; it has to be the same before and after each run."""
    measure: Measure = Measure.WALL
    cache: CacheState
    cache_note: str = ""
    """How the cache was emptied, and how that was seen."""
    variants: tuple[VariantResult, ...]
    winner: str | None
    """Name of the variant whose interval lies below all others; None if they do not part, or runs are too few."""
    verdict: str
    """One sentence."""
    discarded_count: int = 0
    """Runs that were thrown away, for the repository changed meanwhile."""
    is_complete: bool = True
    """False if it was cancelled or its time ran out before each variant had its runs."""
    notes: tuple[str, ...] = ()
    comparison: StrategyComparison | None = None
    """What is remembered of it for `gitdash size`; None if nothing is."""
    prepared_s: float = 0.0
    """How long it took before the first run, such as for copies and their repacks."""
    started_at_s: float
    """Of the first run."""
    elapsed_s: float
    """For all runs."""
    gitdash_version: str
    git_version: str
    host: str
    processor_count: int
    filesystem_type: str | None = None
