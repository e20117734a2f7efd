"""The pages that cover the table: help, and all that is known of one repository. Each is a page of lines to scroll."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from typing_extensions import override

from gitdash.tui.drawing.cells import Line
from gitdash.tui.drawing.lines import LinesView


class PageScreen(ModalScreen[None]):
    """A page of lines over the table."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark,f1", "leave", "Close"),
        Binding("ctrl+q", "app.quit", "Quit", show=False),
        Binding("down,j", "scroll(1)", "Down", show=False),
        Binding("up,k", "scroll(-1)", "Up", show=False),
        Binding("pagedown,space", "scroll_pages(2)", "Page down", show=False),
        Binding("pageup", "scroll_pages(-2)", "Page up", show=False),
        Binding("ctrl+d", "scroll_pages(1)", "Half a page down", show=False),
        Binding("ctrl+u", "scroll_pages(-1)", "Half a page up", show=False),
        Binding("home,g", "scroll_to_end(False)", "Top", show=False),
        Binding("end,G", "scroll_to_end(True)", "End", show=False),
    ]

    def __init__(self, title: str, compose_lines: Callable[[int], Sequence[Line]]) -> None:
        super().__init__()
        self.page = LinesView(compose_lines, id="page")
        self.frame_title = title
        """Shown in the frame. A literal of ours: it is parsed as markup."""

    @override
    def compose(self) -> ComposeResult:
        """Put the page into a frame."""
        frame = Vertical(self.page, id="frame")
        frame.border_title = self.frame_title
        frame.border_subtitle = "esc q close"
        yield frame

    def renew(self) -> None:
        """Compose the lines anew."""
        self.page.renew()

    def action_leave(self) -> None:
        """Go back to the table."""
        self.app.call_next(self.dismiss)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._scroll_page_to(self.page.scroll_offset.y + lines)

    def action_scroll_pages(self, halves: int) -> None:
        """Scroll by half pages."""
        self._scroll_page_to(self.page.scroll_offset.y + halves * self.page.size.height // 2)

    def action_scroll_to_end(self, is_end: bool) -> None:
        """Scroll to the top or to the end."""
        self._scroll_page_to(self.page.virtual_size.height if is_end else 0)

    def _scroll_page_to(self, y: int) -> None:
        self.page.scroll_to(y=y, animate=False, immediate=True)
