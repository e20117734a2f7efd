"""The rows of variants: what each one's runs say, with a strip of all runs on an axis that they share. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.export.experiment_commands import short_command
from gitdash.export.experiment_figures import answer_text, counts_text, phases_text
from gitdash.export.experiment_plot import UNICODE, axis, strip
from gitdash.export.experiment_scale import Scale, durations_s, scale_for
from gitdash.model.experiment import Measure, VariantResult
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit, line_length
from gitdash.tui.drawing.wrap import wrapped
from gitdash.units import fine_duration, printable

MARK_WIDTH: Final = 7
_NAME_MOST: Final = 28
_NAME_LEAST: Final = 14
_RUNS_WIDTH: Final = 5
_MEDIAN_WIDTH: Final = 9
_INTERVAL_WIDTH: Final = 21
_BESIDE_LEAST: Final = 110
"""From this width on strips stand beside the figures, below it under them."""
_INTERVAL_LEAST: Final = 72
_MOST_SHOWN: Final = 2_000
"""Characters of a command."""
_BEST: Final = " best"
_NOTHING: Final = ("-", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the runs say that are shown, and where each figure stands."""

    by_name: dict[str, VariantResult]
    scale: Scale | None
    measure: Measure
    winner: str | None
    name_width: int
    width: int

    @property
    def is_beside(self) -> bool:
        """Whether strips stand beside the figures."""
        return self.width >= _BESIDE_LEAST

    @property
    def has_interval(self) -> bool:
        """Whether there is room for the interval."""
        return self.width >= _INTERVAL_LEAST

    @property
    def strip_left(self) -> int:
        """The first cell of strips."""
        if not self.is_beside:
            return MARK_WIDTH
        return MARK_WIDTH + self.name_width + _RUNS_WIDTH + _MEDIAN_WIDTH + _INTERVAL_WIDTH + 5

    @property
    def strip_width(self) -> int:
        """Cells of a strip without its ends."""
        return self.width - self.strip_left - 2 - len(_BEST) - 1


def figures_of(
    offered: Sequence[VariantResult],
    measured: Sequence[VariantResult],
    *,
    measure: Measure,
    winner: str | None,
    width: int,
) -> Figures:
    """Return the figures of a page; `offered` are the variants of its rows, `measured` those that have run."""
    found = [one for variant in measured for one in durations_s(variant, measure)]
    found += [end_s for one in measured if one.summary for end_s in (one.summary.low_s, one.summary.high_s)]
    longest = max((len(variant.name) for variant in offered), default=_NAME_LEAST)
    return Figures(
        by_name={variant.name: variant for variant in measured},
        scale=scale_for([max(one, 1e-9) for one in found]),
        measure=measure,
        winner=winner,
        name_width=max(min(longest, _NAME_MOST), _NAME_LEAST),
        width=width,
    )


def head_line(figures: Figures) -> Line:
    """Return the heads of the columns."""
    text = f"{'':{MARK_WIDTH}}{fit('variant', figures.name_width)} {'runs':>{_RUNS_WIDTH}} {'median':>{_MEDIAN_WIDTH}}"
    if figures.has_interval:
        text += f"  {'95 of 100':<{_INTERVAL_WIDTH}}"
    return [Piece(text, Tone.HEAD)]


def axis_line(figures: Figures) -> list[Line]:
    """Return the line with durations below all strips; none if nothing has run."""
    if figures.scale is None or figures.strip_width < 1:
        return []
    note = "  by powers of ten" if figures.scale.is_logarithmic else ""
    text = " " * (figures.strip_left + 1) + axis(figures.scale, width=figures.strip_width)
    return [[Piece(text + note if len(text + note) < figures.width else text, Tone.DIM)]]


