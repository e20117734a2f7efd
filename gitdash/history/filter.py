"""Conditions over rows: `--where` is an SQL expression, run by SQLite on a copy in memory.

Source: SQLite's "Compile-Time Authorization Callbacks" (`sqlite3_set_authorizer`) and "Run-Time Limits". A condition
may come from a script or a shared configuration, so it can read the table, use harmless functions, and nothing else:
no other table, no pragma, no attached file, no extension, no recursion; and it is stopped after a while. Does not
know the columns: they are the keys of the rows.
"""

import difflib
import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Final

from gitdash.errors import GitdashError
from gitdash.units import printable

Value = int | float | str | None
Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]
"""What SQLite asks before it prepares a statement: an action, two names, the database, the trigger."""

TABLE: Final = "repositories"
"""What a subquery calls the rows."""

_FUNCTIONS: Final = frozenset(
    {
        "abs", "avg", "coalesce", "count", "glob", "ifnull", "iif", "instr", "length", "like", "lower", "ltrim", "max",
        "min", "nullif", "replace", "round", "rtrim", "sign", "substr", "substring", "sum", "total", "trim", "typeof",
        "unicode", "upper",
    }
)  # fmt: skip
"""They return a value of their arguments' size or less, `replace` bounded by `_LIMITS`."""

_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 20_000),
    (sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 4),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
)
_TIME_LIMIT_S: Final = 5.0
_STEPS_BETWEEN_CLOCK_READINGS: Final = 100_000
_POSITION: Final = "position_of_row"
_SHOWN_LENGTH: Final = 200


class FilterError(GitdashError):
    """A condition that cannot be run."""


def select(rows: Sequence[Mapping[str, Value]], condition: str, *, columns: Sequence[str] | None = None) -> list[int]:
    """Return the positions of the rows for which the condition is true, ascending.

    Each row has all `columns`, which are the keys of the first row if they are not given; then nothing is checked if
    there are no rows. An unreadable value is passed as None, which SQL calls NULL: no comparison with it is true.
    Raises FilterError.
    """
    if columns is None:
        if not rows:
            return []
        columns = tuple(rows[0])
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _fill(connection, columns, rows)
        _confine(connection, _authorize)
        return _run(connection, condition, columns, len(rows))


def columns_read(condition: str, columns: Sequence[str]) -> frozenset[str]:
    """Return those of the columns that a condition names. Raises FilterError if it could not be run."""
    read: set[str] = set()

    def note(action: int, first: str | None, second: str | None, *rest: str | None) -> int:
        if action == sqlite3.SQLITE_READ and second is not None:
            read.add(second)
        return _authorize(action, first, second, *rest)

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _fill(connection, columns, ())
        _confine(connection, note)
        _run(connection, condition, columns, 0)
    return frozenset(read.intersection(columns))


def _fill(connection: sqlite3.Connection, columns: Sequence[str], rows: Sequence[Mapping[str, Value]]) -> None:
    """Make the table; a column of numbers compares with a number in quotes as with a number."""
    declared = "".join(
        f", {_quoted(column)} {'TEXT' if any(isinstance(row[column], str) for row in rows) else 'NUMERIC'}"
        for column in columns
    )
    connection.execute(f"CREATE TABLE {TABLE} ({_POSITION} INTEGER PRIMARY KEY{declared})")
    places = ", ?" * len(columns)
    connection.executemany(
        f"INSERT INTO {TABLE} VALUES (?{places})",  # noqa: S608 - a constant and question marks
        ((position, *(_storable(row[column]) for column in columns)) for position, row in enumerate(rows)),
    )


def _storable(value: Value) -> Value:
    """Return what SQLite can hold: its integers have 64 bits."""
    return float(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value


def _confine(connection: sqlite3.Connection, authorize: Authorizer) -> None:
    for limit, value in _LIMITS:
        connection.setlimit(limit, value)
    deadline_s = time.monotonic() + _TIME_LIMIT_S
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline_s), _STEPS_BETWEEN_CLOCK_READINGS)
    connection.set_authorizer(authorize)


def _authorize(action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None) -> int:
    """Allow what reads the table, deny all else, among it what future versions of SQLite may add."""
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        return sqlite3.SQLITE_OK if first == TABLE else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY


def _run(connection: sqlite3.Connection, condition: str, columns: Sequence[str], row_count: int) -> list[int]:
    # The newline ends a comment in the condition.
    statement = f"SELECT {_POSITION} FROM {TABLE} WHERE (\n{condition}\n) ORDER BY {_POSITION}"  # noqa: S608 - confined
    try:
        answer = [row[0] for row in connection.execute(statement)]
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise FilterError(_in_words(str(error), condition, columns)) from error
    if not all(isinstance(position, int) and 0 <= position < row_count for position in answer):
        raise FilterError(f"'{printable(condition)}' is not a condition")
    return sorted(set(answer))


def _in_words(message: str, condition: str, columns: Sequence[str]) -> str:
    shown = printable(condition if len(condition) <= _SHOWN_LENGTH else condition[:_SHOWN_LENGTH] + "...")
    no_column = re.fullmatch(r"no such column: (.*)", message, re.DOTALL)
    if no_column:
        name = printable(no_column[1])
        close = difflib.get_close_matches(name, columns, n=1, cutoff=0.7)
        hint = f"did you mean '{close[0]}'?" if close else f"columns are {', '.join(columns)}"
        return f"no column '{name}': {hint}"
    if message == "interrupted":
        return f"'{shown}' takes more than {_TIME_LIMIT_S:.0f} s"
    if "prohibited" in message or "not authorized" in message:
        return f"'{shown}' does more than read the table: {printable(message)}"
    return f"'{shown}' is not a condition: {printable(message)}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
