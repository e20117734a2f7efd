"""The winner of an experiment with sizes, remembered for `--strategy auto` as `gitdash bench size` does it."""

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from gitdash.errors import GitdashError
from gitdash.model.experiment import ExperimentKind, ExperimentResult
from gitdash.model.report import RepositoryReport
from gitdash.tui.clock import Clock

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.git_program import GitProgram
    from gitdash.history.store import History


def remembering(  # noqa: PLR0913 - what a size depends on, each by name
    kind: ExperimentKind,
    *,
    settings: "Settings",
    history: "History | None",
    program: "GitProgram",
    clock: Clock,
    cancel: threading.Event,
    report: Callable[[], RepositoryReport],
) -> Callable[[ExperimentResult], ExperimentResult]:
    """Return what remembers a result, and returns it with what it says of the strategies; make it before it begins.

    What fails costs only the memory. `report` inspects the repository anew.
    """
    if kind is not ExperimentKind.SIZE or history is None:
        return lambda result: result
    from gitdash.lab.size_variants import QUESTIONS, STRATEGIES
    from gitdash.survey.remembering import Remembering
    from gitdash.survey.sizing import Sizing

    experiments = history.experiments
    sizing = Sizing(program, history=history, clock=clock, time_limit_s=settings.size.time_limit_s)
    before = None
    with contextlib.suppress(GitdashError):
        before = Remembering(report(), sizing, cancel=cancel)

    def remember(result: ExperimentResult) -> ExperimentResult:
        comparison = None
        if before is not None:
            with contextlib.suppress(GitdashError):
                comparison = before.remember(
                    report(),
                    result,
                    question=QUESTIONS[result.question],
                    strategies=STRATEGIES,
                    experiments=experiments,
                )
        return msgspec.structs.replace(result, comparison=comparison)

    return remember
