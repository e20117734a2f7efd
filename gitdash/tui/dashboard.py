"""The dashboard's application: puts the parts on the screen and does what `actions` declares.

It paints what is already known, and only then lets the survey begin. All texts that come from repositories are drawn by
`table` and `lines`, which parse no markup; toasts are given `markup=False`.
"""

import gc
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events, on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.filter import LineFilter
from textual.geometry import Size
from textual.screen import Screen
from typing_extensions import override

from gitdash.errors import ExitCode
from gitdash.export.columns import FLEET_COLUMNS
from gitdash.model.summary import RepositorySummary
from gitdash.tui.actions import ACTIONS, help_lines
from gitdash.tui.clipboard import shell_path
from gitdash.tui.clock import Clock
from gitdash.tui.drawing.cells import Line, fit
from gitdash.tui.drawing.filters import filters_for
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.fleet.arrangement import arrange, too_small_lines
from gitdash.tui.fleet.filter_bar import FilterBar
from gitdash.tui.fleet.fleet import Fleet
from gitdash.tui.fleet.live import LiveFleet
from gitdash.tui.fleet.panels import Panels
from gitdash.tui.fleet.table import FleetTable
from gitdash.tui.flushing import FLUSH_INTERVAL_S, Flushing
from gitdash.tui.key_line import KeyLineView
from gitdash.tui.pages.page_screen import PageScreen
from gitdash.tui.palette import RepositoryProvider
from gitdash.tui.source import Changes, FleetSource

TICK_INTERVAL_S: Final = 10.0
"""How often ages are drawn anew."""
_SETTLED_S: Final = 1.0
"""After this long the rows that were loaded are taken out of the garbage collector's sight."""


