"""The head of the list of lenders: a click on a column sorts by it."""

from collections.abc import Callable, Sequence

from textual import events

from gitdash.tui.drawing.cells import Line
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.pools.lines import key_at


class HeadView(LinesView):
    """One line of titles; `sort_by` is given the key of the column that was clicked."""

    def __init__(self, compose_lines: Callable[[int], Sequence[Line]], sort_by: Callable[[str], None]) -> None:
        super().__init__(compose_lines, id="pools-head")
        self._sort_by = sort_by

    def on_click(self, event: events.Click) -> None:
        """Sort by the column below the pointer."""
        offset = event.get_content_offset(self)
        key = None if offset is None else key_at(offset.x, self.line_width)
        if key is not None:
            self._sort_by(key)
