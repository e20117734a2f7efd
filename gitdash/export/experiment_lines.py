"""Experiments as lines of text, for terminals and pipes.

Lines are printable; commands are as long as they are, for they are there to be copied.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitdash.export.experiment_commands import left_out_text, short_command, stdin_text
from gitdash.export.experiment_figures import (
    circumstances,
    comparison_text,
    counts_text,
    figure_table,
    phases_text,
    reservations,
    took_text,
)
from gitdash.export.experiment_plot import UNICODE, Glyphs, plot_lines
from gitdash.export.text_width import cell_width, pad
from gitdash.model.experiment import ExperimentResult, StrategyComparison, VariantResult
from gitdash.units import ago_text, fine_duration, human_age, moment_text, printable, printable_path, utc_text

_GAP: Final = "  "
_INDENT: Final = "  "


def experiment_lines(
    result: ExperimentResult,
    *,
    width: int,
    glyphs: Glyphs = UNICODE,
    earlier: Sequence[ExperimentResult] = (),
) -> list[str]:
    """Return everything that one experiment says; `width` is that of the plot, `earlier` what it is compared with."""
    plot = plot_lines(result, width=max(width - len(_INDENT), 1), glyphs=glyphs)
    parts = (
        [head_line(result)],
        [_INDENT + text for text in (printable(result.verdict), *reservations(result))],
        [_INDENT + line for line in aligned(figure_table(result))],
        [_INDENT + line for line in plot],
        [_INDENT + line for variant in result.variants for line in variant_lines(variant)],
        [_INDENT + line for line in earlier_lines(result, earlier)],
        [_INDENT + ", ".join(filter(None, (*circumstances(result), left_out_text(result))))],
    )
    lines: list[str] = []
    for part in parts:
        lines += ["", *part] if lines and part else part
    return lines


def head_line(result: ExperimentResult) -> str:
    """Return which experiment it is, of what, when and how long."""
    number = f"#{result.number} " if result.number else ""
    moment = moment_text(result.started_at_s)
    took = took_text(result)
    return f"{number}{_subject(result)} of {printable_path(result.path)}, {moment}, {took}"


def _subject(result: ExperimentResult) -> str:
    return f"{result.kind.value} ({printable(result.question)})" if result.question else result.kind.value


def variant_lines(variant: VariantResult) -> Iterator[str]:
    """Yield what a variant does, its command, and what more is known of it."""
    yield f"{printable(variant.name)}: {printable(variant.title)}"
    details = (
        f"not run: {variant.skipped}" if variant.skipped is not None else "",
        variant.explanation,
        short_command(variant),
        stdin_text(variant),
        variant.note,
        phases_text(variant),
        counts_text(variant),
    )
    yield from (f"    {printable(detail)}" for detail in details if detail)


def earlier_lines(result: ExperimentResult, earlier: Sequence[ExperimentResult]) -> list[str]:
    """Return the medians of earlier results beside each other, those of the variants of this one."""
    names = [variant.name for variant in result.variants if variant.summary is not None]
    if not earlier or not names:
        return []
    rows = [("earlier", "git", "cache", "repository", *map(printable, names))]
    for one in earlier:
        medians = {variant.name: variant.summary.median_s for variant in one.variants if variant.summary is not None}
        cells = (fine_duration(medians[name]) if name in medians else "-" for name in names)
        state = "same" if one.fingerprint == result.fingerprint else "changed"
        rows.append((f"#{one.number} {_day(one)}", printable(one.git_version), one.cache.value, state, *cells))
    return aligned(rows)


def _day(result: ExperimentResult) -> str:
    return utc_text(result.started_at_s)[:10]


def list_lines(results: Iterable[ExperimentResult], now_s: float) -> list[str]:
    """Return a head and a line for each result: number, age, kind, repository, the winner, and how it was decided."""
    rows = [("number", "age", "experiment", "cache", "winner", "repository")]
    for result in results:
        incomplete = "" if result.is_complete else " (not complete)"
        winner = printable(result.winner) if result.winner is not None else "none"
        age, path = human_age(now_s - result.started_at_s), printable_path(result.path)
        rows.append((f"#{result.number}", age, _subject(result), result.cache.value, winner + incomplete, path))
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines with columns, without spaces at the end."""
    widths = [max(map(cell_width, cells)) for cells in zip(*rows, strict=True)]
    return [
        _GAP.join(pad(cell, width, right=False) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def comparison_line(comparison: StrategyComparison, now_s: float) -> str:
    """Return what a comparison of strategies says, how old it is, and how much longer the rule's choice would take."""
    return f"{ago_text(now_s - comparison.measured_at_s)}, {comparison_text(comparison)}"
