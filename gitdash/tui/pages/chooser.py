"""A page of items to choose among, at the foot of a screen whose upper part stays in sight."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from typing_extensions import override

from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import actions_of
from gitdash.tui.closing import close
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.pages.page_screen import PageScreen

HELP_BINDING: Final = Binding("question_mark,f1", "app.help", "Help", id="help", show=False)
"""A page that covers a screen hears nothing of the application's keys."""


class ChooserScreen(PageScreen, inherit_bindings=False):
    """Items, with their keys in the frame. A subclass has the bindings of its scope."""

    SCOPE: ClassVar[Scope]

    def __init__(self, title: str, compose_page: Callable[[int], Page], shown_keys: Mapping[str, str]) -> None:
        super().__init__(title, lambda _width: (), shown_keys)
        self.items = ItemsView(compose_page, id="page")
        self._is_taken = False

    @override
    def compose(self) -> ComposeResult:
        """Put the page into a frame."""
        frame = Vertical(self.items, id="frame", classes="chooser")
        frame.border_title = self.frame_title
        labelled = [action for action in actions_of(self.SCOPE) if action.label and action.name in self.shown_keys]
        keys = [
            (self.shown_keys[action.name].split()[0], "close" if action.name == "leave" else action.label)
            for action in labelled
        ]
        frame.border_subtitle = Content("  ".join(f"{key} {label}" for key, label in keys))
        yield frame

    def action_accept(self) -> None:
        """Take what is chosen."""
        raise NotImplementedError

    def take_once(self, take: Callable[[], bool]) -> None:
        """Do what is chosen and close, however often a key came in a burst; if `take` returns False, stay open."""
        if not self._is_taken and take():
            self._is_taken = True
            close(self)

    @on(ItemsView.Opened)
    def _opened(self) -> None:
        self.action_accept()
