"""One group of the fleet's rows: its members, what it is called, and its sums. Pure.

Sums are computed when they are first asked for, and kept: a group belongs to one arrangement of the rows.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from gitdash.export.columns import Column
from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import Grouping
from gitdash.tui.table.group_keys import title_of
from gitdash.tui.table.totals import RunningTotals

SIZES: Final = ("disk", "exclusive", "duplicate")
"""Columns of sizes that each object store has for itself."""
_STATE_RANKS: Final = {state: rank for rank, state in enumerate(State)}
RowSums: TypeAlias = tuple[int | None, int | None, int | None]
"""What a row adds to each of SIZES; None if that is not known."""


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


def row_sums(summary: RepositorySummary) -> RowSums:
    """Return what a row adds; what rows share counts once, as in the totals of the fleet."""
    totals = RunningTotals()
    totals.add(summary)
    has_exclusive = not totals.exclusive_unknown_count
    return (
        None if totals.disk_unknown_count else totals.disk_bytes,
        totals.exclusive_bytes if has_exclusive else None,
        totals.duplicate_bytes if has_exclusive else None,
    )


class Group:
    """One group in one arrangement; `version` tells its drawn head from that of another arrangement.

    `name_of` gives the name of a repository by its path, or None if it is not in the fleet.
    """

    __slots__ = (
        "_name_of",
        "_rows",
        "_sums",
        "_title",
        "_totals",
        "is_open",
        "key",
        "kind",
        "number",
        "numbers",
        "version",
    )

    def __init__(
        self,
        number: int,
        key: tuple[Grouping, Hashable],
        rows: Sequence[Row],
        name_of: Callable[[bytes], str | None],
        version: int,
    ) -> None:
        self.number = number
        self.kind, self.key = key
        self.numbers: list[int] = []
        """Its rows, in their order."""
        self.is_open = False
        self.version = version
        self._rows = rows
        self._name_of = name_of
        self._title: str | None = None
        self._sums: dict[str, Sum | None] = {}
        self._totals: RunningTotals | None = None

    @property
    def line(self) -> int:
        """What stands for its head among lines."""
        return ~self.number

    @property
    def title(self) -> str:
        """What people call it. Printable."""
        if self._title is None:
            self._title = title_of(self.kind, self.key, self._name_of)
        return self._title

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
            values = [column.value(summary) for summary in self.summaries() if summary.counts_store]
            self._sums[column.key] = _sum([value if isinstance(value, int) else None for value in values])
        return self._sums[column.key]

    def size(self, key: str) -> Sum | None:
        """Return the sum of one of SIZES; None if nothing of it is known."""
        if key not in self._sums:
            position = SIZES.index(key)
            self._sums[key] = _sum([sums[position] for sums in self._row_sums()])
        return self._sums[key]

    def _row_sums(self) -> Iterable[RowSums]:
        for number in self.numbers:
            row = self._rows[number]
            if row.sums is None:
                row.sums = row_sums(row.summary)
            yield row.sums

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


def _sum(values: Sequence[int | None]) -> Sum | None:
    known = [value for value in values if value is not None]
    return Sum(sum(known), len(known) < len(values)) if known else None
