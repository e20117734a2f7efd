"""From the tones of `cells` to colours: component classes of the style sheet, resolved once for each theme."""

from collections.abc import Iterable
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.widget import Widget

from gitdash.tui.drawing.cells import Piece, Tone

CURSOR_CLASS: Final = "tone--cursor"
HEAD_LINE_CLASS: Final = "tone--head-line"
COMPONENT_CLASSES: Final = frozenset({*(tone.value for tone in Tone), CURSOR_CLASS, HEAD_LINE_CLASS})


class ToneStyles:
    """The styles of one widget; `forget` makes it ask the style sheet again."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._foregrounds: dict[Tone, Style] = {}
        self._backgrounds: dict[str, Style] = {}

    def forget(self) -> None:
        """Drop all styles: the theme changed."""
        self._foregrounds.clear()
        self._backgrounds.clear()

    def line_background(self, component_class: str | None) -> Style:
        """Return the style that lies below all pieces of a line; None means the widget's own."""
        key = component_class or ""
        style = self._backgrounds.get(key)
        if style is None:
            widget = self._widget
            full = widget.get_component_rich_style(component_class) if component_class else widget.rich_style
            style = Style(
                bgcolor=full.bgcolor,
                color=full.color,
                bold=full.bold,
                underline=full.underline,
                reverse=full.reverse,
            )
            self._backgrounds[key] = style
        return style

    def segments(self, pieces: Iterable[Piece], component_class: str | None = None) -> list[Segment]:
        """Return a line ready to draw."""
        background = self.line_background(component_class)
        return [Segment(piece.text, background + self._foreground(piece.tone)) for piece in pieces if piece.text]

    def _foreground(self, tone: Tone) -> Style:
        style = self._foregrounds.get(tone)
        if style is None:
            full = self._widget.get_component_rich_style(tone.value)
            style = Style(color=full.color, bold=full.bold, italic=full.italic, underline=full.underline)
            self._foregrounds[tone] = style
        return style
