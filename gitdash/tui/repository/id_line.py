"""The line on which an object id is typed: a sign, an input, and what was asked before."""

from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input
from typing_extensions import override

from gitdash.tui.drawing.cells import Piece, Tone
from gitdash.tui.drawing.lines import LinesView

_LONGEST: Final = 200
"""Characters that can be typed: three ids."""
_KEPT: Final = 100


class IdLine(Horizontal):
    """An input for object ids."""

    class Asked(Message):
        """Enter was pressed on a text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, placeholder: str) -> None:
        super().__init__(id="id-line")
        self.input = Input(
            id="object-id", compact=True, select_on_focus=False, max_length=_LONGEST, placeholder=placeholder
        )
        self._asked: list[str] = []
        """The latest last."""
        self._recalled = 0
        """How many steps back in what was asked; 0 for what is being typed."""

    @override
    def compose(self) -> ComposeResult:
        """Lay out sign and input."""
        yield LinesView(lambda _width: [[Piece(" id ", Tone.KEY)]], id="id-mark")
        yield self.input

    @property
    def is_typing(self) -> bool:
        """The input has the focus."""
        return self.screen.focused is self.input

    def recall(self, step: int) -> None:
        """Put in what was asked before (-1), or after that (1)."""
        self._recalled = max(0, min(self._recalled - step, len(self._asked)))
        self.input.value = self._asked[-self._recalled] if self._recalled else ""
        self.input.cursor_position = len(self.input.value)

    @on(Input.Submitted)
    def _ask(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        if not text:
            return
        self._asked = [*(one for one in self._asked if one != text), text][-_KEPT:]
        self._recalled = 0
        self.input.value = ""
        self.post_message(self.Asked(text))
