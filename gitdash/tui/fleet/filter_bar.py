"""The filter line: what is typed filters at once, and the count stands beside it.

For a condition there is a second line: what the word that is being typed can become, or why the condition cannot be
run yet.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input
from typing_extensions import override

from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.fleet.completion import completions, last_word
from gitdash.tui.keymap import typing_key
from gitdash.tui.table.row_filter import CONDITION_SIGN
from gitdash.tui.text_input import LONGEST_TEXT, TAKEN_KEYS, TextInput

_PLACEHOLDER: Final = "words, or =SQL such as =packs > 50"
_TAKEN: Final = TAKEN_KEYS | {"tab", "up", "down"}
_KEPT_TEXTS: Final = 50
_TIP: Final = "a condition such as role = 'member' AND disk > 1 GiB; the help page lists the columns"


def typing_keys(shown: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what acts while a filter is typed, in Textual's spelling, with a word on each."""
    drop = typing_key(shown, "drop", _TAKEN)
    dropping = [] if drop is None else [(drop, "drop")]
    return [("enter", "keep"), *dropping, ("tab", "complete"), ("up", "former")]


class FilterInput(TextInput):
    """One line of text that remembers the former ones, and completes names of columns."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", show=False),
        Binding("up", "recall_or_move(-1)", "Former filter", show=False),
        Binding("down", "recall_or_move(1)", "Later filter", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(
            id="filter", compact=True, select_on_focus=False, max_length=LONGEST_TEXT, placeholder=_PLACEHOLDER
        )
        self._texts: list[str] = []
        self._place = 0
        self._offered: list[str] = []
        """Values that the next presses of tab put in, the first of them last."""

    def remember(self) -> None:
        """Keep the text for later."""
        if self.value:
            self._texts = [*(text for text in self._texts if text != self.value), self.value][-_KEPT_TEXTS:]
        self._place = len(self._texts)

    async def action_recall_or_move(self, step: int) -> None:
        """Put in what was typed before, nothing after the last; while something else is typed, move the cursor."""
        recalled = self._texts[self._place] if self._place < len(self._texts) else ""
        if self.value != recalled:
            await self.screen.run_action(f"move_rows({step})")
            return
        self._place = max(min(self._place + step, len(self._texts)), 0)
        self.value = self._texts[self._place] if self._place < len(self._texts) else ""
        self.cursor_position = len(self.value)

    def action_complete(self) -> None:
        """Complete the name of a column at the end; again puts in the next one that is possible."""
        if self.value not in self._offered:
            start = self.value.removesuffix(last_word(self.value))
            self._offered = [start + name for name in completions(self.value)]
            if self._offered:
                self._put_in(self._offered[0])
        else:
            self._put_in(self._offered[(self._offered.index(self.value) + 1) % len(self._offered)])

    def _put_in(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)


class FilterBar(Vertical):
    """An input between a sign and a count, above a line of help for conditions."""

    class Changed(Message):
        """The text of the filter is another one."""

    class Accepted(Message):
        """Enter was pressed."""

    def __init__(self, count_text: Callable[[], str], problem: Callable[[], str | None], **arguments: Any) -> None:  # noqa: ANN401 - Textual's own
        """`problem` says why what was typed last does not hold."""
        super().__init__(id="filter-bar", **arguments)
        self._count_text = count_text
        self._problem = problem
        self.input = FilterInput()
        self.count = LinesView(self._count_lines, id="filter-count")
        self.hint = LinesView(self._hint_lines, id="filter-hint")
        self._is_refused = False
        """What is typed was to be kept, and cannot be."""

    @override
    def compose(self) -> ComposeResult:
        """Lay out sign, input and count, and the hint below."""
        with Horizontal(id="filter-line"):
            yield LinesView(lambda _width: [[Piece(" / ", Tone.KEY)]], id="filter-mark")
            yield self.input
            yield self.count
        yield self.hint

    @property
    def is_typing(self) -> bool:
        """The input has the focus."""
        return self.is_attached and self.screen.focused is self.input

    def refuse(self) -> None:
        """Go on with typing, and say why what was typed cannot be kept."""
        self._is_refused = True
        self.renew()

    def renew(self) -> None:
        """Say anew how many rows pass, and what there is to say of the condition."""
        has_hint = self.input.value.startswith(CONDITION_SIGN) and (self.is_typing or self._problem() is not None)
        # Not by a class, for which Textual would look up the styles of the whole bar anew.
        self.hint.display = has_hint
        self.count.renew()
        self.hint.renew()

    @on(Input.Changed)
    def _text_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._is_refused = False
        self.post_message(self.Changed())

    @on(Input.Submitted)
    def _text_accepted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Accepted())

    def _count_lines(self, width: int) -> Sequence[Line]:
        return [[Piece(fit(self._count_text() + " ", width, right=True), Tone.DIM)]]

    def _hint_lines(self, width: int) -> Sequence[Line]:
        names = completions(self.input.value) if self.is_typing and not self._is_refused else ()
        text = "tab: " + "  ".join(names) if names else self._problem() or _TIP
        tone = Tone.WARNING if self._is_refused else Tone.DIM
        return [[Piece("   ", Tone.PLAIN), Piece(fit(text, width - 3), tone)]]
