"""From changes of the source to what is on screen: which lines are drawn, when rows are sorted.

One call of `flush` takes everything that happened since the last one. Rows are put in order again at most every
`ARRANGE_INTERVAL_S`, so that they do not move below the reader's eyes, and not at all while a filter is typed.
"""

import time
from collections.abc import Callable
from typing import Final

from textual.cache import LRUCache

from gitdash.model.report import RepositoryReport
from gitdash.tui.flushing import FLUSH_INTERVAL_S
from gitdash.tui.source import Changes, FleetSource
from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.table import FleetTable

ARRANGE_INTERVAL_S: Final = 1.5
_KEPT_REPORTS: Final = 64


class LiveFleet:
    """Applies changes to the fleet and its table."""

    def __init__(self, fleet: Fleet, table: FleetTable, source: FleetSource) -> None:
        self.fleet = fleet
        self.table = table
        self.source = source
        self.may_arrange: Callable[[], bool] = lambda: True
        self._reports: LRUCache[bytes, RepositoryReport] = LRUCache(_KEPT_REPORTS)
        self._arranged_at_s = time.monotonic()
        self._arrange_is_due = False
        self._prioritised: list[int] = []
        self._report_path: bytes | None = None
        """The repository whose report should be asked for, once the cursor has stayed on it for a moment."""
        self._report_is_due = False

    def report_of(self, path: bytes) -> RepositoryReport | None:
        """Return the report of a repository if it is at hand."""
        return self._reports.get(path)

    def cursor_moved(self) -> None:
        """Note that the cursor stands elsewhere."""
        self._report_path = self.table.cursor_path
        self._report_is_due = False

    def flush(self) -> Changes | None:
        """Apply what the source has; returns it, or None if nothing happened."""
        changes = self.source.take()
        if changes is not None:
            self._apply(changes)
        self._ask_for_report()
        self._arrange_if_due()
        self._prioritise()
        return changes

    def next_flush_s(self) -> float | None:
        """Return in how many seconds there is something to do though nothing happens; None if there is not."""
        if self._report_path is not None:
            return FLUSH_INTERVAL_S
        if not self._arrange_is_due:
            return None
        left_s = ARRANGE_INTERVAL_S - (time.monotonic() - self._arranged_at_s)
        return max(left_s, FLUSH_INTERVAL_S if self.may_arrange() else ARRANGE_INTERVAL_S)

    def _apply(self, changes: Changes) -> None:
        if changes.forgotten:
            self._forget(changes.forgotten)
        dirty = []
        has_grown = False
        for summary in changes.summaries.values():
            number, is_new = self.fleet.put(summary)
            has_grown = has_grown or is_new
            dirty.append(number)
        for path, is_busy in changes.busy.items():
            number_or_none = self.fleet.set_busy(path, busy=is_busy)
            if number_or_none is not None:
                dirty.append(number_or_none)
        for path, report in changes.reports.items():
            # Textual's cache keeps the old value of a key that it has.
            self._reports.discard(path)
            if report is not None:
                self._reports[path] = report
        if has_grown:
            self.table.grown()
        self.table.redraw_lines(dirty)
        self._arrange_is_due = self._arrange_is_due or bool(changes.summaries)
        self._renew_reports(changes)

    def _renew_reports(self, changes: Changes) -> None:
        """A changed row's report is out of date; that of the cursor's row stays on screen until the new one comes.

        So is one that arrived with the row, for it may have been read before.
        """
        cursor_path = self.table.cursor_path
        for path in changes.summaries:
            if path == cursor_path:
                self._report_path, self._report_is_due = path, True
            else:
                self._reports.discard(path)

    def _forget(self, paths: list[bytes]) -> None:
        line = self.table.cursor_line()
        renumbered = self.fleet.forget(paths)
        if renumbered is not None:
            self._prioritised = []
            self.table.renumber(renumbered)
            self.table.rearranged(cursor_line=line)

    def _ask_for_report(self) -> None:
        path = self._report_path
        if path is None:
            return
        if not self._report_is_due:
            self._report_is_due = True
            return
        self._report_path = None
        self.source.request_report(path)

    def arrange(self) -> None:
        """Sort and filter anew; the cursor's row stays on its screen line."""
        line = self.table.cursor_line()
        self.fleet.arrange()
        self.table.rearranged(cursor_line=line)
        self._arranged_at_s = time.monotonic()
        self._arrange_is_due = False

    def _arrange_if_due(self) -> None:
        if not self._arrange_is_due or not self.may_arrange():
            return
        if time.monotonic() - self._arranged_at_s >= ARRANGE_INTERVAL_S:
            self.arrange()

    def _prioritise(self) -> None:
        visible = self.table.visible_numbers()
        if visible != self._prioritised:
            self._prioritised = visible
            rows = self.fleet.rows
            self.source.prioritise([rows[number].summary.path for number in visible])
