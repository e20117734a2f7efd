"""The line on which an object id is typed: a sign, an input, and what was asked before."""

from collections.abc import Callable, Mapping
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from typing_extensions import override

from gitdash.tui.drawing.cells import Piece, Tone
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.keymap import typing_key
from gitdash.tui.text_input import TAKEN_KEYS, TextInput

_LONGEST: Final = 200
"""Characters that can be typed: three ids."""
_KEPT: Final = 100
_TYPING: Final = (("back", "end"), ("cursor_up", "former"), ("cursor_down", "later"))
"""Actions that do something else while an id is typed, with a word on each."""


def typing_keys(shown: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what acts while an id is typed, in Textual's spelling, with a word on each."""
    known = [(typing_key(shown, action, TAKEN_KEYS), label) for action, label in _TYPING]
    return [("enter", "look up"), *((key, label) for key, label in known if key is not None)]


class _IdInput(TextInput):
    """An input that takes enter in its turn: as a binding it would come after what is typed next in one burst."""

    def __init__(self, ask: Callable[[str], None], placeholder: str) -> None:
        super().__init__(
            id="object-id", compact=True, select_on_focus=False, max_length=_LONGEST, placeholder=placeholder
        )
        # The key that opens the line, pressed once more for the next id.
        self.restrict = r"[^/]*"
        self._ask = ask

    def key_enter(self, event: events.Key) -> None:
        """Ask for what was typed."""
        event.stop()
        self.ask_now()

    def ask_now(self) -> None:
        """Ask for what was typed, if anything was."""
        text, self.value = self.value.strip(), ""
        if text:
            self._ask(text)


class IdLine(Horizontal):
    """An input for object ids."""

    class Asked(Message):
        """Enter was pressed on a text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, placeholder: str) -> None:
        super().__init__(id="id-line")
        self.input = _IdInput(self._ask, placeholder)
        self._mark = LinesView(lambda _width: [[Piece(" id ", Tone.KEY)]], id="id-mark")
        self._asked: list[str] = []
        """The latest last."""
        self._recalled = 0
        """How many steps back in what was asked; 0 for what is being typed."""

    @override
    def compose(self) -> ComposeResult:
        """Lay out sign and input."""
        yield self._mark
        yield self.input

    def draw_mark(self) -> None:
        """Draw the sign once it is displayed: Textual may tell a widget in a container that appears no size."""
        self._mark.renew()

    @property
    def is_typing(self) -> bool:
        """The input has the focus."""
        # a key of a burst may come when the page is closed already
        return self.is_attached and self.screen.focused is self.input

    def takes_typed(self, event: events.Key) -> bool:
        """Take a key that was on its way to the page when the input was opened; return whether it was for the input."""
        if event.key == "enter":
            self.input.ask_now()
        elif event.is_printable and event.character:
            self.input.insert_text_at_cursor(event.character)
        else:
            return False
        return True

    def leave(self) -> None:
        """Stop typing, and forget what was not asked."""
        self.input.value = ""
        self._recalled = 0
        self.screen.set_focus(None)

    def recall(self, step: int) -> None:
        """Put in what was asked before (-1), or after that (1)."""
        self._recalled = max(0, min(self._recalled - step, len(self._asked)))
        self.input.value = self._asked[-self._recalled] if self._recalled else ""
        self.input.cursor_position = len(self.input.value)

    def _ask(self, text: str) -> None:
        self._asked = [*(one for one in self._asked if one != text), text][-_KEPT:]
        self._recalled = 0
        self.post_message(self.Asked(text))
