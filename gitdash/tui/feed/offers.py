"""What the lab offers in a repository, as records for screens; it starts nothing that takes long."""

from dataclasses import replace
from typing import TYPE_CHECKING

from gitdash.errors import GitdashError
from gitdash.gitcmd.masking import mask_credentials
from gitdash.model.experiment import ExperimentKind, VariantResult
from gitdash.tui.experiments import ExperimentChoice, OfferedExperiment, OfferedQuestion
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.lab.experiments import Experiment
    from gitdash.lab.request import ExperimentRequest
    from gitdash.lab.variant import Variant


def offer_of(kind: ExperimentKind, experiment: "Experiment", request: "ExperimentRequest") -> OfferedExperiment:
    """Return an experiment as it could be made in the repository of the request."""
    try:
        texts = tuple(experiment.questions_of(request))
    except GitdashError as error:
        questions: tuple[OfferedQuestion, ...] = (OfferedQuestion(text="", variants=(), problem=printable(str(error))),)
    else:
        questions = tuple(_question(text, experiment, request) for text in texts)
    return OfferedExperiment(kind=kind, title=experiment.title, explanation=experiment.explanation, questions=questions)


def _question(text: str, experiment: "Experiment", request: "ExperimentRequest") -> OfferedQuestion:
    asked = replace(request, options={**request.options, **options_of(ExperimentChoice(question=text))})
    try:
        variants, contacts = experiment.variants_of(asked), _contacts(text, asked)
    except GitdashError as error:
        return OfferedQuestion(text=text, variants=(), problem=printable(str(error)))
    return OfferedQuestion(text=text, variants=tuple(map(offered_variant, variants)), contacts=contacts)


def _contacts(text: str, request: "ExperimentRequest") -> str:
    """Return whom a question asks; empty for none. Raises GitdashError if it could not be asked."""
    from gitdash.lab.fetch import contacted
    from gitdash.lab.fetch_sources import REAL_REMOTE

    return contacted(request) if text == REAL_REMOTE else ""


def options_of(choice: ExperimentChoice) -> dict[str, object]:
    """Return what only some experiments know; what was not chosen is not said."""
    return {
        **({"question": choice.question} if choice.question else {}),
        **({"curve": True} if choice.has_curve else {}),
    }


def offered_variant(variant: "Variant") -> VariantResult:
    """Return a variant without what runs it."""
    return VariantResult(
        name=printable(variant.name),
        title=printable(variant.title),
        explanation=printable(variant.explanation),
        argv=tuple(printable(mask_credentials(argument)) for argument in variant.argv),
        skipped=None if variant.skipped is None else printable(variant.skipped),
    )
