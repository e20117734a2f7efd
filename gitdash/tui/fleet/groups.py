"""Groups of the fleet's rows: which there are, what they are called, in which order they stand, and which are open.

Pure. A group has a number that stays the same through every arrangement, so that a cursor can stand on its head; the
line of a head is `~number`, below 0, where rows have theirs from 0 on. Draws nothing and filters nothing.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from gitdash.export.columns import Column
from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import Grouping
from gitdash.tui.fleet.group_keys import GROUP_KEYS, NO_POOL, title_of
from gitdash.tui.fleet.totals import RunningTotals

SIZES: Final = frozenset({"disk", "exclusive", "duplicate"})
"""Columns of sizes that each object store has for itself."""
_STATE_RANKS: Final = {state: rank for rank, state in enumerate(State)}


class RowSums(NamedTuple):
    """What one row adds to the sums of its group; what rows share counts once, as in the totals of the fleet."""

    disk_bytes: int
    disk_unknown_count: int
    exclusive_bytes: int
    exclusive_unknown_count: int
    duplicate_bytes: int
    store_count: int


def row_sums(summary: RepositorySummary) -> RowSums:
    """Return what a row adds."""
    totals = RunningTotals()
    totals.add(summary)
    return RowSums(
        totals.disk_bytes,
        totals.disk_unknown_count,
        totals.exclusive_bytes,
        totals.exclusive_unknown_count,
        totals.duplicate_bytes,
        totals.object_store_count,
    )


class Row(Protocol):
    """What a group needs of a row."""

    summary: RepositorySummary
    group: int | None
    """Number of its group; None until it is asked for."""
    sums: RowSums | None
    """Likewise."""


class Sum(NamedTuple):
    """A sum over a group."""

    value: int
    is_partial: bool
    """Something that counts is not known."""


class Group:
    """One group in one arrangement; `version` tells its drawn head from that of another arrangement."""

    __slots__ = ("_rows", "_sums", "_totals", "is_open", "key", "kind", "number", "numbers", "title", "version")

    def __init__(self, kind: Grouping, number: int, key: Hashable, rows: Sequence[Row], version: int) -> None:
        self.kind = kind
        self.number = number
        self.key = key
        self.numbers: list[int] = []
        """Its rows, in their order."""
        self.title = ""
        """Printable."""
        self.is_open = False
        self.version = version
        self._rows = rows
        self._sums: dict[str, Sum | None] = {}
        self._totals: RunningTotals | None = None

    @property
    def line(self) -> int:
        """What stands for its head among lines."""
        return ~self.number

    def summaries(self) -> Iterable[RepositorySummary]:
        """Return the rows themselves."""
        return (self._rows[number].summary for number in self.numbers)

    def totals(self) -> RunningTotals:
        """Return all sums over its rows."""
        if self._totals is None:
            self._totals = RunningTotals()
            for summary in self.summaries():
                self._totals.add(summary)
        return self._totals

    @property
    def worst_state(self) -> State:
        """The worst state of its rows."""
        return max((summary.state for summary in self.summaries()), key=_STATE_RANKS.__getitem__)

    def sum_of(self, column: Column) -> Sum | None:
        """Return the sum of a column of bytes or counts; None if nothing of it is known."""
        if column.key in SIZES:
            return self.size(column.key)
        if column.key not in self._sums:
            self._sums[column.key] = self._plain_sum(column)
        return self._sums[column.key]

    def size(self, key: str) -> Sum | None:
        """Return one of SIZES; None if nothing of it is known."""
        if key not in self._sums:
            self._sums |= self._sizes()
        return self._sums[key]

    def _sizes(self) -> dict[str, Sum | None]:
        disk, lacks_disk, exclusive, lacks_exclusive, duplicate, stores = map(sum, zip(*self._row_sums(), strict=True))
        has_disk = disk > 0 or lacks_disk < len(self.numbers)
        has_exclusive = lacks_exclusive < stores
        return {
            "disk": Sum(disk, lacks_disk > 0) if has_disk else None,
            "exclusive": Sum(exclusive, lacks_exclusive > 0) if has_exclusive else None,
            "duplicate": Sum(duplicate, lacks_exclusive > 0) if has_exclusive else None,
        }

    def _row_sums(self) -> Iterable[RowSums]:
        for number in self.numbers:
            row = self._rows[number]
            if row.sums is None:
                row.sums = row_sums(row.summary)
            yield row.sums

    def _plain_sum(self, column: Column) -> Sum | None:
        values = [column.value(summary) for summary in self.summaries() if summary.counts_store]
        known = [value for value in values if isinstance(value, int)]
        return Sum(sum(known), len(known) < len(values)) if known else None

    def rank(self, column: Column) -> int | float | str | None:
        """Return what the group is ordered by when rows are sorted by a column; None stands last.

        That is the sum where the column is one of bytes or counts, the title where it is the name, and else the value
        of the group's first row: of a state the worst, or the best where rows are sorted the other way.
        """
        if column.key == "name":
            return self.title.casefold()
        if column.unit in {"bytes", "count"}:
            found = self.sum_of(column)
            return None if found is None else found.value
        value = column.value(self._rows[self.numbers[0]].summary)
        return None if value is None or isinstance(value, Unreadable) else column.rank(value)


class Groups:
    """The groups of one fleet."""

    def __init__(self) -> None:
        self.kind: Grouping = "none"
        self.ordered: list[Group] = []
        self.by_number: dict[int, Group] = {}
        """Those of the present arrangement."""
        self._numbers: dict[tuple[Grouping, Hashable], int] = {}
        self._keys: list[Hashable] = []
        self._opened: dict[int, bool] = {}
        """What a person opened or closed."""
        self._starts_open: bool | None = None
        """What holds for all others; None until it is known whether all lines fit on the screen."""
        self._version = 0

    def choose(self, kind: Grouping, rows: Iterable[Row]) -> None:
        """Group by something else."""
        self.kind = kind
        self._opened = {}
        self._starts_open = None
        for row in rows:
            row.group = None

    def arrange(
        self,
        rows: Sequence[Row],
        view: Iterable[int],
        order: Sequence[tuple[Column, bool]],
        name_of: Callable[[bytes], str | None],
    ) -> None:
        """Make groups of the rows in `view`, which is sorted by `order`, the main column first.

        `name_of` gives the name of a repository by its path, or None if it is not in the fleet.
        """
        self._version += 1
        found: dict[int, Group] = {}
        number_of = self._number_of
        for number in view:
            row = rows[number]
            group_number = row.group
            if group_number is None:
                row.group = group_number = number_of(row.summary)
            group = found.get(group_number)
            if group is None:
                group = found[group_number] = Group(
                    self.kind, group_number, self._keys[group_number], rows, self._version
                )
            group.numbers.append(number)
        for group in found.values():
            group.title = title_of(self.kind, group.key, name_of)
        self.by_number = found
        self.ordered = _ordered(found.values(), order)
        if self.kind == "pool":
            self._put_lenders_first(rows)
        self._open_or_close()

    def _number_of(self, summary: RepositorySummary) -> int:
        key = GROUP_KEYS[self.kind](summary)
        number = self._numbers.setdefault((self.kind, key), len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
        return number

    def _put_lenders_first(self, rows: Sequence[Row]) -> None:
        for group in self.ordered:
            lender = next((number for number in group.numbers if rows[number].summary.path == group.key), None)
            if lender is not None:
                group.numbers.remove(lender)
                group.numbers.insert(0, lender)

    def fit(self, height: int) -> None:
        """Decide whether groups start open, if that is still undecided: only where all lines fit into `height`."""
        if self._starts_open is None and self.ordered and height:
            self._starts_open = len(self.ordered) + sum(len(group.numbers) for group in self.ordered) <= height
            self._open_or_close()

    def _open_or_close(self) -> None:
        for group in self.ordered:
            group.is_open = self._opened.get(group.number, bool(self._starts_open))

    def set_open(self, number: int, *, is_open: bool) -> None:
        """Open or close one group."""
        self._opened[number] = is_open
        self._open_or_close()

    def set_all_open(self, *, is_open: bool) -> None:
        """Open or close all groups, also those that are to come."""
        self._opened = {}
        self._starts_open = is_open
        self._open_or_close()

    def lines(self) -> list[int]:
        """Return heads and rows in the order in which they are drawn."""
        lines: list[int] = []
        for group in self.ordered:
            lines.append(group.line)
            if group.is_open:
                lines += group.numbers
        return lines


def _ordered(groups: Iterable[Group], order: Sequence[tuple[Column, bool]]) -> list[Group]:
    """Order groups as their rows are sorted; those of which nothing is known, and those of no pool, stand last."""
    ordered = list(groups)
    for column, descending in reversed(order):
        ranks: Mapping[int, int | float | str] = {
            group.number: rank for group in ordered if (rank := group.rank(column)) is not None
        }
        known = [group for group in ordered if group.number in ranks]
        unknown = [group for group in ordered if group.number not in ranks]
        known.sort(key=lambda group: ranks[group.number], reverse=descending)
        ordered = known + unknown
    return sorted(ordered, key=lambda group: group.key is NO_POOL)
