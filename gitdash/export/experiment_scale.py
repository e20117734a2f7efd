"""The axis on which runs of variants are drawn: where a duration stands, and which durations are written below.

Pure. From 0 on, as long as the slowest run takes at most 20 times as long as the fastest; else by powers of ten, for a
look-up of a missing object takes hundreds of times as long as one that is found.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.model.experiment import ExperimentResult, Measure, VariantResult

_WIDEST_LINEAR: Final = 20.0
_STEPS: Final = (1.0, 2.0, 5.0, 10.0)
_TICK_COUNT: Final = 5
"""At most so many steps on a linear axis."""
_SHORTEST_S: Final = 1e-9
"""What a clock says of something that takes no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An axis of durations."""

    low_s: float
    high_s: float
    """More than `low_s`."""
    is_logarithmic: bool

    def place(self, duration_s: float) -> float:
        """Return where a duration stands, from 0.0 at the left end to 1.0 at the right one."""
        if self.is_logarithmic:
            low, high = math.log(self.low_s), math.log(self.high_s)
            found = (math.log(max(duration_s, _SHORTEST_S)) - low) / (high - low)
        else:
            found = (duration_s - self.low_s) / (self.high_s - self.low_s)
        return min(max(found, 0.0), 1.0)

    @property
    def ticks_s(self) -> tuple[float, ...]:
        """The durations that are written at the axis, ends included."""
        if self.is_logarithmic:
            first, last = round(math.log10(self.low_s)), round(math.log10(self.high_s))
            return tuple(10.0**exponent for exponent in range(first, last + 1))
        step_s = _step(self.high_s)
        return tuple(number * step_s for number in range(round(self.high_s / step_s) + 1))


def durations_s(variant: VariantResult, measure: Measure) -> tuple[float, ...]:
    """Return what is compared of each run that counts, in the order of running."""
    measured = (run.measured_s(measure) for run in variant.runs if run.is_counted)
    return tuple(duration_s for duration_s in measured if duration_s is not None)


def compared(result: ExperimentResult) -> list[VariantResult]:
    """Return the variants whose times are compared, in their order: one that only counts calls has none."""
    return [variant for variant in result.variants if variant.summary is not None]


def scale_of(result: ExperimentResult) -> Scale | None:
    """Return an axis for all runs that are compared in an experiment; None if there are none."""
    found = [one for variant in compared(result) for one in durations_s(variant, result.measure)]
    summaries = [variant.summary for variant in result.variants if variant.summary is not None]
    found += [end_s for summary in summaries for end_s in (summary.low_s, summary.median_s, summary.high_s)]
    return scale_for([max(one, _SHORTEST_S) for one in found if math.isfinite(one)])


def scale_for(values_s: Sequence[float]) -> Scale | None:
    """Return an axis on which all durations have a place, with round ends; None if there are none."""
    if not values_s:
        return None
    low_s, high_s = min(values_s), max(values_s)
    if high_s <= low_s * _WIDEST_LINEAR:
        step_s = _step(high_s)
        return Scale(low_s=0.0, high_s=math.ceil(high_s / step_s * (1 - 1e-9)) * step_s, is_logarithmic=False)
    low, high = math.floor(math.log10(low_s)), math.ceil(math.log10(high_s))
    return Scale(low_s=10.0**low, high_s=10.0 ** max(high, low + 1), is_logarithmic=True)


def _step(high_s: float) -> float:
    """Return the smallest round step of which few reach to the end."""
    power = 10.0 ** math.floor(math.log10(high_s / _TICK_COUNT))
    return next(step * power for step in _STEPS if step * power * _TICK_COUNT >= high_s * (1 - 1e-9))
