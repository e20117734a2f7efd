"""The groups of the fleet: which there are, in which order they stand, and which are open.

Pure. A group has a number that stays the same through every arrangement, so that a cursor can stand on its head; the
line of a head is `~number`, below 0, where rows have theirs from 0 on. Draws nothing and filters nothing.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from gitdash.export.columns import Column
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import Grouping
from gitdash.tui.table.group import SUMMED_UNITS, Group, Row, summed
from gitdash.tui.table.group_keys import GROUP_KEYS, NO_POOL


class Groups:
    """The groups of one fleet.

    `number_of` gives the number of a row by the path of its repository, or None if it is not in the fleet.
    """

    def __init__(self, number_of: Callable[[bytes], int | None]) -> None:
        self.kind: Grouping = "none"
        self.ordered: list[Group] = []
        self.by_number: dict[int, Group] = {}
        """Those of the present arrangement."""
        self._number_of_row = number_of
        self._rows: Sequence[Row] = ()
        self._numbers: dict[tuple[Grouping, Hashable], int] = {}
        self._keys: list[tuple[Grouping, Hashable]] = []
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

    def arrange(self, rows: Sequence[Row], view: Sequence[int], order: Sequence[tuple[Column, bool]]) -> None:
        """Make groups of the rows in `view`, which is sorted by `order`, the main column first."""
        self._rows = rows
        self._version += 1
        found: dict[int, Group] = {}
        for number in view:
            row = rows[number]
            group_number = row.group
            if group_number is None:
                row.group = group_number = self._number_of(row.summary)
            group = found.get(group_number)
            if group is None:
                group = found[group_number] = self._empty(group_number)
            group.numbers.append(number)
        self.by_number = found
        self.ordered = self._ordered(view, order)
        if self.kind == "pool":
            self._put_lenders_first()
        self._open_or_close()

    def _number_of(self, summary: RepositorySummary) -> int:
        key = self.kind, GROUP_KEYS[self.kind](summary)
        number = self._numbers.setdefault(key, len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
        return number

    def _empty(self, number: int) -> Group:
        return Group(number, self._keys[number], self._rows, self._name_of, self._version)

    def _name_of(self, path: bytes) -> str | None:
        number = self._number_of_row(path)
        return None if number is None else self._rows[number].summary.name

    def _ordered(self, view: Sequence[int], order: Sequence[tuple[Column, bool]]) -> list[Group]:
        """Order groups as their rows are sorted; what nothing is known of, and those of no pool, stand last."""
        ordered = list(self.by_number.values())
        for column, descending in reversed(order):
            ranks = self._ranks(view, column)
            known = [group for group in ordered if group.number in ranks]
            unknown = [group for group in ordered if group.number not in ranks]
            known.sort(key=lambda group: ranks[group.number], reverse=descending)
            ordered = known + unknown
        return sorted(ordered, key=lambda group: group.key is NO_POOL)

    def _ranks(self, view: Sequence[int], column: Column) -> Mapping[int, int | float | str]:
        """Return what groups are ordered by, by their numbers: the sum where there is one."""
        if column.unit not in SUMMED_UNITS:
            return {group.number: rank for group in self.by_number.values() if (rank := group.rank(column)) is not None}
        # One pass over all rows: a sum for each of thousands of small groups takes three times as long.
        rows, sums = self._rows, dict[int, int]()
        for number, value in zip(*summed(rows, view, column), strict=True):
            group_number = rows[number].group
            if value is not None and group_number is not None:
                sums[group_number] = sums.get(group_number, 0) + value
        return sums

    def _put_lenders_first(self) -> None:
        for group in self.ordered:
            lender = self._number_of_row(group.key) if isinstance(group.key, bytes) else None
            if lender is not None and group.numbers[0] != lender and lender in group.numbers:
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
