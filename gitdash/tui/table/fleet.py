"""The fleet as the table sees it: rows, the filtered and sorted view of them, and sums.

Pure Python over `RepositorySummary`, without widgets and without a clock. Rows are numbered; the view is a list of row
numbers. Sorting is a step of its own, so that a stream of updates does not move rows below the reader's eyes.

What is drawn are lines: the view itself, or, where rows are grouped, heads (`~number` of the group, below 0) and the
rows of open groups.
"""

from collections.abc import Iterable, Sequence

from gitdash.export.columns import Column
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import Grouping
from gitdash.tui.table.group import Group
from gitdash.tui.table.groups import Groups
from gitdash.tui.table.marks import Marks
from gitdash.tui.table.part_sums import PartSums
from gitdash.tui.table.row import FleetRow
from gitdash.tui.table.row_filter import RowFilter
from gitdash.tui.table.totals import RunningTotals


class Fleet:
    """All rows and the view of them.

    `order` holds the columns that rows are sorted by, the main one first; equals stand in order of names.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = {column.key: column for column in columns}
        self.rows: list[FleetRow] = []
        self.view: list[int] = []
        """Rows that pass the filter, sorted."""
        self.lines: list[int] = self.view
        self.positions: dict[int, int] = {}
        """The place of each line among `lines`."""
        self.groups = Groups(self.number_of)
        self.marks = Marks()
        self.page_height = 0
        """Lines that fit on the screen; 0 until that is known."""
        self.totals = RunningTotals()
        self._shown_sums = PartSums()
        self._marked_sums = PartSums()
        self._group_sums = PartSums()
        self.order: list[tuple[str, bool]] = [("state", True), ("disk", True)]
        self.filter = RowFilter()
        self._numbers: dict[bytes, int] = {}
        self._by_name: list[int] = []
        self._sorted_all: list[int] = []
        """All rows as they were sorted last; new ones at the end."""

    def number_of(self, path: bytes) -> int | None:
        """Return the row number of a repository; None if it is not in the fleet."""
        return self._numbers.get(path)

    def put(self, summary: RepositorySummary) -> tuple[int, bool]:
        """Add a repository or replace its row; returns the row number and whether the row is new.

        A new row that passes the filter joins the end of the view at once and finds its place in the next `arrange`;
        where rows are grouped it is drawn from then on.
        """
        number = self._numbers.get(summary.path)
        if number is not None:
            row = self.rows[number]
            self.totals.remove(row.summary)
            self.totals.add(summary)
            for sums in self._part_sums:
                sums.changed(number, row.summary, summary)
            row.take(summary)
            self.filter.changed(number)
            return number, False
        number = len(self.rows)
        row = FleetRow(summary)
        self.rows.append(row)
        self._numbers[summary.path] = number
        self.totals.add(summary)
        self.filter.changed(number)
        self._sorted_all.append(number)
        if self.filter.passes(row):
            if self.lines is self.view:
                self.positions[number] = len(self.view)
            self.view.append(number)
        return number, True

    def set_busy(self, path: bytes, *, busy: bool) -> int | None:
        """Mark that work on a repository is going on; returns its row number if that changed anything."""
        number = self._numbers.get(path)
        if number is None or self.rows[number].busy == busy:
            return None
        self.rows[number].busy = busy
        self.rows[number].version += 1
        return number

    def forget(self, paths: Iterable[bytes]) -> dict[int, int] | None:
        """Drop repositories that are gone, which changes row numbers.

        Returns the new numbers of the others by their former ones; None if none of `paths` was known.
        """
        gone = {number for path in paths if (number := self._numbers.get(path)) is not None}
        if not gone:
            return None
        kept = [number for number in range(len(self.rows)) if number not in gone]
        gone_summaries = {number: self.rows[number].summary for number in gone}
        for summary in gone_summaries.values():
            self.totals.remove(summary)
        self.rows = [self.rows[number] for number in kept]
        self._numbers = {row.summary.path: number for number, row in enumerate(self.rows)}
        self._by_name = []
        renumbered = {former: number for number, former in enumerate(kept)}
        self.marks.renumber(renumbered)
        self.filter.renumber(renumbered)
        for sums in self._part_sums:
            sums.renumber(renumbered, gone_summaries)
        self.arrange()
        return renumbered

    def set_filter(self, text: str) -> bool:
        """Show only rows that contain every word of `text`, or for which the condition after `=` is true.

        The order stays as it is: what has changed since finds its place in the next `arrange`. Returns whether other
        rows may be shown than before.
        """
        is_other = self.filter.choose(text, self.rows)
        if is_other:
            self._show_passing()
        return is_other

    def look_at(self, text: str, order: Sequence[tuple[str, bool]], grouping: Grouping) -> None:
        """Filter, sort and group, all at once; with a filter that cannot be used all rows are shown."""
        self.filter.choose("", self.rows)
        self.filter.choose(text, self.rows)
        self.order = list(order)
        if grouping != self.grouping:
            self.groups.choose(grouping, self.rows)
        self.arrange()

    def sort_by(self, key: str) -> None:
        """Sort by a column, the largest first where it is a figure or a state; again reverses.

        The former column decides between equals.
        """
        former_key, descending = self.order[0]
        descending = not descending if key == former_key else self.columns[key].starts_with_greatest
        self.order = [(key, descending), *(entry for entry in self.order if entry[0] != key)][:2]
        self.arrange()

    def arrange(self) -> None:
        """Filter, sort and group anew."""
        rows = self.rows
        if len(self._by_name) != len(rows):
            names = [row.summary.name for row in rows]
            self._by_name = sorted(range(len(rows)), key=names.__getitem__)
        ordered = self._by_name
        for key, descending in reversed(self.order):
            ordered = self._sorted(ordered, self.columns[key], descending=descending)
        self._sorted_all = ordered
        self.filter.renew(rows)
        self._show_passing()

    def _show_passing(self) -> None:
        self.view = self.filter.passing(self._sorted_all, self.rows)
        self._group()

    @property
    def grouping(self) -> Grouping:
        """What rows are grouped by."""
        return self.groups.kind

    def group_by(self, kind: Grouping) -> None:
        """Group by something else; groups start open if all lines fit on the screen, else closed."""
        self.groups.choose(kind, self.rows)
        self._group()

    def _group(self) -> None:
        if self.grouping != "none":
            order = [(self.columns[key], descending) for key, descending in self.order]
            self.groups.arrange(self.rows, self.view, order)
            self.groups.fit(self.page_height)
        self.lay_out()

    def fit(self, page_height: int) -> None:
        """Take how many lines fit on the screen."""
        self.page_height = page_height
        self.groups.fit(page_height)
        if self.grouping != "none":
            self.lay_out()

    def lay_out(self) -> None:
        """Choose the lines anew: groups were opened or closed."""
        self.lines = self.view if self.grouping == "none" else self.groups.lines()
        self.positions = {line: position for position, line in enumerate(self.lines)}

    def group_at(self, line: int) -> Group | None:
        """Return the group whose head a line is; None for the line of a row."""
        return self.groups.by_number.get(~line) if line < 0 else None

    def group_of(self, number: int) -> Group | None:
        """Return the group in which a row is now; None if it is in none."""
        if self.grouping == "none":
            return None
        return next((group for group in self.groups.ordered if number in group.numbers), None)

    def reveal(self, number: int) -> None:
        """Open the group of a row that passes the filter; one that came since the last `arrange` gets its group now."""
        if number not in self.positions and self.group_of(number) is None:
            self._group()
        group = self.group_of(number)
        if group is not None and not group.is_open:
            self.groups.set_open(group.number, is_open=True)
            self.lay_out()

    def rows_of(self, line: int) -> list[int]:
        """Return the row of a line, or all rows of the group whose head it is."""
        group = self.group_at(line)
        return group.numbers if group is not None else [line] if line >= 0 else []

    def sum_shown(self, *, at_most: int | None = None) -> RunningTotals | None:
        """Return the sums over the rows that pass the filter: those of the fleet if there is none.

        None if more than `at_most` rows have to be counted for them: so many are, and the next call goes on.
        """
        if not self.filter.is_active:
            return self.totals
        is_followed = self._shown_sums.follow(self.view, self.rows, whole=self.totals, at_most=at_most)
        return self._shown_sums.totals if is_followed else None

    def sum_marked(self) -> RunningTotals:
        """Return the sums over the marked rows."""
        self._marked_sums.follow(self.marks.numbers, self.rows)
        return self._marked_sums.totals

    def sum_group(self, group: Group) -> RunningTotals:
        """Return the sums over the rows of one group; the next call changes them."""
        self._group_sums.follow(group.numbers, self.rows)
        return self._group_sums.totals

    @property
    def _part_sums(self) -> tuple[PartSums, ...]:
        return self._shown_sums, self._marked_sums, self._group_sums

    @property
    def hidden_marked_count(self) -> int:
        """How many marked rows the filter hides."""
        return self.marks.hidden_count(self.view)

    def acted_on(self, line: int | None) -> list[bytes]:
        """Return the repositories that an action means: the marked ones, else those of the line under the cursor.

        Those on screen come first, in their order.
        """
        marked = self.marks.numbers
        if not marked:
            numbers = [] if line is None else self.rows_of(line)
        else:
            numbers = [number for number in self.view if number in marked]
            numbers += sorted(marked.difference(numbers))
        return [self.rows[number].summary.path for number in numbers]

    def _sorted(self, view: list[int], column: Column, *, descending: bool) -> list[int]:
        """Sort by one column; what is unreadable and then what is absent stands last in either direction."""
        rows, rank = self.rows, column.rank
        values = list(map(column.value, [rows[number].summary for number in view]))
        # No list of pairs: ten thousand objects more would be the garbage collector's business.
        unreadable = [number for number, value in zip(view, values, strict=True) if isinstance(value, Unreadable)]
        absent = [number for number, value in zip(view, values, strict=True) if value is None]
        keys = {
            number: rank(value)
            for number, value in zip(view, values, strict=True)
            if value is not None and not isinstance(value, Unreadable)
        }
        return [*sorted(keys, key=keys.__getitem__, reverse=descending), *unreadable, *absent]
