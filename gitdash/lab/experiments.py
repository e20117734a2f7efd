"""The one list of experiments, from which command line, dashboard and documentation are made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.lab import clone, connectivity, fetch, filesystem, lookup, size
from gitdash.lab.request import ExperimentRequest
from gitdash.lab.variant import Variant
from gitdash.model.experiment import ExperimentKind, ExperimentResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One kind of experiment."""

    title: str
    """A few words."""
    explanation: str
    """What is compared, and what one learns from it; two or three sentences."""
    run: Callable[[ExperimentRequest], ExperimentResult]
    """Make it. Raises ExperimentError, GitError, and FileError if the repository cannot be read any more."""
    variants_of: Callable[[ExperimentRequest], Sequence[Variant]]
    """Variants as they would be run here, skipped ones included, for a list to choose from; makes no copy and starts
    nothing that takes long."""
    questions_of: Callable[[ExperimentRequest], Sequence[str]] = lambda _: ("",)
    """What can be asked here, one at a time, as `question` among the options of a request; the first is asked where
    nothing is said."""


EXPERIMENTS: Final[Mapping[ExperimentKind, Experiment]] = {
    ExperimentKind.SIZE: Experiment(
        title=size.TITLE,
        explanation=size.EXPLANATION,
        run=size.run,
        variants_of=size.variants,
        questions_of=size.questions,
    ),
    ExperimentKind.FETCH: Experiment(
        title=fetch.TITLE,
        explanation=fetch.EXPLANATION,
        run=fetch.run,
        variants_of=fetch.variants,
        questions_of=fetch.questions,
    ),
    ExperimentKind.CONNECTIVITY: Experiment(
        title=connectivity.TITLE,
        explanation=connectivity.EXPLANATION,
        run=connectivity.run,
        variants_of=connectivity.variants,
        questions_of=connectivity.questions,
    ),
    ExperimentKind.LOOKUP: Experiment(
        title=lookup.TITLE,
        explanation=lookup.EXPLANATION,
        run=lookup.run,
        variants_of=lookup.variants,
        questions_of=lookup.questions,
    ),
    ExperimentKind.FILESYSTEM: Experiment(
        title=filesystem.TITLE,
        explanation=filesystem.EXPLANATION,
        run=filesystem.run,
        variants_of=filesystem.variants,
    ),
    ExperimentKind.CLONE: Experiment(
        title=clone.TITLE, explanation=clone.EXPLANATION, run=clone.run, variants_of=clone.variants
    ),
}
