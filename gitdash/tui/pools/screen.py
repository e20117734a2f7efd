"""The screen of lenders, each with its members."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from typing_extensions import override

from gitdash.assessment.sentences import shell_word
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.drawing.lazy_lines import LazyLines
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.later import later
from gitdash.tui.pools.head_view import HeadView
from gitdash.tui.pools.lines import all_safe_lines, entry_line, head_line, no_lender_lines, title_line
from gitdash.tui.pools.order import PoolOrder
from gitdash.tui.pools.pool_list import Key, PoolList
from gitdash.tui.pools.sums import sums_lines
from gitdash.tui.screen import ItemsScreen
from gitdash.tui.source import Changes
from gitdash.units import printable_path

RENEW_INTERVAL_S: Final = 1.0
"""Between two looks at the fleet for lenders, at least: each goes over all repositories."""


class PoolsScreen(ItemsScreen):
    """All lenders with members, saved bytes and unsafe states."""

    SCOPE = Scope.POOLS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.POOLS)]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.pools = PoolList()
        self.sums_view = LinesView(lambda width: sums_lines(self.pools.sums, width), id="pools-sums")
        self.head_view = HeadView(lambda width: [head_line(self.pools.order, width)], self._sort_by)
        self.items = ItemsView(self._page, id="page")
        self._is_stale = False
        self._looked_at_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._look()

    @override
    def title_lines(self, width: int) -> Sequence[Line]:
        """Return the title, with what is shown in which order."""
        return [title_line(self.pools.order, is_only_unsafe=self.pools.is_only_unsafe, width=width)]

    @override
    def parts(self) -> Iterable[Widget]:
        """Return the sums, and the list below its head."""
        return [self.sums_view, self.head_view, self.items]

    def _look(self) -> None:
        self._is_stale = False
        fleet = self.context.fleet
        self.pools.take((row.summary for row in fleet.rows), fleet.totals.saved)
        self._looked_at_s = time.monotonic()
        self.set_class(not self.pools.sums.lender_count, "-no-lender")

    def _page(self, width: int) -> Page:
        pools = self.pools
        if not pools.sums.lender_count:
            progress = self.context.progress
            is_complete = progress is None or progress.complete
            return Page(no_lender_lines(pools.repository_count, width, is_complete=is_complete))
        entries = pools.entries
        if not entries.keys:
            shown_key = self.context.key("only_unsafe")
            return Page(all_safe_lines(pools.sums.lender_count, shown_key, width))
        self.items.chosen = self._kept(entries.keys)
        lines = LazyLines([], entries.rows, lambda entry: entry_line(entry, width), width)
        return Page(lines, entries.items, names=entries.keys)

    def _kept(self, keys: Sequence[Key]) -> Key:
        """Return what the cursor stays on: its lender if a member is no longer shown, or what stands there instead."""
        chosen = next((key for key in keys if key == self.items.chosen), None)
        if chosen is None and isinstance(self.items.chosen, tuple):
            chosen = next((key for key in keys if key == (self.items.chosen[0], None)), None)
        return chosen or keys[min(self.items.selected, len(keys) - 1)]

    @property
    def key(self) -> Key | None:
        """The lender under the cursor, and the member if it is on one; None if there is nothing."""
        keys, selected = self.pools.entries.keys, self.items.selected
        return keys[selected] if selected < len(keys) else None

    @override
    def show_changes(self, changes: Changes | None) -> None:
        """Look at the fleet again, if a repository is other than before: now, or as soon as that may be."""
        if changes is None:
            return
        if changes.summaries or changes.forgotten:
            self._is_stale = True
            self._look_soon()
        elif changes.progress is not None and not self.pools.sums.lender_count:
            self.items.renew()

    def _look_soon(self) -> None:
        if not self._is_stale or not self.is_current or self._timer is not None:
            return
        left_s = self._looked_at_s + RENEW_INTERVAL_S - time.monotonic()
        if left_s > 0:
            self._timer = later(self, left_s, self._look_again)
        else:
            self._look_again()

    def _look_again(self) -> None:
        self._timer = None
        if self.is_current:
            self._look()
            self._renew()

    def on_screen_resume(self, _: events.ScreenResume) -> None:
        """Catch up with what happened meanwhile."""
        self._look_soon()

    def _renew(self) -> None:
        """Draw everything anew."""
        self.title_view.renew()
        self.sums_view.renew()
        self.head_view.renew()
        self.items.renew()

    @override
    def current_path(self) -> bytes | None:
        """Return the repository under the cursor; None for a lender that is none of the repositories here."""
        path = None if self.key is None else self.key[1] or self.key[0]
        return path if path is not None and self.context.summary_of(path) is not None else None

    @on(ItemsView.Opened)
    def action_open(self) -> None:
        """Show the members of a closed lender; else open the repository under the cursor."""
        if self.key is None:
            return
        lender, member = self.key
        if member is None and self.pools.can_open(lender) and not self.pools.is_open(lender):
            self._set_open(lender, is_open=True)
        elif (path := self.current_path()) is not None:
            self.context.open_repository(path)
        else:
            self.say(f"{printable_path(lender)} is none of the repositories here.")

    def action_open_members(self) -> None:
        """Show the members of a lender, or go to the first."""
        if self.key is None or self.key[1] is not None or not self.pools.can_open(self.key[0]):
            return
        lender = self.key[0]
        if not self.pools.is_open(lender):
            self._set_open(lender, is_open=True)
            return
        self.items.move(1)
        if self.key[0] != lender:
            self.items.move(-1)

    def action_close_members(self) -> None:
        """Hide the members of a lender."""
        if self.key is not None:
            self._set_open(self.key[0], is_open=False)

    def action_set_all_open(self, is_open: bool) -> None:
        """Show or hide the members of all lenders."""
        self.pools.set_all_open(is_open=is_open)
        self._renew()

    def _set_open(self, lender: bytes, *, is_open: bool) -> None:
        self.pools.set_open(lender, is_open=is_open)
        self._renew()

    def action_only_unsafe(self) -> None:
        """Show only what is unsafe, or all."""
        self.pools.is_only_unsafe = not self.pools.is_only_unsafe
        self._renew()

    def action_sort_by_neighbour(self, step: int) -> None:
        """Sort by the column to the left or to the right of the sorted one."""
        self._sort(self.pools.order.neighbour(step))

    def _sort_by(self, key: str) -> None:
        self._sort(self.pools.order.clicked(key))

    def action_reverse_sort(self) -> None:
        """Reverse the order."""
        self._sort(self.pools.order.reversed())

    def _sort(self, order: PoolOrder) -> None:
        self.pools.order = order
        self._renew()

    def action_copy_path(self) -> None:
        """Copy the path of what the cursor is on."""
        if self.key is not None:
            self.copy(shell_word(self.key[1] or self.key[0]))
