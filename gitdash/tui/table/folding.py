"""What keys and clicks do to groups: choose by what rows are grouped, open and close."""

from collections.abc import Callable

from gitdash.model.view import Grouping
from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.group import Group
from gitdash.tui.table.group_keys import GROUPING_TITLES
from gitdash.tui.table.table import FleetTable


class Folding:
    """Groups the rows of one table; `moved` is called after lines have moved."""

    def __init__(self, fleet: Fleet, table: FleetTable, moved: Callable[[], None]) -> None:
        self._fleet = fleet
        self._table = table
        self._moved = moved

    def group_by(self, kind: Grouping) -> None:
        """Group by something; the cursor stays on its repository, or goes to the group that has it."""
        line = self._table.cursor_line()
        self._fleet.group_by(kind)
        self._follow(line)

    def next_kind(self) -> Grouping:
        """Return what comes after the present grouping."""
        kinds = list(GROUPING_TITLES)
        return kinds[(kinds.index(self._fleet.grouping) + 1) % len(kinds)]

    def toggle(self) -> bool:
        """Open or close the group whose head the cursor is on; returns whether it is on one."""
        group = self._table.cursor_group
        if group is not None:
            self._set_open(group, is_open=not group.is_open)
        return group is not None

    def close_or_leave(self) -> None:
        """Close the group whose head the cursor is on, or go from a row to the head of its group."""
        group = self._table.cursor_group
        if group is not None:
            self._set_open(group, is_open=False)
            return
        number = self._table.cursor_number
        around = None if number is None else self._fleet.group_of(number)
        if around is not None:
            self._table.move_cursor(self._fleet.positions[around.line])

    def open_or_enter(self) -> None:
        """Open the group whose head the cursor is on, or go to its first row if it is open."""
        group = self._table.cursor_group
        if group is None:
            return
        if group.is_open:
            self._table.move_cursor_by(1)
        else:
            self._set_open(group, is_open=True)

    def set_all_open(self, *, is_open: bool) -> None:
        """Open or close all groups."""
        if self._fleet.grouping == "none":
            return
        line = self._table.cursor_line()
        self._fleet.groups.set_all_open(is_open=is_open)
        self._fleet.lay_out()
        self._follow(line)

    def _set_open(self, group: Group, *, is_open: bool) -> None:
        line = self._table.cursor_line()
        self._fleet.groups.set_open(group.number, is_open=is_open)
        self._fleet.lay_out()
        self._follow(line)

    def _follow(self, cursor_line: int | None) -> None:
        self._table.cursor_is_placed = True
        self._table.rearranged(cursor_line=cursor_line)
        self._moved()
