"""What the runs of each variant say, as texts for tables: one tuple of cells for each variant.

Pure. Warm-ups count for nothing. Where runs differ the cells have the median, but the peak of memory.
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gitdash.export.experiment_scale import compared
from gitdash.model.experiment import ExperimentResult, ExperimentRun, Measure, StrategyComparison, VariantResult
from gitdash.units import counted, fine_duration, human_bytes, human_duration, printable

HEADS: Final = ("variant", "median", "95 of 100", "minimum", "times", "runs", "CPU", "memory", "read", "answer")
"""`times` is how many times as long as the fastest, `95 of 100` the interval of the median."""
UNKNOWN: Final = "?"
"""What was not measured."""
NOTHING: Final = "-"
"""The answer of what answers nothing."""
_LONG_S: Final = 0.1
"""Preparing that took less is not worth a word."""


def figure_table(result: ExperimentResult) -> list[tuple[str, ...]]:
    """Return the heads, and the cells for each variant that is compared; without columns in which nothing is known."""
    variants = compared(result)
    best_s = min((variant.summary.median_s for variant in variants if variant.summary is not None), default=0.0)
    rows = [_cells(variant, best_s, is_winner=variant.name == result.winner) for variant in variants]
    columns = zip(HEADS, *rows, strict=True)
    told = [column for column in columns if not {*column[1:]} <= {UNKNOWN, NOTHING}]
    return [*zip(*told, strict=True)]


def _cells(variant: VariantResult, best_s: float, *, is_winner: bool) -> tuple[str, ...]:
    summary, runs = variant.summary, counted_runs(variant)
    if summary is None:
        return ()
    return (
        f"{printable(variant.name)}{' *' if is_winner else ''}",
        fine_duration(summary.median_s),
        f"{fine_duration(summary.low_s)} to {fine_duration(summary.high_s)}" if summary.allows_verdict else UNKNOWN,
        fine_duration(summary.minimum_s),
        _times(summary.median_s, best_s),
        str(summary.count),
        _median(runs, lambda run: run.measured_s(Measure.CPU), fine_duration),
        _memory(runs),
        _median(runs, lambda run: run.read_bytes, lambda value: human_bytes(round(value))),
        answer_text(variant),
    )


def _times(duration_s: float, best_s: float) -> str:
    if best_s <= 0:
        return UNKNOWN
    times = duration_s / best_s
    return f"{times:.2f}" if times < 99.995 else f"{times:,.0f}"


def counted_runs(variant: VariantResult) -> list[ExperimentRun]:
    """Return the runs of a variant without warm-ups."""
    return [run for run in variant.runs if run.is_counted]


def answer_text(variant: VariantResult) -> str:
    """Return what a variant answered, exact to the last digit; `-` for none."""
    answers = sorted({run.answer for run in counted_runs(variant) if run.answer is not None})
    if not answers:
        return NOTHING
    sign = "" if variant.exact is not False else "~"
    return f"{sign}{answers[0]:,}" if len(answers) == 1 else f"{sign}{answers[0]:,} to {answers[-1]:,}"


def _memory(runs: Sequence[ExperimentRun]) -> str:
    peaks = [run.peak_memory_bytes for run in runs if run.peak_memory_bytes is not None]
    return human_bytes(max(peaks)) if peaks else UNKNOWN


def _median(
    runs: Iterable[ExperimentRun], value: Callable[[ExperimentRun], float | None], text: Callable[[float], str]
) -> str:
    found = [one for one in map(value, runs) if one is not None]
    return text(statistics.median(found)) if found else UNKNOWN


def phases_text(variant: VariantResult) -> str:
    """Return the median of each phase, in the order of the first run; empty without phases."""
    by_name: dict[str, list[float]] = {}
    for run in counted_runs(variant):
        for phase in run.phases:
            by_name.setdefault(phase.name, []).append(phase.elapsed_s)
    return ", ".join(f"{printable(name)} {fine_duration(statistics.median(all_s))}" for name, all_s in by_name.items())


def counts_text(variant: VariantResult) -> str:
    """Return the median of each count; empty if nothing was counted."""
    by_name: dict[str, list[int]] = {}
    for run in counted_runs(variant):
        for name, count in run.counts.items():
            by_name.setdefault(name, []).append(count)
    return ", ".join(f"{printable(name)} {round(statistics.median(all_)):,}" for name, all_ in by_name.items())


def took_text(result: ExperimentResult) -> str:
    """Return how long all runs took, and what went before them if that took long."""
    return " after ".join(filter(None, (human_duration(result.elapsed_s), prepared_text(result))))


def prepared_text(result: ExperimentResult) -> str:
    """Return how long it took before the first run; empty if that was soon."""
    return f"{human_duration(result.prepared_s)} of preparing" if result.prepared_s >= _LONG_S else ""


def comparison_text(comparison: StrategyComparison) -> str:
    """Return what a comparison of strategies says, and how much longer the rule's choice would take."""
    by_rule = f"{comparison.by_rule.value} {fine_duration(comparison.by_rule_s)}"
    best = f"{comparison.best.value} {fine_duration(comparison.best_s)}"
    said = (
        f"{comparison.winner.value} was the fastest, and is taken until something changes"
        if comparison.winner is not None
        else "none was clearly the fastest, so the rule stays"
    )
    return (
        f"of what `gitdash size` can do here, copies left out, {said}; by the rule {by_rule}, the best {best}:"
        f" regret {comparison.regret:.2f}"
    )


def circumstances(result: ExperimentResult) -> list[str]:
    """Return where and under what all of it was measured, one clause each."""
    loads = [run.load_1m for variant in result.variants for run in variant.runs if run.load_1m is not None]
    return [
        f"{result.cache.value} cache" + (f" ({printable(result.cache_note)})" if result.cache_note else ""),
        f"git {printable(result.git_version)}",
        f"gitdash {printable(result.gitdash_version)}",
        f"{printable(result.host)}, {counted(result.processor_count, 'processor')}",
        *([f"file system {printable(result.filesystem_type)}"] if result.filesystem_type else []),
        *([f"load {min(loads):.2f} to {max(loads):.2f}"] if loads else []),
        f"fingerprint {result.fingerprint.hex()}",
    ]


def reservations(result: ExperimentResult) -> list[str]:
    """Return what a reader has to know before the figures are used, a sentence each."""
    discarded = counted(result.discarded_count, "run was", "runs were")
    return [
        *(["Not complete: it was ended before each variant had its runs."] if not result.is_complete else []),
        *([f"{discarded} thrown away, for the repository changed meanwhile."] if result.discarded_count else []),
        *map(printable, result.notes),
        *([_as_sentence(comparison_text(result.comparison))] if result.comparison is not None else []),
    ]


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
