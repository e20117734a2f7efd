"""A small page that asks for a name."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input
from typing_extensions import override

from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.closing import close
from gitdash.tui.drawing.cells import Tone
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.keymap import shown_key, typing_key
from gitdash.tui.text_input import TAKEN_KEYS, TextInput

_LONGEST_NAME: Final = 60
_WAY_OUT: Final = "escape"


class NameScreen(ModalScreen[None]):
    """Asks for a name until one is taken.

    `question_for` returns what has to be answered first by giving the same name once more, or None; `take` gets the
    name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [binding for binding in bindings_of(Scope.PAGE) if binding.id == "back"]

    def __init__(  # noqa: PLR0913 - all that is asked, each by name
        self,
        title: str,
        hint: str,
        *,
        question_for: Callable[[str], str | None],
        take: Callable[[str], None],
        shown_keys: Mapping[str, str],
        verb: str = "save",
        value: str = "",
        longest: int = _LONGEST_NAME,
        problem_of: Callable[[str], str | None] = lambda _name: None,
    ) -> None:
        """`value` stands there at first; `problem_of` returns why a name is never taken, or None."""
        super().__init__()
        self.input = TextInput(value, id="name", compact=True, max_length=longest)
        self._problem_of = problem_of
        self._title = title
        self._hint = hint
        close_key = typing_key(shown_keys, "back", TAKEN_KEYS) or _WAY_OUT
        self._keys_text = f"enter {verb}  {shown_key(close_key)} close"
        self._question_for = question_for
        self._take = take
        self._asked: str | None = None
        self._is_taken = False
        self._hint_view = LinesView(lambda width: wrapped(self._hint, Tone.DIM, width), id="name-hint")

    @override
    def compose(self) -> ComposeResult:
        """Put input and hint into a frame."""
        frame = Vertical(self.input, self._hint_view, id="name-frame")
        frame.border_title = self._title
        frame.border_subtitle = Content(self._keys_text)
        yield frame

    def on_mount(self) -> None:
        """Begin to type at once."""
        self.set_focus(self.input)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        name = event.value.strip()
        if not name or self._is_taken:
            return
        problem = self._problem_of(name)
        question = self._question_for(name) if problem is None else None
        if problem is not None or (question is not None and self._asked != name):
            self._asked = name if problem is None else None
            self._hint = problem or question or ""
            self._hint_view.renew()
            return
        self._is_taken = True
        self._take(name)
        self.action_back()

    def key_escape(self, event: events.Key) -> None:
        """Go back, whatever the key for that is: a letter would be written. A binding would go with the key."""
        event.stop()
        event.prevent_default()
        self.action_back()

    def action_back(self) -> None:
        """Go back."""
        close(self)
