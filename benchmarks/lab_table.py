"""The table of the lab: what was published of two ways, beside what came out here. Pure."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from gitdash.model.experiment import ExperimentResult, Measure, VariantResult

_LIKE: Final = 2.0
"""Ratios that differ by less, themselves and in their logarithms, are alike for a repository of another size on another
machine."""
_EVEN: Final = 1.1
"""A ratio below is no difference, even if all runs agree on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One published figure, and ours."""

    experiment: str
    compared: str
    """Of what, in words: the first way, the second."""
    published: str
    published_ratio: float
    """The first way divided by the second."""
    here: str
    ratio: float
    git: str
    """Its version."""
    load_1m: float
    why: str
    """What of the generated repository or of this git explains the ratio."""
    ratios: tuple[float, ...] = ()
    """Of each pair of runs; empty for what was counted."""

    @property
    def reproduced(self) -> str:
        """Say how far ours is what was published.

        `yes` if it is as large, `in kind` if the same way is ahead by much less or more, `no` if it is not, and `open`
        if our runs lie on both sides of 1 and the published ratio among them: then they say nothing.
        """
        if self.ratios and min(self.ratios) <= 1 <= max(self.ratios):
            return "open" if min(self.ratios) <= self.published_ratio <= max(self.ratios) else "no"
        if _side(self.ratio) != _side(self.published_ratio):
            return "no"
        ours, theirs = math.log(self.ratio), math.log(self.published_ratio)
        is_like = abs(ours - theirs) < math.log(_LIKE)
        # a tenth faster is not twice as fast, though a factor of 2 lies between neither
        is_as_large = theirs == 0 or 1 / _LIKE < ours / theirs < _LIKE
        return "yes" if is_like and is_as_large else "in kind"

    def text(self) -> str:
        """One line for people."""
        ratio = f"{_shown(self.ratio)} (published {_shown(self.published_ratio)})"
        return f"{self.reproduced:8} {self.experiment}, {self.compared}, git {self.git}: {self.here}, {ratio}"

    def record(self) -> dict[str, object]:
        """The row for JSON."""
        return asdict(self) | {"reproduced": self.reproduced}


def compared_runs(first: VariantResult, second: VariantResult, measure: Measure) -> tuple[float, ...]:
    """Return the first way divided by the second, for each pair of runs that followed one another."""
    pairs = zip(first.runs, second.runs, strict=True)
    return tuple(_seconds(one.measured_s(measure)) / _seconds(other.measured_s(measure)) for one, other in pairs)


def median_s(variant: VariantResult, measure: Measure) -> float:
    """Return the median of a way."""
    return statistics.median(_seconds(run.measured_s(measure)) for run in variant.runs)


def load_of(result: ExperimentResult) -> float:
    """Return the mean load during the runs."""
    loads = [run.load_1m for variant in result.variants for run in variant.runs if run.load_1m is not None]
    return statistics.mean(loads) if loads else 0.0


def variants_of(result: ExperimentResult) -> dict[str, VariantResult]:
    """Return the ways by name. Ends the program if one did not run."""
    for variant in result.variants:
        if not variant.runs:
            raise SystemExit(f"{result.kind} {variant.name} did not run: {variant.skipped or variant.note}")
    return {variant.name: variant for variant in result.variants}


def markdown(rows: Sequence[Row]) -> str:
    """Return the table for the README: a line for each comparison, a column for each git."""
    gits = list(dict.fromkeys(row.git for row in rows))
    lines = [f"| experiment | published | {' | '.join(f'git {git}' for git in gits)} | reproduced |"]
    lines.append("|" + "---|" * (len(gits) + 3))
    for name in dict.fromkeys((row.experiment, row.compared) for row in rows):
        same = {row.git: row for row in rows if (row.experiment, row.compared) == name}
        row = next(iter(same.values()))
        here = [f"{same[git].here}: {_shown(same[git].ratio)}" if git in same else "" for git in gits]
        published = f"{row.published}: {_shown(row.published_ratio)}"
        lines.append(f"| `{name[0]}`: {name[1]} | {published} | {' | '.join(here)} | {_reproduced(same)}: {row.why} |")
    return "\n".join(lines)


def _reproduced(rows: Mapping[str, Row]) -> str:
    found = {row.reproduced for row in rows.values()}
    if len(found) == 1:
        return found.pop()
    return ", ".join(f"{row.reproduced} with {git}" for git, row in rows.items())


def _side(ratio: float) -> int:
    if 1 / _EVEN <= ratio <= _EVEN:
        return 0
    return 1 if ratio > 1 else -1


def _shown(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio < 1_000 else f"{ratio:,.0f}"


def _seconds(value: float | None) -> float:
    if value is None:
        raise SystemExit("processor time was not measured")
    return value
