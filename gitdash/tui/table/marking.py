"""What keys and clicks do to marks: which lines they mean, from the cursor and the range that follows it."""

from collections.abc import Callable

from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.table import FleetTable


class Marking:
    """Marks rows of one table; `changed` is called after each change."""

    def __init__(self, fleet: Fleet, table: FleetTable, changed: Callable[[], None]) -> None:
        self._fleet = fleet
        self._table = table
        self._changed = changed

    def mark_and_go_on(self) -> None:
        """Mark or unmark the row under the cursor, or all rows of the group, and go to the next line."""
        if (line := self._table.cursor) is not None:
            self._fleet.marks.toggle(self._fleet.rows_of(line))
            self._table.move_cursor_by(1)
            self._show()

    def toggle_range(self) -> None:
        """Begin a range of lines that reaches to the cursor wherever that goes, or mark what one has reached."""
        if self._table.range_start is None:
            self._table.range_start = self._table.cursor
            self._show()
        else:
            self.keep_range()

    def keep_range(self) -> None:
        """Mark the rows of the range, if there is one."""
        span = self._table.range_span()
        if span is not None:
            self._mark_lines(*span)
        self._table.range_start = None
        self._show()

    def drop_range(self) -> bool:
        """Forget the range; returns whether there was one."""
        had_one = self._table.range_start is not None
        self._table.range_start = None
        self._show()
        return had_one

    def mark_all(self) -> None:
        """Mark all rows that pass the filter; unmark them if all are marked."""
        self._fleet.marks.toggle(self._fleet.view)
        self._show()

    def invert(self) -> None:
        """Of the rows that pass the filter, mark those that are not and unmark those that are."""
        self._fleet.marks.invert(self._fleet.view)
        self._show()

    def unmark_all(self) -> None:
        """Unmark all rows, hidden ones too."""
        self._fleet.marks.clear()
        self._show()

    def mark_clicked(self, first: int | None) -> None:
        """Mark or unmark the line under the cursor, or mark all from the line `first` to it."""
        start = None if first is None else self._fleet.positions.get(first)
        end = self._table.cursor_position
        if end is None:
            return
        if start is None:
            self._fleet.marks.toggle(self._fleet.rows_of(self._fleet.lines[end]))
        else:
            self._mark_lines(min(start, end), max(start, end))
        self._show()

    def _mark_lines(self, first: int, last: int) -> None:
        """Mark rows by the places of their lines; the head of a closed group stands for all of its rows."""
        fleet = self._fleet
        for line in fleet.lines[first : last + 1]:
            group = fleet.group_at(line)
            if group is None or not group.is_open:
                fleet.marks.add(fleet.rows_of(line))

    def acted_on(self) -> list[bytes]:
        """Return the repositories that an action means; a range that is being chosen counts as marked from now on."""
        if self._table.range_start is not None:
            self.keep_range()
        return self._fleet.acted_on(self._table.cursor)

    def _show(self) -> None:
        self._table.refresh()
        self._changed()
