"""Conditions over rows that change while people type: the table in memory is kept from one condition to the next.

Source: as in `filter`, whose limits hold here, too. Only what a condition reads is copied, and of that only what has
changed since. Does not know what a column means: who owns the rows says what stands in them.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from gitdash.history.filter import POSITION, TABLE, Value, columns_named, open_memory, quoted, run, storable

ValuesOf = Callable[[str, Sequence[int]], Iterable[Value]]
"""What stands in a column of the rows with these numbers, in their order; None for what is not known."""

_VALUE_AT: Final = "gitdash_value_at"
"""The function that says what stands in a column of a row, while that column is filled."""


class ConditionTable:
    """A fleet's rows as SQLite sees them.

    For one thread. Numbers of rows count from 0; a row stands in the table from the first `changed` on that names it.
    """

    def __init__(self, columns: Sequence[str], values_of: ValuesOf, *, texts: Collection[str]) -> None:
        """`texts` are the columns that hold texts; all others hold numbers, and compare with quoted ones as numbers."""
        self._columns = tuple(columns)
        self._values_of = values_of
        self._texts = frozenset(texts)
        self._empty = open_memory()
        self._empty.execute(f"CREATE TABLE {TABLE} ({', '.join([POSITION, *map(self._declaration, self._columns)])})")
        self._table = open_memory()
        self._filled: tuple[str, ...] = ()
        self._changed: set[int] = set()
        self._row_count = 0
        self.reset(0)

    def reset(self, row_count: int) -> None:
        """Forget what is known of all rows: there are as many, and their numbers may have changed."""
        self._table.execute(f"DROP TABLE IF EXISTS {TABLE}")
        self._table.execute(f"CREATE TABLE {TABLE} ({POSITION} INTEGER PRIMARY KEY)")
        self._filled = ()
        self._row_count = row_count
        self._changed = set(range(row_count))

    def changed(self, numbers: Iterable[int]) -> None:
        """Note that rows have other values, or are new; they are read when a condition needs them."""
        self._changed.update(numbers)
        self._row_count = max(self._row_count, max(self._changed, default=-1) + 1)

    def select(self, condition: str, *, time_limit_s: float) -> list[int]:
        """Return the numbers of the rows for which a condition is true, ascending. Raises FilterError."""
        named = columns_named(self._empty, condition, self._columns, time_limit_s=time_limit_s)
        self._fill(named)
        return run(self._table, condition, self._columns, self._row_count, time_limit_s=time_limit_s)

    def close(self) -> None:
        """Give the memory back."""
        self._empty.close()
        self._table.close()

    def _declaration(self, column: str) -> str:
        return f"{quoted(column)} {'TEXT' if column in self._texts else 'NUMERIC'}"

    def _fill(self, named: Iterable[str]) -> None:
        """Bring the table up to date, with these columns and those that it has already."""
        changed = sorted(self._changed)
        with self._table:
            self._table.execute("BEGIN")
            self._table.executemany(
                f"INSERT OR REPLACE INTO {TABLE} ({', '.join([POSITION, *map(quoted, self._filled)])})"  # noqa: S608 - quoted
                f" VALUES (?{', ?' * len(self._filled)})",
                zip(changed, *(self._values(column, changed) for column in self._filled), strict=True),
            )
            self._changed.clear()
            for column in sorted(set(named).difference(self._filled)):
                self._add(column)

    def _add(self, column: str) -> None:
        """Add a column, and fill it in all rows: in a third of the time that a statement for each row takes."""
        values = list(self._values(column, range(self._row_count)))
        self._table.create_function(_VALUE_AT, 1, values.__getitem__)
        self._table.execute(f"ALTER TABLE {TABLE} ADD COLUMN {self._declaration(column)}")
        self._table.execute(f"UPDATE {TABLE} SET {quoted(column)} = {_VALUE_AT}({POSITION})")  # noqa: S608 - quoted
        self._table.create_function(_VALUE_AT, 1, None)
        self._filled = (*self._filled, column)

    def _values(self, column: str, numbers: Sequence[int]) -> Iterator[Value]:
        return map(storable, self._values_of(column, numbers))
