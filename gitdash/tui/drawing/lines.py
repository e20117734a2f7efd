"""A widget that draws ready lines of pieces, and scrolls where there are more than it has room for.

Everything on the dashboard that is not the table is drawn by it. It parses nothing: no markup, no escape sequences.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override

from gitdash.tui.drawing.cells import Line, cut_line
from gitdash.tui.drawing.styles import COMPONENT_CLASSES, ToneStyles


class LinesView(ScrollView, can_focus=False):
    """Lines that somebody else composes for the width at hand, anew whenever the width changes."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENT_CLASSES)

    def __init__(self, compose_lines: Callable[[int], Sequence[Line]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._compose_lines = compose_lines
        self._lines: Sequence[Line] = ()
        self._styles_of = ToneStyles(self)

    @property
    def line_width(self) -> int:
        """Cells of a line, without the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def lines(self) -> Sequence[Line]:
        """What is shown, scrolled off lines included."""
        return self._lines

    def renew(self, *, from_top: bool = False) -> None:
        """Compose the lines again and draw them if they are others, without a layout."""
        width = self.line_width
        if not width:
            return
        lines = self._compose_lines(width)
        if lines == self._lines and width == self.virtual_size.width and not from_top:
            return
        self._lines = lines
        self.virtual_size = Size(width, len(self._lines))
        if from_top and self.scroll_offset.y:
            self.scroll_to(y=0, animate=False, immediate=True)
        self.refresh()

    def on_resize(self) -> None:
        """Lines are composed for a width."""
        self.renew()

    @override
    def notify_style_update(self) -> None:
        """Colours are looked up anew."""
        self._styles_of.forget()
        super().notify_style_update()

    @override
    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width = self.line_width
        number = y + self.scroll_offset.y
        line = self._lines[number] if number < len(self._lines) else ()
        return Strip(self._styles_of.segments(cut_line(line, width)), width)
