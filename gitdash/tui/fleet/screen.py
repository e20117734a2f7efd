"""The first screen: the fleet table, a detail pane, a filter, and lines for title, sums and keys."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final

from textual import on
from textual.binding import BindingType
from textual.containers import Container
from textual.geometry import Size
from textual.widget import Widget
from typing_extensions import override

from gitdash.assessment.sentences import shell_word
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.confirmation import Confirmation
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line
from gitdash.tui.fleet.filter_bar import typing_keys
from gitdash.tui.fleet.look_screen import LookScreen
from gitdash.tui.fleet.panels import WIDE_COLUMNS
from gitdash.tui.fleet.progress import Look, title_line
from gitdash.tui.flushing import FLUSH_INTERVAL_S, Flushing
from gitdash.tui.pages.page_screen import PageScreen
from gitdash.tui.source import Changes
from gitdash.tui.table.folding import Folding
from gitdash.tui.table.marking import Marking
from gitdash.tui.table.table import FleetTable
from gitdash.units import counted

SHORT_LINES: Final = 32
"""Below this height the detail pane is a low one."""
MANY: Final = 50
"""More repositories than this are not measured without asking: it may take git hours."""


class FleetScreen(LookScreen):
    """The table of all repositories and what stands around it."""

    SCOPE = Scope.FLEET
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.FLEET)]

    def __init__(self, context: Context, table: FleetTable, flushing: Flushing) -> None:
        super().__init__(context, table, flushing)
        self.marking = Marking(self.fleet, table, self._marks_changed)
        self.folding = Folding(self.fleet, table, self.look_changed)
        self._confirmation = Confirmation()
        table.on_cursor = self._cursor_moved
        table.on_rearranged = self._rearranged
        context.live.may_arrange = lambda: not self.filter_bar.is_typing
        self._home = os.fsencode(os.path.expanduser("~"))

    @override
    def title_lines(self, width: int) -> Sequence[Line]:
        """Return what is looked at, and how far that is."""
        context = self.context
        look = Look(
            view_name=self.viewing.name,
            hidden_order=self.table.hidden_order(),
            skipped_key=context.key("show_skipped"),
        )
        return [title_line(context.roots, self._home, context.progress, width, context.clock(), look)]

    @override
    def parts(self) -> Iterable[Widget]:
        """Return table and detail, filter and sums."""
        return [Container(self.table, self.panels.detail, id="body"), self.filter_bar, self.panels.totals]

    @override
    def typing_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys of the filter line while it is typed on."""
        return typing_keys(self.context.shown_keys) if self.filter_bar.is_typing else ()

    def on_mount(self) -> None:
        """Say why there is nothing yet."""
        self.say_why_empty()
        self.table.focus()

    @override
    def choose_arrangement(self, size: Size) -> None:
        """Choose the arrangement."""
        super().choose_arrangement(size)
        self.set_class(size.width >= WIDE_COLUMNS, "-wide")
        self.set_class(size.height < SHORT_LINES, "-short")
        self.set_class(not self.detail_is_shown, "-no-detail")
        self.flushing.soon()

    @override
    def show_changes(self, changes: Changes | None) -> None:
        """Draw the lines around the table anew; the table has drawn its rows already."""
        if changes is None:
            self.table.set_now(self.context.clock())
            self.title_view.renew()
            self.panels.detail.renew()
            return
        if changes.progress is not None:
            self.title_view.renew()
            self.say_why_empty()
        if changes.summaries or changes.forgotten or changes.jobs:
            self.panels.totals.renew()
            self.filter_bar.renew()
        if self._concern_detail(changes):
            self.panels.detail.renew()

    def _concern_detail(self, changes: Changes) -> bool:
        if self.table.cursor_group is not None:
            return bool(changes.summaries)
        path = self.table.cursor_path
        return path is not None and (path in changes.summaries or path in changes.reports)

    def _cursor_moved(self) -> None:
        self.context.live.cursor_moved()
        self.flushing.within(FLUSH_INTERVAL_S)
        self.panels.detail.renew(from_top=True)

    def _rearranged(self) -> None:
        self.title_view.renew()
        self.panels.detail.renew()

    def action_move_rows(self, distance: int) -> None:
        """Move the cursor by rows."""
        self.table.move_cursor_by(distance)

    def action_move_half_pages(self, count: int) -> None:
        """Move the cursor by half pages."""
        self.table.move_cursor_by(self.table.page_height * count // 2)

    def action_move_to_end(self, is_end: bool) -> None:
        """Move the cursor to the first or the last row."""
        self.table.move_cursor(len(self.fleet.lines) - 1 if is_end else 0)

    def go_to(self, path: bytes) -> None:
        """Put the cursor on a repository; a filter that hides it is cleared."""
        number = self.fleet.number_of(path)
        if number is None:
            return
        if number not in self.fleet.view:
            self.action_clear_filter()
        self.fleet.reveal(number)
        self.table.move_cursor(self.fleet.positions[number])

    def action_drop(self) -> None:
        """Drop the range, else the view, else the filter, else the marks."""
        if not self.filter_bar.is_typing and self.marking.drop_range():
            return
        if self.viewing.close():
            self.view_opened(self.fleet.filter.text)
        elif self.has_class("-filtering"):
            self.action_clear_filter()
        else:
            self.marking.unmark_all()

    def _marks_changed(self) -> None:
        self.panels.totals.renew()

    def action_mark(self) -> None:
        """Mark the row."""
        self.marking.mark_and_go_on()

    def action_mark_range(self) -> None:
        """Begin a range, or mark it."""
        self.marking.toggle_range()

    def action_mark_all(self) -> None:
        """Mark all rows that pass the filter, or none of them."""
        self.marking.mark_all()

    def action_invert_marks(self) -> None:
        """Invert the marks of the rows that pass the filter."""
        self.marking.invert()

    @on(FleetTable.LineMarked)
    def _line_marked(self, event: FleetTable.LineMarked) -> None:
        self.marking.mark_clicked(event.first)

    def action_group_next(self) -> None:
        """Group by something else."""
        self.folding.group_by(self.folding.next_kind())

    def action_close_group(self) -> None:
        """Close the group, or go to its head."""
        self.folding.close_or_leave()

    def action_open_group(self) -> None:
        """Open the group, or go into it."""
        self.folding.open_or_enter()

    def action_set_all_groups(self, is_open: bool) -> None:
        """Open or close all groups."""
        self.folding.set_all_open(is_open=is_open)

    @on(FleetTable.LineOpened)
    def action_open(self) -> None:
        """Show all that is known of the repository, or open or close the group."""
        if not self.folding.toggle() and (path := self.table.cursor_path) is not None:
            self.context.open_repository(path)

    def action_show_skipped(self) -> None:
        """Show what looked like a repository and is none."""
        progress = self.context.progress
        if self.context.skipped or (progress is not None and progress.other_count):
            self.show_page("Skipped", self.panels.skipped_lines)
        else:
            is_complete = progress is not None and progress.complete
            self.say("Nothing was skipped." if is_complete else "Nothing skipped so far.")

    def action_toggle_detail(self) -> None:
        """Show or hide the detail pane."""
        self.detail_is_shown = not self.detail_is_shown
        self.choose_arrangement(self.size)
        self.context.remember()

    @override
    def current_path(self) -> bytes | None:
        """Return the repository of this screen's cursor."""
        return self.table.cursor_path

    @override
    def what_is_current(self) -> str:
        """Return what the cursor is on where that is no repository."""
        group = self.table.cursor_group
        return super().what_is_current() if group is None else f"a group of {len(group.numbers):,}"

    @override
    def acted_on(self) -> Sequence[bytes]:
        """Return the marked repositories, else that of the cursor, or all of its group."""
        return self.marking.acted_on()

    def action_measure(self) -> None:
        """Measure the sizes of these repositories now; of many only if it is asked for twice."""
        self._act("measures", "Measuring", self.context.source.measure)

    def action_rescan(self) -> None:
        """Look at these repositories again; at many only if it is asked for twice."""
        self._act("looks again at", "Looking again at", self.context.source.rescan)

    def _act(self, verb: str, gerund: str, act: Callable[[bytes], None]) -> None:
        paths = self.marking.acted_on()
        what = self.names_of(paths)
        if not paths:
            self.say("There is no repository under the cursor.")
        elif len(paths) > MANY and not self._confirmation.is_given((verb, paths), time.monotonic()):
            self.say(f"Once more {verb} {what}.")
        else:
            for path in paths:
                act(path)
            self.say(f"{gerund} {what}.")

    def action_rescan_all(self) -> None:
        """Look at everything again."""
        self.context.source.rescan(None)
        self.say("Looking again at all repositories.")

    def action_copy_path(self) -> None:
        """Copy the paths, with spaces between them."""
        paths = self.marking.acted_on()
        if paths:
            title = "Copied" if len(paths) == 1 else f"Copied {len(paths):,} paths"
            self.copy(" ".join(map(shell_word, paths)), title)

    @override
    def action_leave(self) -> None:
        """Quit: there is no screen below. What changes repositories is not cancelled unless that is asked for twice."""
        open_count = sum(job.is_open_change for job in self.context.jobs.values())
        if open_count and not self._confirmation.is_given("leave", time.monotonic()):
            jobs = counted(open_count, "job that changes a repository", "jobs that change repositories")
            self.say(f"Once more leaves and cancels {jobs}.")
            return
        self.app.call_next(self.app.action_quit)

    def show_page(self, title: str, compose_lines: Callable[[int], Sequence[Line]]) -> None:
        """Cover the screen with a page."""
        self.cover_with(PageScreen(title, compose_lines, self.context.shown_keys))
