"""The runs of variants as boxes, for a look at how they are spread: drawn by textual-plotext, shown as lines of ours.

What plotext draws is taken without its colours, and the names of variants are put beside it here: so the boxes have the
colours of the theme, and nothing that a result is called passes through escape sequences. Places are those of the axis
that the strips have, too, powers of ten included. The library is loaded when boxes are first shown.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from gitdash.export.experiment_plot import tick_text
from gitdash.export.experiment_scale import durations_s
from gitdash.model.experiment import VariantResult
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.lab.figures import MARK_WIDTH, Figures
from gitdash.units import printable

_ROWS: Final = 4
"""Of each variant: three of its box, one between it and the next."""
_BOX_WIDTH: Final = 0.4
"""Of the distance between two variants."""
_NARROWEST: Final = 24
_AXIS_ROWS: Final = 3
"""Two of the frame, one of durations."""
_SIDES: Final = ("│", "┤")
"""Of the frame, left of boxes."""
_LABEL: Final = re.compile(r" *([0-9]+)┤")
_LEGEND: Final = (
    "Boxes hold the middle half of the runs, the line in a box is the median, whiskers reach from the fastest run to"
    " the slowest."
)


def box_lines(offered: Sequence[VariantResult], figures: Figures) -> list[Line]:
    """Return the boxes of the variants that have run, in the order of their rows; a sentence if none has."""
    measured = [figures.by_name[one.name] for one in offered if one.name in figures.by_name]
    measured = [variant for variant in measured if durations_s(variant, figures.measure)]
    width = figures.width - MARK_WIDTH - figures.name_width - 2
    if figures.scale is None or not measured:
        return [[], *wrapped("No runs to draw yet.", Tone.DIM, figures.width)]
    if width < _NARROWEST:
        return [[], *wrapped("Too narrow for boxes.", Tone.DIM, figures.width)]
    lines: list[Line] = [[]]
    for text in _drawn(measured, figures, width):
        label = _LABEL.match(text)
        variant = measured[len(measured) - int(label[1])] if label else None
        name = "" if variant is None else printable(variant.name)
        tone = Tone.OK if variant is not None and variant.name == figures.winner else Tone.STRONG
        body = text[len(str(len(measured))) :].rstrip()
        is_frame = body[:1] not in _SIDES
        lines.append(
            [
                Piece(f"{'':{MARK_WIDTH}}{fit(name, figures.name_width)} ", tone),
                Piece(body[:1], Tone.DIM),
                Piece(body[1:-1], Tone.DIM if is_frame else Tone.ACCENT),
                Piece(body[-1:], Tone.DIM),
            ]
        )
    return [*lines, *wrapped(_LEGEND, Tone.DIM, figures.width)]


def _drawn(measured: Sequence[VariantResult], figures: Figures, width: int) -> list[str]:
    """Return the rows that plotext draws; each variant is called by its number from below, and nothing else."""
    from rich.text import Text
    from textual_plotext.plot import Plot

    scale, count = figures.scale, len(measured)
    if scale is None:
        return []
    places = [[scale.place(one) for one in durations_s(variant, figures.measure)] for variant in reversed(measured)]
    # Any: the stubs of textual-plotext know nothing of boxes
    plot: Any = Plot()
    size = width + len(str(count)), _ROWS * count + 1 + _AXIS_ROWS
    plot.plotsize(*size)
    # as textual-plotext's own widget does it: the first alone keeps within the terminal that plotext has seen
    plot._set_size(*size)
    plot.box([str(number) for number in range(1, count + 1)], places, orientation="horizontal", width=_BOX_WIDTH)
    plot.xlim(0.0, 1.0)
    plot.ylim(0.5, count + 0.5)
    plot.xticks([scale.place(tick_s) for tick_s in scale.ticks_s], [tick_text(tick_s) for tick_s in scale.ticks_s])
    return Text.from_ansi(plot.build()).plain.splitlines()
