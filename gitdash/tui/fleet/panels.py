"""The lines around the table: title, detail pane, sums. Composes what they say; `LinesView` draws it."""

import os
from collections.abc import Sequence
from typing import Final

from gitdash.model.repository import NotRepository
from gitdash.model.summary import RepositorySummary
from gitdash.tui.clock import Clock
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.fleet.fleet import Fleet
from gitdash.tui.fleet.live import LiveFleet
from gitdash.tui.fleet.progress import roots_text, title_line
from gitdash.tui.fleet.table import FleetTable
from gitdash.tui.fleet.totals import totals_line
from gitdash.tui.pages.skipped import skipped_lines
from gitdash.tui.repository.detail import full_lines, pane_lines
from gitdash.tui.source import SurveyProgress

WIDE_COLUMNS: Final = 170
"""From this terminal width on the detail pane stands beside the table, and is as high."""


class Panels:
    """The line views that show the fleet and the repository under the cursor."""

    def __init__(self, roots: Sequence[bytes], live: LiveFleet, clock: Clock) -> None:
        self.progress: SurveyProgress | None = None
        self.skipped: tuple[NotRepository, ...] = ()
        """What the survey met that is no repository."""
        self.title = LinesView(self._title_lines, id="title")
        self.detail = LinesView(self._detail_lines, id="detail")
        self.totals = LinesView(self._totals_lines, id="totals")
        self._roots = roots
        self._home = os.fsencode(os.path.expanduser("~"))
        self._live = live
        self._clock = clock

    @property
    def _fleet(self) -> Fleet:
        return self._live.fleet

    @property
    def _table(self) -> FleetTable:
        return self._live.table

    def page_lines(self, path: bytes, width: int) -> Sequence[Line]:
        """Return everything that is known of a repository."""
        number = self._fleet.number_of(path)
        if number is None:
            return [[Piece(" This repository is gone.", Tone.PLAIN)]]
        summary = self._fleet.rows[number].summary
        return full_lines(summary, self._live.report_of(path), width=width, now_s=self._clock())

    def skipped_lines(self, width: int) -> Sequence[Line]:
        """Return what looked like a repository and is none, with the reasons."""
        is_complete = self.progress is not None and self.progress.complete
        return skipped_lines(self.skipped, width, is_complete=is_complete)

    def why_empty(self) -> str:
        """Return what stands in the table if it has no rows."""
        where = roots_text(self._roots, self._home)
        if self._fleet.words:
            return "No repository contains all of these words. Esc shows all."
        if self.progress is not None and self.progress.complete:
            return f"No repository below {where}."
        return f"Searching for repositories below {where} …"

    def count_text(self) -> str:
        """Return how many rows pass the filter, of how many."""
        return f"{len(self._fleet.view):,}/{len(self._fleet.rows):,}"

    def _title_lines(self, width: int) -> Sequence[Line]:
        return [title_line(self._roots, self._home, self.progress, width, self._clock())]

    def _totals_lines(self, width: int) -> Sequence[Line]:
        return [totals_line(self._fleet.totals, width)]

    def _cursor_summary(self) -> RepositorySummary | None:
        number = self._table.cursor_number
        if number is None or self._table.cursor_position is None:
            return None
        return self._fleet.rows[number].summary

    def _detail_lines(self, width: int) -> Sequence[Line]:
        summary = self._cursor_summary()
        if summary is None:
            return []
        is_tall = self.detail.app.size.width >= WIDE_COLUMNS
        report = self._live.report_of(summary.path)
        lines = pane_lines(summary, report, width=width, now_s=self._clock(), is_tall=is_tall)
        height = self.detail.size.height
        if len(lines) <= height:
            return lines
        hidden = len(lines) - height + 1
        return [*lines[: height - 1], [Piece(f" … {hidden} more lines: enter opens", Tone.DIM)]]
