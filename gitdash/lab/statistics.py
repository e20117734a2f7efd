"""What runs say: median, minimum, an interval of the median, and which variant won.

The interval is the percentile bootstrap of Efron, "Bootstrap Methods: Another Look at the Jackknife" (1979): the runs
are drawn again with replacement, many times, and the interval holds 95 of 100 of the medians. With five or six runs it
is the whole range, from seven on it is narrower. Of so few runs it holds the true median less often than that: the
second to the sixth of seven does in 1 - 2 * 8 / 2**7 = 87.5 of 100 cases. Deterministic: the same runs give the same
interval. Pure.
"""  # noqa: A005 - imports are absolute

import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Final

from gitdash.model.experiment import LEAST_RUNS, Summary
from gitdash.units import fine_duration

_RESAMPLE_COUNT: Final = 2_000
"""The ends of the interval then hold still to about half a percent of the resamples."""
_OUTSIDE_RATIO: Final = 0.025
"""Of the medians, on either side of the interval."""


def summary_of(values: Sequence[float]) -> Summary:
    """Summarize seconds, of which there is at least one; the same seconds give the same interval."""
    draw = random.Random(0)  # noqa: S311 - statistics, not secrets
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(_RESAMPLE_COUNT))
    outside_count = int(_RESAMPLE_COUNT * _OUTSIDE_RATIO)
    return Summary(
        count=len(values),
        median_s=statistics.median(values),
        minimum_s=min(values),
        low_s=medians[outside_count],
        high_s=medians[-1 - outside_count],
    )


def is_narrow(summary: Summary, ratio: float) -> bool:
    """Whether the interval is no wider than a part of the median."""
    return summary.high_s - summary.low_s <= ratio * summary.median_s


def winner_of(summaries: Mapping[str, Summary]) -> str | None:
    """Return the name whose interval lies below all others.

    None if none does, if there is nothing to compare, or as long as one of them has too few runs: it might win.
    """
    ranked = sorted(summaries, key=lambda name: summaries[name].high_s)
    if len(ranked) < 2 or not all(summary.allows_verdict for summary in summaries.values()):
        return None
    best, *others = ranked
    return best if all(summaries[best].high_s < summaries[other].low_s for other in others) else None


def outcome(
    summaries: Mapping[str, Summary], titles: Mapping[str, str], *, is_complete: bool
) -> tuple[str | None, str]:
    """Return the winner and the verdict; of what was ended early nobody wins, whatever the runs so far say."""
    if is_complete or too_few_text(summaries, titles) is not None or len(summaries) < 2:
        return winner_of(summaries), verdict_text(summaries, titles)
    return None, "No verdict: it was ended before each variant had its runs."


def verdict_text(summaries: Mapping[str, Summary], titles: Mapping[str, str]) -> str:
    """Say in one sentence which variant won, or why none did; `titles` by the names of `summaries`."""
    ranked = sorted(summaries, key=lambda name: summaries[name].median_s)
    if len(ranked) < 2:
        return "Nothing to compare: fewer than two variants have runs."
    if (few := too_few_text(summaries, titles)) is not None:
        return few
    winner = winner_of(summaries)
    best, second = ranked[:2]
    if winner is None:
        return (
            f"No verdict: the intervals of {titles[best]} ({_interval(summaries[best])}) and of another,"
            f" such as {titles[_overlapping(best, summaries)]}"
            f" ({_interval(summaries[_overlapping(best, summaries)])}), do not part."
        )
    return (
        f"{titles[winner]} is the fastest: {fine_duration(summaries[best].median_s)} against"
        f" {fine_duration(summaries[second].median_s)} of {titles[second]}"
        f" ({_times(summaries[second].median_s, summaries[best].median_s)})."
    )


def too_few_text(summaries: Mapping[str, Summary], titles: Mapping[str, str]) -> str | None:
    """Return why there is no verdict if one of them has too few runs; None if all have enough."""
    fewest = min(summaries, key=lambda name: summaries[name].count, default=None)
    if fewest is None or summaries[fewest].allows_verdict:
        return None
    return f"Too few runs for a verdict: {titles[fewest]} has {summaries[fewest].count}, and {LEAST_RUNS} are needed."


def _overlapping(best: str, summaries: Mapping[str, Summary]) -> str:
    """Return the other variant whose interval begins lowest."""
    return min((name for name in summaries if name != best), key=lambda name: summaries[name].low_s)


def _interval(summary: Summary) -> str:
    return f"{fine_duration(summary.low_s)} to {fine_duration(summary.high_s)}"


def _times(longer_s: float, shorter_s: float) -> str:
    return f"{longer_s / shorter_s:.2f} times" if shorter_s > 0 else "the clock cannot tell how many times"
