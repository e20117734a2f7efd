"""A page of lines over a screen, to scroll and to close."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from typing_extensions import override

from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.closing import close
from gitdash.tui.drawing.cells import Line
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.items_actions import ItemsActions
from gitdash.tui.keymap import first_key
from gitdash.tui.source import Changes


class PageScreen(ItemsActions, ModalScreen[None]):
    """A page of lines over a screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Scope.PAGE),
        Binding("enter,question_mark,f1", "leave", "Close"),
        Binding("space", "move_half_pages(2)", "Page down", show=False),
    ]

    def __init__(
        self, title: str, compose_lines: Callable[[int], Sequence[Line]], shown_keys: Mapping[str, str]
    ) -> None:
        super().__init__()
        self.shown_keys = shown_keys
        self.items = ItemsView(lambda width: Page(compose_lines(width)), id="page")
        self.frame_title = title
        """Shown in the frame. A literal of ours: it is parsed as markup."""

    @override
    def compose(self) -> ComposeResult:
        """Put the page into a frame."""
        frame = Vertical(self.items, id="frame")
        frame.border_title = self.frame_title
        keys = filter(None, (first_key(self.shown_keys, name) for name in ("back", "leave")))
        frame.border_subtitle = Content(f"{' '.join(keys)} close".lstrip())
        yield frame

    def on_resize(self) -> None:
        """Draw again what shines through, once the screen below has its new layout, too."""
        self.call_after_refresh(self.refresh)

    def show_changes(self, _changes: Changes | None) -> None:
        """Compose the lines anew."""
        self.items.renew()

    def action_leave(self) -> None:
        """Go back."""
        close(self)

    def action_back(self) -> None:
        """Go back."""
        self.action_leave()
