"""The command palette: every action, every view, and every repository by name.

Names of views and repositories are given to it as ready `Text`: a string would be parsed as markup.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, Literal, Protocol, cast

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.command import CommandInput, CommandList, CommandPalette, Hit, Hits, Provider, SearchIcon
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, LoadingIndicator, OptionList
from typing_extensions import override

from gitdash.tui.saved_views import ListedView
from gitdash.tui.table.fleet import Fleet
from gitdash.units import printable

_MOST_HITS: Final = 20
_LONGEST: Final = 100


class PaletteApp(Protocol):
    """What the palette needs of the application that it is opened in."""

    fleet: Fleet

    def go_to(self, path: bytes) -> None:
        """Put the cursor on a repository."""

    def listed_views(self) -> Sequence[ListedView]:
        """Return all views in the order of their keys."""

    def open_view(self, number: int) -> None:
        """Show a view, counted from 0."""


class ViewProvider(Provider):
    """Opens a view; they are listed once something is typed."""

    @override
    async def search(self, query: str) -> Hits:
        """Yield the views that have all the words in their name or their sentence."""
        words = query.casefold().split()
        for number, display, help_text in self._views():
            if all(word in f"{display.plain} {help_text}".casefold() for word in words):
                yield Hit(0.95 - number / 1000, display, self._open(number), text=display.plain, help=help_text)

    def _views(self) -> Iterator[tuple[int, Text, str]]:
        for number, entry in enumerate(cast(PaletteApp, self.app).listed_views()):
            yield number, Text(f"View: {printable(entry.view.name)}"[:_LONGEST], no_wrap=True), entry.help

    def _open(self, number: int) -> Callable[[], None]:
        return partial(cast(PaletteApp, self.app).open_view, number)


class _Commands(CommandList, can_focus=False):
    """Textual's list, for keys and clicks that come while it is filled: what is drawn and what is held differ then."""

    @override
    def _move_page(self, direction: Literal[-1, 1]) -> None:
        if (self.highlighted or 0) in self._index_to_line:
            super()._move_page(direction)

    @override
    def action_select(self) -> None:
        """Choose what is highlighted, if it is still there."""
        if self._holds(self.highlighted):
            super().action_select()

    @override
    async def _on_click(self, event: events.Click) -> None:
        # Textual calls the handler of each class, from ours on
        if not self._holds(event.style.meta.get("option")):
            event.prevent_default()

    def _holds(self, number: int | None) -> bool:
        return number is not None and number < self.option_count


class Palette(CommandPalette):
    """Textual's, with an end to what can be typed, and closed once: a second Enter is of no more use to anybody."""

    _is_closed = False

    @override
    def compose(self) -> ComposeResult:
        """Put the parts as Textual does, around our list; entries run when they are chosen: there is no button."""
        with Vertical(id="--container"):
            with Horizontal(id="--input"):
                yield SearchIcon()
                yield CommandInput(placeholder=self._placeholder, select_on_focus=False)
            with Vertical(id="--results"):
                yield _Commands()
                yield LoadingIndicator()

    @override
    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close it unless it is closed."""
        if self._is_closed:
            return AwaitComplete()
        self._is_closed = True
        return super().dismiss(result)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose_once(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        """Keep what comes after the choice from choosing again."""
        if self._is_closed:
            event.stop()
            event.prevent_default()

    def on_mount(self) -> None:
        """Set the end."""
        self.query_one(Input).max_length = _LONGEST


class RepositoryProvider(Provider):
    """Goes to a repository: any that has all the words in its name."""

    @override
    async def search(self, query: str) -> Hits:
        """Yield the repositories that match, the shortest names first."""
        app = cast(PaletteApp, self.app)
        words = query.casefold().split()
        rows = app.fleet.rows
        found = [row.summary for row in rows if all(word in row.summary.name.casefold() for word in words)]
        found.sort(key=lambda summary: (len(summary.name), summary.name))
        for number, summary in enumerate(found[:_MOST_HITS]):
            display = Text(f"go to {summary.name}"[:_LONGEST], no_wrap=True)
            yield Hit(0.9 - number / 100, display, partial(app.go_to, summary.path), text=display.plain)
