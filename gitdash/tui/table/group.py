"""One group of the fleet's rows: its members, what it is called, and its sums. Pure.

Sums and the worst state are found when they are first asked for, and kept: a group belongs to one arrangement of the
rows.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final, NamedTuple, Protocol

from gitdash.export.columns import Column
from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import Grouping
from gitdash.survey.summarize import repeated_bytes
from gitdash.tui.table.group_keys import title_of
from gitdash.tui.table.totals import Sizes

SIZES: Final = ("disk", "exclusive", "duplicate")
"""Columns of sizes that each object store has for itself, in the order of `Row.sizes`."""
SUMMED_UNITS: Final = frozenset({"bytes", "count"})
"""Units of columns that have a sum."""
_STATE_RANKS: Final = {state: rank for rank, state in enumerate(State)}


class Row(Protocol):
    """What a group needs of a row."""

    summary: RepositorySummary
    group: int | None
    """Number of its group; None until it is asked for."""

    @property
    def sizes(self) -> Sizes:
        """What it adds to each of SIZES; None if that is not known."""


class Sum(NamedTuple):
    """A sum over a group."""

    value: int
    is_partial: bool
    """Something that counts is not known."""


def summed(rows: Sequence[Row], numbers: Sequence[int], column: Column) -> tuple[Sequence[int], Sequence[int | None]]:
    """Return the rows that count in the sum of a column of bytes or counts, and what they add, None if not known."""
    if column.key in SIZES:
        position = SIZES.index(column.key)
        return numbers, [rows[number].sizes[position] for number in numbers]
    counting = [number for number in numbers if rows[number].summary.counts_store]
    values = map(column.value, [rows[number].summary for number in counting])
    return counting, [value if isinstance(value, int) else None for value in values]


class Group:
    """One group in one arrangement; `version` tells its drawn head from that of another arrangement.

    `name_of` gives the name of a repository by its path, or None if it is not in the fleet.
    """

    __slots__ = (
        "_name_of",
        "_rows",
        "_sums",
        "_title",
        "_worst_state",
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
        self._worst_state: State | None = None

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

    @property
    def worst_state(self) -> State:
        """The worst state of its rows."""
        if self._worst_state is None:
            states = {self._rows[number].summary.state for number in self.numbers}
            self._worst_state = max(states, key=_STATE_RANKS.__getitem__)
        return self._worst_state

    def sum_of(self, column: Column) -> Sum | None:
        """Return the sum of a column of bytes or counts; None if nothing of it is known."""
        if column.key not in self._sums:
            found = _sum(summed(self._rows, self.numbers, column)[1])
            self._sums[column.key] = self._with_links_once(found, column.key) if found else None
        return self._sums[column.key]

    def _with_links_once(self, found: Sum, key: str) -> Sum:
        rows = [self._rows[number] for number in self.numbers]
        if key == "disk":
            files = [row.summary.linked_files for row in rows if row.sizes[0]]
        elif key == "exclusive":
            files = [row.summary.linked_exclusive for row in rows if row.sizes[1]]
        else:
            return found
        return found._replace(value=max(found.value - repeated_bytes(files), 0))

    def rank(self, column: Column) -> int | float | str | None:
        """Return what the group is ordered by when rows are sorted by a column without a sum; None stands last.

        That is the title where the column is the name, and else the value of the group's first row: of a state the
        worst, or the best where rows are sorted the other way.
        """
        if column.key == "name":
            return self.title.casefold()
        value = column.value(self._rows[self.numbers[0]].summary)
        return None if value is None or isinstance(value, Unreadable) else column.rank(value)


def _sum(values: Sequence[int | None]) -> Sum | None:
    known = [value for value in values if value is not None]
    return Sum(sum(known), len(known) < len(values)) if known else None
