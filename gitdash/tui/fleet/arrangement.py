"""How the screen is arranged for the size of the terminal: classes of the style sheet, and what is too small."""

from collections.abc import Sequence
from typing import Final

from textual.geometry import Size
from textual.screen import Screen

from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.fleet.panels import WIDE_COLUMNS

LEAST_SIZE: Final = Size(60, 15)
SHORT_LINES: Final = 32
"""Below this height the detail pane is a low one."""


def arrange(screen: Screen[object], size: Size, *, detail_is_shown: bool) -> None:
    """Choose the arrangement."""
    screen.set_class(size.width < LEAST_SIZE.width or size.height < LEAST_SIZE.height, "-too-small")
    screen.set_class(size.width >= WIDE_COLUMNS, "-wide")
    screen.set_class(size.height < SHORT_LINES, "-short")
    screen.set_class(not detail_is_shown, "-no-detail")


def too_small_lines(width: int) -> Sequence[Line]:
    """Return what stands on a terminal that is too small for the dashboard."""
    sentences = (f"gitdash needs {LEAST_SIZE.width} x {LEAST_SIZE.height} cells.", "Enlarge the terminal, or q quits.")
    return [[], *([Piece(fit(f" {sentence}", width), Tone.WARNING)] for sentence in sentences)]
