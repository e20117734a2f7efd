"""What the screens have in common: keys by scope, a notice where the terminal is too small, and how one goes back."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from typing_extensions import override

from gitdash.tui.actions.action import Scope
from gitdash.tui.closing import close
from gitdash.tui.confirmation import CONFIRM_S
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line, fit
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.fetches.starting import Fetches
from gitdash.tui.items_actions import ItemsActions
from gitdash.tui.key_line import KeyLineView
from gitdash.tui.least_size import is_too_small, too_small_lines
from gitdash.tui.source import Changes
from gitdash.units import printable_path

_READ_ONLY: Final = " read-only "
_COPIED_WIDTH: Final = 60


class DashboardScreen(Screen[None]):
    """A screen of its own with a title above and keys below."""

    SCOPE: ClassVar[Scope]

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._fetches = Fetches(
            context.source, read_only=context.read_only, jobs_key=context.key("show_jobs"), say=self.say
        )
        self.title_view = LinesView(self._title_lines, id="title")
        self.key_view = KeyLineView(self.SCOPE, context.shown_keys, self.shown_tab, self.typing_keys)

    def title_lines(self, width: int) -> Sequence[Line]:
        """Return the line at the top."""
        raise NotImplementedError

    def _title_lines(self, width: int) -> Sequence[Line]:
        """Return the line at the top; where nothing may be changed it says so, whatever else it has to leave out."""
        if not self.context.read_only:
            return self.title_lines(width)
        left = width - len(_READ_ONLY)
        return [[*cut_line(line, left), Piece(_READ_ONLY, Tone.NOTICE)] for line in self.title_lines(left)]

    def shown_tab(self) -> str | None:
        """Return the name of the tab that is shown, on a screen that has tabs."""
        return None

    def typing_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys, in Textual's spelling, that act while something is typed, and their labels; else none."""
        return ()

    def on_descendant_focus(self) -> None:
        """Show the keys that act now."""
        self.key_view.renew()

    def on_descendant_blur(self) -> None:
        """Show the keys that act now."""
        self.key_view.renew()

    def parts(self) -> Iterable[Widget]:
        """Return what stands between title and keys, from the top."""
        raise NotImplementedError

    def show_changes(self, changes: Changes | None) -> None:
        """Draw what is other than before; None stands for nothing but the passing of time."""
        raise NotImplementedError

    def takes_typed(self, _event: events.Key) -> bool:
        """Take what was typed right after an input was opened, before keys are looked up; return whether it did."""
        return False

    @override
    def compose(self) -> ComposeResult:
        """Put the parts below one another."""
        yield self.title_view
        for part in self.parts():
            part.add_class("part")
            yield part
        yield self.key_view
        yield LinesView(partial(too_small_lines, self.context.key("quit")), id="notice")

    def on_resize(self, event: events.Resize) -> None:
        """Choose the arrangement for the size."""
        self.choose_arrangement(event.size)

    def choose_arrangement(self, size: Size) -> None:
        """Show the notice instead of all else where there is no room."""
        self.set_class(is_too_small(size), "-too-small")

    def current_path(self) -> bytes | None:
        """Return the repository that this screen or its cursor is on; None if there is none."""
        return None

    def what_is_current(self) -> str:
        """Return what the cursor is on where that is no repository, in a few words."""
        return "no repository"

    def acted_on(self) -> Sequence[bytes]:
        """Return the repositories that an action means; empty if there is none."""
        path = self.current_path()
        return () if path is None else (path,)

    def say(self, text: str) -> None:
        """Show a short answer to a key, as long as a question back is open; `text` is printable."""
        self.notify(text, timeout=CONFIRM_S, markup=False)

    def copy(self, text: str, title: str = "Copied") -> None:
        """Put a text on the clipboard, and show the beginning of it."""
        self.app.copy_to_clipboard(text)
        self.notify(fit(text, _COPIED_WIDTH).rstrip(), title=title, timeout=2, markup=False)

    def cover_with(self, page: ModalScreen[None]) -> None:
        """Put a page over the screen."""
        self.app.call_next(partial(self.app.push_screen, page))

    def ask(self, page: ModalScreen[None]) -> None:
        """Put a question over the screen, and take away what was said a moment ago, which would cover it."""
        self.app.clear_notifications()
        self.cover_with(page)

    def path_for(self, what: str) -> bytes | None:
        """Return the repository that this screen or its cursor is on; None, which is said, if `what` has none."""
        path = self.current_path()
        if path is None:
            self.say(f"{what} needs one repository: the cursor is on {self.what_is_current()}.")
        return path

    def name_of(self, path: bytes) -> str:
        """Return what people call a repository. Printable."""
        summary = self.context.summary_of(path)
        return printable_path(path) if summary is None else summary.name

    def names_of(self, paths: Sequence[bytes]) -> str:
        """Return what people call one repository, or how many they are. Printable."""
        return self.name_of(paths[0]) if len(paths) == 1 else f"{len(paths):,} repositories"

    def action_fetch(self) -> None:
        """Fetch as the configuration says; into many repositories only if it is asked for twice."""
        paths = self.acted_on()
        if not self._fetches.are_refused(paths):
            self._fetches.start(paths, self.names_of(paths))

    def action_choose_fetch(self) -> None:
        """Choose how to fetch."""
        from gitdash.tui.fetches.screen import FetchScreen

        paths = self.acted_on()
        if self._fetches.are_refused(paths):
            return
        what = self.names_of(paths)
        start = partial(self._fetches.start, paths, what)
        page = FetchScreen(what, self.context.fetch_options, self.context.shown_keys, start=start)
        self.cover_with(page)

    def action_show_plan(self) -> None:
        """Show what maintenance would do."""
        if paths := self.acted_on():
            self.context.open_plans(paths)
        else:
            self.say(f"A plan needs a repository: the cursor is on {self.what_is_current()}.")

    def action_open_lab(self) -> None:
        """Show which experiments can be made in the repository."""
        path = self.path_for("The lab")
        if path is not None:
            self.context.open_lab(path)

    def action_open_shell(self) -> None:
        """Open a shell in the repository, and look at it again after that."""
        if self.context.hand_over.is_refused():
            return
        path = self.path_for("A shell")
        if path is not None and self.context.hand_over.open_shell(path, self.context.live.report_of(path)):
            self.context.source.rescan(path)

    def action_open_with(self) -> None:
        """Show the repository in another program, and look at it again after that."""
        if self.context.hand_over.is_refused():
            return
        path = self.path_for("Another program")
        if path is not None and self.context.hand_over.open_with(path, self.context.live.report_of(path)):
            self.context.source.rescan(path)

    def action_leave(self) -> None:
        """Go back to the screen below."""
        close(self)

    def action_back(self) -> None:
        """Go back to the screen below."""
        self.action_leave()


class ItemsScreen(ItemsActions, DashboardScreen):
    """A screen that shows one page of lines, with or without items to choose."""

    @override
    def show_changes(self, changes: Changes | None) -> None:
        """Compose the page anew."""
        self.title_view.renew()
        self.items.renew()
