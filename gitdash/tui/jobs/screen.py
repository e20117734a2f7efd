"""The screen of jobs."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget
from typing_extensions import override

from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.screen import ItemsScreen


class JobsScreen(ItemsScreen):
    """What is queued, what runs, and what has ended."""

    SCOPE = Scope.JOBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.JOBS)]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.items = ItemsView(self._page, id="page")

    @override
    def title_lines(self, width: int) -> Sequence[Line]:
        """Return the title."""
        return [[Piece(" Jobs", Tone.STRONG)]]

    @override
    def parts(self) -> Iterable[Widget]:
        """Return the page."""
        return [self.items]

    def _page(self, _width: int) -> Page:
        return Page([])

    @on(ItemsView.Opened)
    def action_open(self) -> None:
        """Open the repository of the job under the cursor."""

    def action_cancel(self) -> None:
        """Cancel the job under the cursor."""

    def action_retry(self) -> None:
        """Do the job under the cursor again."""
