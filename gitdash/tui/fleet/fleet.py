"""The fleet as the table sees it: rows, the filtered and sorted view of them, and sums.

Pure Python over `RepositorySummary`, without widgets and without a clock. Rows are numbered; the view is a list of row
numbers. Sorting is a step of its own, so that a stream of updates does not move rows below the reader's eyes.
"""

from collections.abc import Iterable, Sequence

from gitdash.export.columns import Column, RawValue
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.tui.fleet.totals import RunningTotals
from gitdash.units import printable_path


class FleetRow:
    """One repository; `version` grows with each change, so that drawn lines can be kept."""

    __slots__ = ("busy", "haystack", "summary", "version")

    def __init__(self, summary: RepositorySummary) -> None:
        self.summary = summary
        self.haystack = _haystack(summary)
        self.version = 0
        self.busy = False


class Fleet:
    """All rows and the view of them.

    `order` holds the columns that rows are sorted by, the main one first; equals stand in order of names.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = {column.key: column for column in columns}
        self.rows: list[FleetRow] = []
        self.view: list[int] = []
        self.positions: dict[int, int] = {}
        self.totals = RunningTotals()
        self.order: list[tuple[str, bool]] = [("state", True), ("disk", True)]
        self.words: tuple[str, ...] = ()
        self._numbers: dict[bytes, int] = {}
        self._by_name: list[int] = []

    def number_of(self, path: bytes) -> int | None:
        """Return the row number of a repository; None if it is not in the fleet."""
        return self._numbers.get(path)

    def put(self, summary: RepositorySummary) -> tuple[int, bool]:
        """Add a repository or replace its row; returns the row number and whether the row is new.

        A new row that passes the filter joins the end of the view at once and finds its place in the next `arrange`.
        """
        number = self._numbers.get(summary.path)
        if number is not None:
            row = self.rows[number]
            self.totals.remove(row.summary)
            self.totals.add(summary)
            row.summary = summary
            row.haystack = _haystack(summary)
            row.version += 1
            return number, False
        number = len(self.rows)
        row = FleetRow(summary)
        self.rows.append(row)
        self._numbers[summary.path] = number
        self.totals.add(summary)
        if self._passes(row):
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

    def forget(self, paths: Iterable[bytes]) -> bool:
        """Drop repositories that are gone; returns whether any was known. All row numbers change."""
        gone = {number for path in paths if (number := self._numbers.get(path)) is not None}
        if not gone:
            return False
        for number in gone:
            self.totals.remove(self.rows[number].summary)
        self.rows = [row for number, row in enumerate(self.rows) if number not in gone]
        self._numbers = {row.summary.path: number for number, row in enumerate(self.rows)}
        self._by_name = []
        self.arrange()
        return True

    def set_filter(self, text: str) -> None:
        """Show only rows that contain every word of `text`, whatever the case."""
        self.words = tuple(text.casefold().split())
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
        """Filter and sort anew."""
        rows = self.rows
        if len(self._by_name) != len(rows):
            names = [row.summary.name for row in rows]
            self._by_name = sorted(range(len(rows)), key=names.__getitem__)
        view = self._by_name
        if self.words:
            view = [number for number in view if self._passes(rows[number])]
        for key, descending in reversed(self.order):
            view = self._sorted(view, self.columns[key], descending=descending)
        self.view = view
        self.positions = {number: position for position, number in enumerate(view)}

    def _sorted(self, view: list[int], column: Column, *, descending: bool) -> list[int]:
        """Sort by one column; what is unreadable and then what is absent stands last in either direction."""
        keys: dict[int, RawValue] = {}
        rank = column.rank
        unreadable: list[int] = []
        absent: list[int] = []
        for number in view:
            value = column.value(self.rows[number].summary)
            if value is None:
                absent.append(number)
            elif isinstance(value, Unreadable):
                unreadable.append(number)
            else:
                keys[number] = rank(value)
        return [*sorted(keys, key=keys.__getitem__, reverse=descending), *unreadable, *absent]

    def _passes(self, row: FleetRow) -> bool:
        haystack = row.haystack
        return all(word in haystack for word in self.words)


def _haystack(summary: RepositorySummary) -> str:
    """Return all that a filter looks for; the name is the end of the path."""
    words = (
        printable_path(summary.path),
        summary.kind.value,
        summary.kind.value.replace("_", " "),
        summary.role,
        summary.state.value,
        *summary.rules,
        summary.worst_summary or "",
    )
    return " ".join(words).casefold()
