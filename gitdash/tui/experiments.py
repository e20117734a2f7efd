"""What the lab of the dashboard is about: what can be compared in a repository, what was chosen, and how far that is.

Records between source and screens; variants and results are those of `model.experiment`. Texts are printable.
"""

from dataclasses import dataclass
from typing import Final

from gitdash.model.experiment import ExperimentKind, ExperimentResult, VariantResult

BUDGET_S: Final = 60.0
"""For all runs of an experiment together, where nothing else is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedQuestion:
    """One question of an experiment, and the ways that are compared to answer it."""

    text: str
    """Empty if the experiment has but one."""
    variants: tuple[VariantResult, ...]
    """Without runs; those that cannot run here say why."""
    problem: str = ""
    """Why nothing can be offered; a sentence's part."""
    contacts: str = ""
    """The remote that is asked, and its URL; empty if none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedExperiment:
    """One experiment as it could be made in a repository."""

    kind: ExperimentKind
    title: str
    explanation: str
    questions: tuple[OfferedQuestion, ...]
    """At least one; the first is asked where nothing is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabAnswer:
    """What the lab knows of a repository."""

    offers: tuple[OfferedExperiment, ...]
    earlier: tuple[ExperimentResult, ...]
    """Of this repository, the newest of each kind first."""
    others: tuple[ExperimentResult, ...]
    """Of other repositories, the newest of each kind first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentChoice:
    """What a person has chosen of an experiment."""

    question: str = ""
    variants: tuple[str, ...] = ()
    """Names; empty for all."""
    runs: int | None = None
    """Of each variant; None for as many as the intervals need."""
    budget_s: float = BUDGET_S
    is_cold: bool = False
    has_curve: bool = False
    """Whether look-ups are also timed among other numbers of packs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentUnderWay:
    """One experiment from the moment it is asked for; a later record of the same kind and repository replaces it."""

    job_number: int
    path: bytes
    kind: ExperimentKind
    choice: ExperimentChoice
    step: str = ""
    """What it does now."""
    variants: tuple[VariantResult, ...] = ()
    """With the runs so far; empty until it has begun."""
    result: ExperimentResult | None = None
    """Once it is over, and came to one."""
    problem: str | None = None
    """Why it came to none."""

    @property
    def run_count(self) -> int:
        """Runs so far, without warm-ups."""
        return sum(len(variant.runs) for variant in self.variants)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.result is not None or self.problem is not None
