"""The filter line: what is typed filters at once, and the count stands beside it."""

from collections.abc import Callable, Sequence
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input
from typing_extensions import override

from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.lines import LinesView


class FilterBar(Horizontal):
    """An input between a sign and a count."""

    class Changed(Message):
        """The text of the filter is another one."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Accepted(Message):
        """Enter was pressed."""

    def __init__(self, count_text: Callable[[], str], **arguments: Any) -> None:  # noqa: ANN401 - Textual's own
        super().__init__(id="filter-bar", **arguments)
        self._count_text = count_text
        self.input = Input(id="filter", compact=True, select_on_focus=False)
        self.count = LinesView(self._count_lines, id="filter-count")

    @override
    def compose(self) -> ComposeResult:
        """Lay out sign, input and count."""
        yield LinesView(lambda _width: [[Piece(" / ", Tone.KEY)]], id="filter-mark")
        yield self.input
        yield self.count

    @property
    def is_typing(self) -> bool:
        """The input has the focus."""
        return self.screen.focused is self.input

    @on(Input.Changed)
    def _text_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    @on(Input.Submitted)
    def _text_accepted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Accepted())

    def _count_lines(self, width: int) -> Sequence[Line]:
        return [[Piece(fit(self._count_text() + " ", width, right=True), Tone.DIM)]]