class Dashboard(App[int]):
    """The fleet table, a detail pane, a filter, and lines for title, sums and keys."""

    CSS_PATH = "app.tcss"  # type: ignore[mutable-override]
    TITLE = "gitdash"  # type: ignore[mutable-override]
    COMMANDS: ClassVar = App.COMMANDS | {RepositoryProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            ",".join(action.keys),
            action.command,
            action.title,
            id=action.name,
            tooltip=action.help,
            priority=action.name in {"interrupt", "suspend"},
            show=action.label is not None,
        )
        for action in ACTIONS
        if action.name != "command_palette"
    ]

    def __init__(
        self,
        roots: Sequence[bytes],
        summaries: Iterable[RepositorySummary],
        source: FleetSource,
        clock: Clock,
        *,
        encoding: str = "utf-8",
    ) -> None:
        """Take what is shown and with what; `encoding` is that of the terminal."""
        super().__init__()
        self._line_filters = filters_for(has_colours=not self.no_color, encoding=encoding)
        self.source = source
        self.clock = clock
        self.failure: Exception | None = None
        """Why the survey could not go on; the dashboard has ended because of it."""
        self.detail_is_shown = True
        self.fleet = Fleet(FLEET_COLUMNS)
        for summary in summaries:
            self.fleet.put(summary)
        self.fleet.arrange()
        self.table = FleetTable(self.fleet, on_cursor=self._cursor_moved, now_s=clock())
        self.flushing = Flushing(self, self.flush)
        self.live = LiveFleet(self.fleet, self.table, source)
        self.panels = Panels(roots, self.live, clock)
        self.filter_bar = FilterBar(self.panels.count_text)
        self.live.may_arrange = lambda: not self.filter_bar.is_typing

    @override
    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return ours for terminals that show less, before Textual's."""
        return self._line_filters or super().get_line_filters()

    @override
    def compose(self) -> ComposeResult:
        """Put the parts below one another."""
        yield self.panels.title
        with Container(id="body"):
            yield self.table
            yield self.panels.detail
        yield self.filter_bar
        yield self.panels.totals
        yield KeyLineView()
        yield LinesView(too_small_lines, id="notice")

    def on_mount(self) -> None:
        """Paint first, then begin to work."""
        self._say_why_empty()
        self.table.focus()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.source.start(self.flushing.wake)
        # What is on screen is measured first.
        self.watch(self.table, "scroll_y", self.flushing.soon, init=False)
        self.flushing.soon()
        self.set_interval(TICK_INTERVAL_S, self._tick)
        self.set_timer(_SETTLED_S, _forgo_collecting)

    def on_resize(self, event: events.Resize) -> None:
        """Choose the arrangement for the size."""
        self.flushing.soon()
        self._arrange_screen(event.size)

    def _arrange_screen(self, size: Size) -> None:
        arrange(self.screen_stack[0], size, detail_is_shown=self.detail_is_shown)

    def flush(self) -> None:
        """Show what happened since the last call."""
        if not self.screen_stack:
            # The application is being left.
            return
        changes = self.live.flush()
        again_s = self.live.next_flush_s()
        if again_s is not None:
            self.flushing.within(again_s)
        if changes is None:
            return
        if changes.failure is not None:
            self.failure = changes.failure
            self.exit(ExitCode.WRONG_USE)
            return
        self._show_changes(changes)

    def _show_changes(self, changes: Changes) -> None:
        for notice in changes.notices:
            self.notify(notice, severity="warning", markup=False)
        if changes.skipped is not None:
            self.panels.skipped = changes.skipped
        if changes.progress is not None:
            self.panels.progress = changes.progress
            self.panels.title.renew()
            self._say_why_empty()
        if changes.summaries or changes.forgotten:
            self.panels.totals.renew()
            self.filter_bar.count.renew()
        path = self.table.cursor_path
        is_of_cursor = path is not None and (path in changes.summaries or path in changes.reports)
        if is_of_cursor:
            self.panels.detail.renew()
        if (is_of_cursor or changes.skipped is not None) and isinstance(self.screen, PageScreen):
            self.screen.renew()

    def _tick(self) -> None:
        self.table.set_now(self.clock())
        self.panels.title.renew()
        self.panels.detail.renew()

    def _cursor_moved(self) -> None:
        self.live.cursor_moved()
        self.flushing.within(FLUSH_INTERVAL_S)
        self.panels.detail.renew(from_top=True)

    def _say_why_empty(self) -> None:
        text = self.panels.why_empty()
        if text != self.table.empty_text:
            self.table.empty_text = text
            self.table.refresh()

    def action_move_rows(self, distance: int) -> None:
        """Move the cursor by rows."""
        self.table.move_cursor_by(distance)

    def action_move_half_pages(self, count: int) -> None:
        """Move the cursor by half pages."""
        self.table.move_cursor_by(self.table.page_height * count // 2)

    def action_move_to_end(self, is_end: bool) -> None:
        """Move the cursor to the first or the last row."""
        self.table.move_cursor(len(self.fleet.view) - 1 if is_end else 0)

    def go_to(self, path: bytes) -> None:
        """Put the cursor on a repository; a filter that hides it is cleared."""
        number = self.fleet.number_of(path)
        if number is None:
            return
        if number not in self.fleet.positions:
            self.action_clear_filter()
        self.table.move_cursor(self.fleet.positions[number])

    def action_filter(self) -> None:
        """Open the filter line."""
        self.screen.add_class("-filtering")
        # Not `focus`, which takes effect some messages later: keys typed meanwhile would act on the table.
        self.screen.set_focus(self.filter_bar.input)

    def on_key(self, event: events.Key) -> None:
        """Give the filter what was typed right after it was opened.

        Keys of one burst are on their way to the table already when the first of them moves the focus. Those that
        reach the input itself never come here.
        """
        if self.filter_bar.is_typing and event.is_printable and event.character:
            event.prevent_default()
            self.filter_bar.input.insert_text_at_cursor(event.character)

    def action_clear_filter(self) -> None:
        """Show all rows."""
        self.filter_bar.input.value = ""
        self._filter_by("")
        self.screen.remove_class("-filtering")
        self.screen.set_focus(self.table)

    @on(FilterBar.Changed)
    def _filter_changed(self, event: FilterBar.Changed) -> None:
        self._filter_by(event.text)

    @on(FilterBar.Accepted)
    def _filter_accepted(self) -> None:
        if not self.fleet.words:
            self.screen.remove_class("-filtering")
        self.screen.set_focus(self.table)

    def _filter_by(self, text: str) -> None:
        words = self.fleet.words
        line = self.table.cursor_line()
        self.fleet.set_filter(text)
        if words == self.fleet.words:
            return
        self._say_why_empty()
        self.table.cursor_is_placed = True
        self.table.rearranged(cursor_line=line)
        self.flushing.soon()
        self.filter_bar.count.renew()

    def action_sort_by_neighbour(self, step: int) -> None:
        """Sort by the column to the left or to the right of the sorted one."""
        keys = [placed.column.key for placed in self.table.table_layout.columns]
        key = self.fleet.order[0][0]
        position = keys.index(key) + step if key in keys else 0
        self.sort_by(keys[position % len(keys)])

    def action_reverse_sort(self) -> None:
        """Reverse the order."""
        self.sort_by(self.fleet.order[0][0])

    @on(FleetTable.HeadClicked)
    def _head_clicked(self, event: FleetTable.HeadClicked) -> None:
        self.sort_by(event.key)

    def sort_by(self, key: str) -> None:
        """Sort by a column; again reverses."""
        line = self.table.cursor_line()
        self.fleet.sort_by(key)
        self.table.rearranged(cursor_line=line)
        self.flushing.soon()

    @on(FleetTable.RowOpened)
    def action_open(self) -> None:
        """Show all that is known of the repository."""
        if (path := self.table.cursor_path) is not None:
            self.source.request_report(path)
            self._show_page("Repository", partial(self.panels.page_lines, path))

    def action_show_skipped(self) -> None:
        """Show what looked like a repository and is none."""
        self._show_page("Skipped", self.panels.skipped_lines)

    def action_toggle_detail(self) -> None:
        """Show or hide the detail pane."""
        self.detail_is_shown = not self.detail_is_shown
        self._arrange_screen(self.size)

    def action_measure(self) -> None:
        """Measure the sizes of this repository now."""
        if (path := self.table.cursor_path) is not None:
            self.source.measure(path)

    def action_rescan(self) -> None:
        """Look at this repository again."""
        if (path := self.table.cursor_path) is not None:
            self.source.rescan(path)

    def action_rescan_all(self) -> None:
        """Look at everything again."""
        self.source.rescan(None)

    def action_copy_path(self) -> None:
        """Copy the path."""
        if (path := self.table.cursor_path) is not None:
            text = shell_path(path)
            self.copy_to_clipboard(text)
            self.notify(fit(text, 60).rstrip(), title="Copied", timeout=2, markup=False)

    def action_help(self) -> None:
        """Show the help page."""
        columns = tuple((column.key, column.help) for column in FLEET_COLUMNS)
        self._show_page("Help", partial(help_lines, columns=columns))

    @override
    async def action_quit(self) -> None:
        """Leave."""
        self.exit(ExitCode.DONE)

    @override
    def action_suspend_process(self) -> None:
        """Stop, with whatever else the shell runs in the foreground for us: `git dash` has git wait for us.

        The terminal is given back first: once git has stopped, the shell takes it, and who writes then is stopped.
        """
        if self.is_headless:
            return
        with self.suspend():
            os.killpg(os.getpgrp(), signal.SIGSTOP)

    def action_interrupt(self) -> None:
        """Leave as if interrupted."""
        self.exit(ExitCode.INTERRUPTED)

    def _show_page(self, title: str, compose_lines: Callable[[int], Sequence[Line]]) -> None:
        self.call_next(self.push_screen, PageScreen(title, compose_lines))

    @override
    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return the palette's entries: our actions, and of Textual's own the choice of a theme.

        Its others are ours by another name, do nothing here, or write a file to a folder that may not exist.
        """
        for action in ACTIONS:
            if action.in_palette:
                yield SystemCommand(action.title, action.help, partial(self.run_action, action.command))
        for command in super().get_system_commands(screen):
            if command.title == "Theme":
                yield command


def _forgo_collecting() -> None:
    """Take all that is loaded out of the garbage collector's sight: a full pass over it would be felt."""
    gc.collect()
    gc.freeze()
