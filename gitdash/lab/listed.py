"""Variants as they stand in a list, and how they come to be ones that can be run."""

from collections.abc import Callable
from dataclasses import replace

from gitdash.gitcmd.git_error import GitError
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.lab.variant import Measured, RunContext, Variant
from gitdash.units import printable


def cannot_run(_: RunContext) -> Measured:
    """Stand for the run of a variant that is only listed. Raises ExperimentError."""
    raise ExperimentError("a variant of a list is not run")


def prepared(listed: Variant, request: ExperimentRequest, prepare: Callable[[Variant], Variant]) -> Variant:
    """Return what `prepare` makes of a variant that was chosen and can run here; else the variant as it is listed.

    What keeps `prepare` from making it, an ExperimentError or GitError, is why it is skipped.
    """
    if listed.skipped is not None or (request.chosen and listed.name not in request.chosen):
        return listed
    try:
        return prepare(listed)
    except (ExperimentError, GitError) as error:
        return replace(listed, skipped=printable(str(error)))
