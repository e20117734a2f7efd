"""After `gitdash bench size`: remembers the winner for `gitdash size --strategy auto`."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from gitdash.cli.clock import wall_clock
from gitdash.cli.output import say
from gitdash.cli.session import Session
from gitdash.errors import GitdashError
from gitdash.lab.size_variants import QUESTIONS, STRATEGIES
from gitdash.model.experiment import ExperimentResult
from gitdash.model.report import RepositoryReport
from gitdash.survey.remembering import Remembering
from gitdash.survey.sizing import Sizing

if TYPE_CHECKING:
    from gitdash.history.store import History


class WinnerOfSizes:
    """Made before the experiment, told its result."""

    def __init__(self, session: Session, history: "History", report: Callable[[], RepositoryReport]) -> None:
        """Take what inspects the repository anew."""
        sizing = Sizing(session.git, history=history, clock=wall_clock, time_limit_s=session.settings.size.time_limit_s)
        self._history = history
        self._report = report
        self._remembering = Remembering(report(), sizing, cancel=threading.Event())

    def remember(self, result: ExperimentResult) -> ExperimentResult:
        """Remember what the result says of the strategies, if anything, and return it with that in it.

        What fails costs only that.
        """
        try:
            comparison = self._remembering.remember(
                self._report(),
                result,
                question=QUESTIONS[result.question],
                strategies=STRATEGIES,
                experiments=self._history.experiments,
            )
        except GitdashError as error:
            say(f"gitdash: the winner is not remembered: {error}")
            return result
        return msgspec.structs.replace(result, comparison=comparison)
