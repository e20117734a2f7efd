"""The least terminal, and what keys still do on one that is smaller: nobody acts on what is not drawn.

Keys act as ever on a page that is only read, which shows what it can in any size.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from textual.geometry import Size
from textual.screen import Screen

from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.pages.page_screen import PageScreen

LEAST_SIZE: Final = Size(60, 15)
_HEARD: Final = ("quit", "interrupt", "suspend", "help")
"""Actions whose keys do what they always do."""
_CLOSING: Final = ("leave", "back")


def is_too_small(size: Size) -> bool:
    """Tell whether a terminal has no room for the dashboard."""
    return size.width < LEAST_SIZE.width or size.height < LEAST_SIZE.height


def too_small_lines(quit_key: str, width: int) -> Sequence[Line]:
    """Return what stands on a terminal that is too small for the dashboard; `quit_key` leaves it from any screen."""
    sentences = (
        f"gitdash needs {LEAST_SIZE.width} x {LEAST_SIZE.height} cells.",
        f"Enlarge the terminal, or {quit_key} quits.",
    )
    return [[], *([Piece(fit(f" {sentence}", width), Tone.WARNING)] for sentence in sentences)]


def action_unseen(screen: Screen[object], key: str | None, keys: Mapping[str, Sequence[str]]) -> str | None:
    """Return what may be done on a screen that the terminal is too small for: an action, empty for the usual one.

    `key` is in Textual's spelling, None for what is pasted; `keys` has those of all actions by name. None for nothing.
    """
    if type(screen) is PageScreen or any(key in keys[name] for name in _HEARD):
        return ""
    closing = next((name for name in _CLOSING if key in keys[name]), None)
    return None if closing is None or not hasattr(screen, f"action_{closing}") else closing
