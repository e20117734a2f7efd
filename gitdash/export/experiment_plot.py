"""The runs of an experiment as a plot of text: a strip for each variant, with every run and what is sure of the median.

    walk     |                ├•─┃•──•──┤      |   420 ms

Pure, for any width. Each run is a point; the line is the interval of the median, the bar in it the median. Variants
are different where their lines do not overlap. Does not draw pictures: that is `experiment_picture`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.export.experiment_scale import Scale, compared, durations_s, scale_of
from gitdash.export.text_width import cell_width, pad
from gitdash.model.experiment import ExperimentResult, Measure, VariantResult
from gitdash.units import fine_duration, printable

_NARROWEST_STRIP: Final = 16
_WIDEST_NAME: Final = 32
_DURATION_WIDTH: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Glyphs:
    """What a strip is drawn with, a cell each."""

    run: str
    median: str
    line: str
    left: str
    right: str


UNICODE: Final = Glyphs(run="•", median="┃", line="─", left="├", right="┤")
ASCII: Final = Glyphs(run="o", median="|", line="-", left="[", right="]")


def tick_text(tick_s: float) -> str:
    """Return a round duration as it is written at an axis: `0`, `100 µs`, `20 ms`, `2 s`."""
    if tick_s == 0:
        return "0"
    for unit_s, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if tick_s < 999.5 * unit_s:
            return f"{tick_s / unit_s:g} {unit}"
    return f"{tick_s:,g} s"


def strip(variant: VariantResult, measure: Measure, scale: Scale, *, width: int, glyphs: Glyphs) -> str:
    """Return one variant's strip, exactly `width` cells; blank without runs."""
    cells = [" "] * width

    def column(duration_s: float) -> int:
        return round(scale.place(duration_s) * (width - 1))

    for duration_s in durations_s(variant, measure):
        cells[column(duration_s)] = glyphs.run
    summary = variant.summary
    if summary is not None:
        first, last = column(summary.low_s), column(summary.high_s)
        for place in range(first, last + 1):
            cells[place] = cells[place].replace(" ", glyphs.line)
        cells[first], cells[last] = glyphs.left, glyphs.right
        cells[column(summary.median_s)] = glyphs.median
    return "".join(cells)


def axis(scale: Scale, *, width: int) -> str:
    """Return the durations below strips, at most `width` cells: those that have room, the ends first."""
    cells = [" "] * width
    ticks_s = scale.ticks_s
    for tick_s in (ticks_s[0], ticks_s[-1], *ticks_s[1:-1]):
        text = tick_text(tick_s)
        begin = round(scale.place(tick_s) * (width - 1)) - len(text) // 2
        begin = min(max(begin, 0), width - len(text))
        if begin >= 0 and not "".join(cells[max(begin - 1, 0) : begin + len(text) + 1]).strip():
            cells[begin : begin + len(text)] = text
    return "".join(cells).rstrip()


def plot_lines(result: ExperimentResult, *, width: int, glyphs: Glyphs = UNICODE) -> list[str]:
    """Return the plot of an experiment in lines of at most `width` cells; none if nothing has run."""
    scale = scale_of(result)
    measured = compared(result)
    if scale is None:
        return []
    name_width = _name_width(measured, width)
    strip_width = width - name_width - _DURATION_WIDTH - 4
    if strip_width < 1:
        return []
    lines = []
    for variant in measured:
        median = fine_duration(variant.summary.median_s) if variant.summary is not None else ""
        drawn = strip(variant, result.measure, scale, width=strip_width, glyphs=glyphs)
        name = pad(printable(variant.name)[:name_width], name_width, right=False)
        lines.append(f"{name} |{drawn}| {median:>{_DURATION_WIDTH}}")
    last = f"{'':{name_width}}  {axis(scale, width=strip_width)}"
    note = "  (by powers of ten)" if scale.is_logarithmic else ""
    lines.append(last + note if cell_width(last + note) <= width else last)
    return [line.replace("µ", "u") for line in lines] if glyphs is ASCII else lines


def _name_width(variants: Sequence[VariantResult], width: int) -> int:
    longest = max(cell_width(printable(variant.name)) for variant in variants)
    room = width - _NARROWEST_STRIP - _DURATION_WIDTH - 4
    return max(min(longest, _WIDEST_NAME, room), 1)