def variant_lines(variant: VariantResult, figures: Figures, *, is_marked: bool, is_unfolded: bool) -> list[Line]:
    """Return the row of a variant, its strip, and all that is said of it if it is unfolded."""
    measured = figures.by_name.get(variant.name)
    mark = "[-]" if variant.skipped is not None else "[x]" if is_marked else "[ ]"
    is_winner = figures.winner == variant.name
    left = [
        Piece(f"  {mark}  ", Tone.KEY if is_marked else Tone.DIM),
        Piece(fit(variant.name, figures.name_width), Tone.OK if is_winner else _name_tone(variant)),
    ]
    has_runs = measured is not None and measured.summary is not None
    lines = _measured_lines(left, measured, figures) if measured and has_runs else []
    lines = lines or [_unmeasured(left, variant, measured or variant, figures)]
    if is_winner and has_runs:
        lines[-1] = [*lines[-1], Piece(_BEST, Tone.OK)]
    return [*lines, *_details(variant, measured, figures.width)] if is_unfolded else lines


def _name_tone(variant: VariantResult) -> Tone:
    return Tone.DIM if variant.skipped is not None else Tone.STRONG


def _unmeasured(left: Sequence[Piece], variant: VariantResult, shown: VariantResult, figures: Figures) -> Line:
    """Return the row of a variant without runs: why it has none, if that is known; `shown` is what became of it."""
    room = max(figures.width - line_length(left) - 3, 1)
    reason = variant.skipped or shown.skipped
    if reason is not None:
        return [*left, Piece("  " + fit(f"not here: {printable(reason)}", room), Tone.NOTICE)]
    if shown.note:
        return [*left, Piece("  " + fit(f"failed: {printable(shown.note)}", room), Tone.WARNING)]
    return [*left, Piece("  " + fit(variant.title, room), Tone.DIM)]


def _measured_lines(left: Sequence[Piece], measured: VariantResult, figures: Figures) -> list[Line]:
    summary = measured.summary
    if summary is None:
        return []
    head = [
        *left,
        Piece(f" {summary.count:>{_RUNS_WIDTH},}", Tone.DIM),
        Piece(f" {fine_duration(summary.median_s):>{_MEDIAN_WIDTH}}", Tone.STRONG),
    ]
    if figures.has_interval:
        ends = f"{fine_duration(summary.low_s)} to {fine_duration(summary.high_s)}"
        interval = ends if summary.allows_verdict else ""
        head.append(Piece(f"  {interval:<{_INTERVAL_WIDTH}}", Tone.DIM))
    if figures.scale is None or figures.strip_width < 1:
        return [head]
    drawn = strip(measured, figures.measure, figures.scale, width=figures.strip_width, glyphs=UNICODE)
    pieces = [Piece("│", Tone.DIM), Piece(drawn, Tone.ACCENT), Piece("│", Tone.DIM)]
    if figures.is_beside:
        gap = max(figures.strip_left - line_length(head), 1)
        return [[*head, Piece(" " * gap, Tone.PLAIN), *pieces]]
    return [head, [Piece(" " * figures.strip_left, Tone.PLAIN), *pieces]]


def _details(variant: VariantResult, measured: VariantResult | None, width: int) -> list[Line]:
    indent = MARK_WIDTH
    lines = wrapped(f"{variant.title}.", Tone.PLAIN, width, indent=indent)
    lines += wrapped(variant.explanation, Tone.PLAIN, width, indent=indent)
    shown = measured or variant
    reason = variant.skipped or shown.skipped
    if reason is not None:
        lines += wrapped(f"Not here: {printable(reason)}.", Tone.NOTICE, width, indent=indent)
    for label, text in (
        ("command", printable(short_command(shown if shown.argv else variant))[:_MOST_SHOWN]),
        ("stdin", printable(shown.stdin)),
        ("answer", answer_text(shown)),
        ("note", printable(shown.note)),
        ("phases", phases_text(shown)),
        ("counts", counts_text(shown)),
    ):
        if text not in _NOTHING:
            lines += wrapped(f"{label}: {text}", Tone.DIM, width, indent=indent, hanging=2)
    return lines
