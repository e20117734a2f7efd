"""Remembers which strategy an experiment found to be the fastest, if nothing has changed while it ran."""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gitdash.model.experiment import CacheState, ExperimentResult, StrategyComparison
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, Strategy
from gitdash.survey.comparing import comparison_of
from gitdash.survey.size_inputs import SizeQuestion
from gitdash.survey.sizing import PreparedSize, Sizing

if TYPE_CHECKING:
    from gitdash.history.experiments import Experiments


class Remembering:
    """Made before an experiment begins, used when it has ended."""

    def __init__(self, report: RepositoryReport, sizing: Sizing, *, cancel: threading.Event) -> None:
        """Take what the sizes of a repository depend on; raises GitdashError if that cannot be read."""
        self._sizing = sizing
        self._cancel = cancel
        self._before = {question: self._prepare(report, question) for question in Question}

    def remember(
        self,
        report: RepositoryReport,
        result: ExperimentResult,
        *,
        question: Question,
        strategies: Mapping[str, Strategy],
        experiments: "Experiments",
    ) -> StrategyComparison | None:
        """Write down what `result` says of the strategies, and return it; `report` is made after it.

        None if it says nothing of them, or something has changed meanwhile. With a cold cache other things decide than
        in the next seconds, so such a result counts for nothing here. `strategies` are by the names of variants.
        """
        before, after = self._before[question], self._prepare(report, question)
        if before is None or after is None or before.speed_fingerprint != after.speed_fingerprint:
            return None
        if result.cache is not CacheState.WARM:
            return None
        comparison = comparison_of(result, question, strategies, self._sizing.by_rule(after))
        if comparison is not None:
            experiments.save_comparison(result.path, comparison, fingerprint=after.speed_fingerprint)
        return comparison

    def _prepare(self, report: RepositoryReport, question: Question) -> PreparedSize | None:
        prepared = self._sizing.prepare(report, SizeQuestion(question=question), cancel=self._cancel)
        return None if isinstance(prepared, Unreadable) else prepared
