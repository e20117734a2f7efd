"""Keeps register and screens up to date while an experiment goes on."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from gitdash.model.experiment import ExperimentResult, ExperimentRun, Summary, VariantResult
from gitdash.tui.experiments import ExperimentUnderWay
from gitdash.tui.feed.jobs import JobRegister
from gitdash.tui.feed.offers import offered_variant
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.lab.variant import Variant


class ExperimentWatch:
    """What is shown of one experiment; told of by the thread that makes it."""

    def __init__(
        self, under_way: ExperimentUnderWay, register: JobRegister, show: Callable[[ExperimentUnderWay], None]
    ) -> None:
        self.now = under_way
        self._register = register
        self._show = show

    def show(self, *, result: ExperimentResult | None = None, problem: str | None = None) -> None:
        """Say what came of it."""
        self.now = replace(self.now, result=result, problem=problem)
        self._show(self.now)

    def begin(self, variants: "Sequence[Variant]") -> None:
        """Say which variants take turns."""
        chosen = self.now.choice.variants
        taken = [variant for variant in variants if not chosen or variant.name in chosen]
        self.now = replace(self.now, variants=tuple(map(offered_variant, taken)))
        self._show(self.now)

    def step(self, text: str) -> None:
        """Say what it does before the first run."""
        self.now = replace(self.now, step=printable(text))
        self._register.advance(self.now.job_number, step=self.now.step, done_count=self.now.run_count)
        self._show(self.now)

    def take(self, run: ExperimentRun) -> None:
        """Take one run that is over; a warm-up is only told of."""
        from gitdash.lab.statistics import summary_of

        if run.is_counted:
            self.now = replace(
                self.now,
                variants=tuple(
                    _with_run(variant, run, summary_of) if variant.name == run.variant else variant
                    for variant in self.now.variants
                ),
            )
            self.step(f"run {self.now.run_count:,}: {run.variant}")
        else:
            self.step(f"warming up: {run.variant}")

    def discard(self) -> None:
        """Take all runs away: they were of a repository that is no more."""
        variants = tuple(msgspec.structs.replace(variant, runs=(), summary=None) for variant in self.now.variants)
        self.now = replace(self.now, variants=variants)
        self.step("the repository has changed: its runs are thrown away")


def _with_run(
    variant: VariantResult, run: ExperimentRun, summary_of: "Callable[[Sequence[float]], Summary]"
) -> VariantResult:
    runs = (*variant.runs, run)
    return msgspec.structs.replace(variant, runs=runs, summary=summary_of([one.wall_s for one in runs]))
