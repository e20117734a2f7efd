"""The lines around the table: detail pane, sums. Composes what they say; `LinesView` draws it."""

import os
from collections.abc import Sequence
from typing import Final

from gitdash.model.summary import RepositorySummary
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.drawing.roots import roots_text
from gitdash.tui.fleet.group_detail import group_lines
from gitdash.tui.fleet.totals_line import Moment, totals_line
from gitdash.tui.jobs.counts import job_counts
from gitdash.tui.pages.skipped import skipped_lines
from gitdash.tui.repository.detail import pane_lines
from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.table import FleetTable

WIDE_COLUMNS: Final = 170
"""From this terminal width on the detail pane stands beside the table, and is as high."""

_SUMMED_AT_ONCE: Final = 1_000
"""Rows that are counted for the sums while a key waits: 2 ms."""


class Panels:
    """The line views that show the sums and the repository under the cursor."""

    def __init__(self, context: Context, table: FleetTable) -> None:
        self.detail = LinesView(self._detail_lines, id="detail")
        self.totals = LinesView(self._totals_lines, id="totals")
        self._home = os.fsencode(os.path.expanduser("~"))
        self._context = context
        self._table = table
        self._is_summed_up = True
        """The line of sums has all of them."""

    @property
    def _fleet(self) -> Fleet:
        return self._context.fleet

    def skipped_lines(self, width: int) -> Sequence[Line]:
        """Return what looked like a repository and is none, with the reasons."""
        progress = self._context.progress
        is_complete = progress is not None and progress.complete
        return skipped_lines(self._context.skipped, width, is_complete=is_complete)

    def why_empty(self) -> str:
        """Return what stands in the table if it has no rows."""
        where = roots_text(self._context.roots, self._home)
        key = self._context.key("drop")
        how = f" {key} shows all." if key else ""
        if self._fleet.filter.is_condition:
            return f"For no repository is this condition true.{how}"
        if self._fleet.filter.is_active:
            return f"No repository contains all of these words.{how}"
        progress = self._context.progress
        if progress is not None and progress.complete:
            return f"No repository below {where}."
        return f"Searching for repositories below {where} …"

    def count_text(self) -> str:
        """Return how many rows pass the filter, of how many."""
        return f"{len(self._fleet.view):,}/{len(self._fleet.rows):,}"

    def sum_up(self) -> bool:
        """Go on with the sums over what passes the filter, more rows than a letter waits for; returns if all are in."""
        if self._fleet.filter.is_active:
            self.totals.renew()
        return self._is_summed_up

    def _totals_lines(self, width: int) -> Sequence[Line]:
        fleet = self._fleet
        moment = Moment(
            fleet_count=len(fleet.rows) if fleet.filter.is_active else None,
            passing_count=len(fleet.view),
            marked=fleet.sum_marked() if fleet.marks.numbers else None,
            hidden_marked_count=fleet.hidden_marked_count,
            jobs=job_counts(self._context.jobs.values()),
        )
        totals = fleet.sum_shown(at_most=_SUMMED_AT_ONCE)
        self._is_summed_up = totals is not None
        return [totals_line(totals, width, moment)]

    def _cursor_summary(self) -> RepositorySummary | None:
        number = self._table.cursor_number
        if number is None or self._table.cursor_position is None:
            return None
        return self._fleet.rows[number].summary

    def _detail_lines(self, width: int) -> Sequence[Line]:
        group = self._table.cursor_group
        if group is not None:
            return self._fitting(group_lines(group, self._fleet.sum_group(group), width))
        summary = self._cursor_summary()
        if summary is None:
            return []
        is_tall = self.detail.app.size.width >= WIDE_COLUMNS
        report = self._context.live.report_of(summary.path)
        return self._fitting(pane_lines(summary, report, width=width, now_s=self._context.clock(), is_tall=is_tall))

    def _fitting(self, lines: Sequence[Line]) -> Sequence[Line]:
        height = self.detail.size.height
        if len(lines) <= height:
            return lines
        hidden = len(lines) - height + 1
        key = self._context.key("open")
        how = f": {key} opens" if key else ""
        return [*lines[: height - 1], [Piece(f" … {hidden} more lines{how}", Tone.DIM)]]
