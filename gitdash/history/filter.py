"""Conditions over rows: `--where` is an SQL expression, run by SQLite on a copy in memory.

Source: SQLite's "Compile-Time Authorization Callbacks" (`sqlite3_set_authorizer`) and "Run-Time Limits". A condition
may come from a script or a shared configuration, so it can read the table, use harmless functions, and nothing else:
no other table, no pragma, no attached file, no extension, no recursion; and it is stopped after a while. Does not
know the columns: they are the keys of the rows. Rows that change while a condition is typed: `condition_table`.
"""

import difflib
import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Final

from gitdash.errors import GitdashError
from gitdash.history.unit_numbers import without_units
from gitdash.units import printable

Value = int | float | str | None
Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]
"""What SQLite asks before it prepares a statement: an action, two names, the database, the trigger."""

TABLE: Final = "repositories"
"""What a subquery calls the rows."""

_FUNCTIONS: Final = frozenset(
    {
        "abs", "avg", "coalesce", "count", "glob", "ifnull", "iif", "instr", "length", "like", "lower", "max", "min",
        "nullif", "replace", "round", "sign", "substr", "substring", "sum", "total", "typeof", "unicode", "upper",
    }
)  # fmt: skip
"""They return a value of their arguments' size or less, `replace` bounded by `_LIMITS`.

`trim` is not among them: with two long arguments it takes the product of their lengths, in one step, and a condition
can be stopped only between steps.
"""

_LONGEST_VALUE_BYTES: Final = 20_000
"""The longest path that Linux opens, each byte escaped, has 16,384; one step of `instr` takes 40 ms on 65,536."""
_MOST_SELECTS: Final = 16
"""Of a condition with its subqueries."""
_WITH: Final = re.compile(
    r"""'[^']*'|"[^"]*"|\[[^]]*\]|`[^`]*`|--[^\n]*|/\*.*?\*/|(?P<word>\bwith\b)""", re.IGNORECASE | re.DOTALL
)
"""`WITH`, past texts, quoted names and comments. What it names twice in each of 24 steps SQLite writes out 2^24 times,
and looks neither at the clock nor asks the authorizer meanwhile."""
_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 20_000),
    (sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE_BYTES),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 4),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
)
_COMPARED: Final = r"(?:(?:[=<>]|\bIS|\bIS NOT|\bLIKE|\bGLOB)\s*|\bIN\s*\([^()]*)"
"""What stands before a text that a column is compared with."""
_TIME_LIMIT_S: Final = 5.0
_STEPS_BETWEEN_CLOCK_READINGS: Final = 10
POSITION: Final = "position_of_row"
"""The column that numbers the rows, from 0."""
_SHOWN_LENGTH: Final = 200
_INTERRUPTED: Final = "interrupted"
"""What SQLite says when the progress handler ends a statement."""
_TOO_MANY_SELECTS: Final = f"has more than {_MOST_SELECTS} subqueries"
_REASON_LENGTH: Final = 76


class FilterError(GitdashError):
    """A condition that cannot be run."""

    def __init__(self, text: str, *, reason: str) -> None:
        super().__init__(text)
        self.reason = reason
        """The same for who has the condition before the eyes: a clause of one short line."""


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
    with closing(open_memory()) as connection:
        _fill(connection, columns, rows)
        return run(connection, condition, columns, len(rows), time_limit_s=_TIME_LIMIT_S)


def columns_read(condition: str, columns: Sequence[str]) -> frozenset[str]:
    """Return those of the columns that a condition names. Raises FilterError if it could not be run."""
    with closing(open_memory()) as connection:
        _fill(connection, columns, ())
        return columns_named(connection, condition, columns, time_limit_s=_TIME_LIMIT_S)


def open_memory() -> sqlite3.Connection:
    """Open an empty database in memory. It keeps no statement: SQLite asks the authorizer only when it makes one."""
    return sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)


def _fill(connection: sqlite3.Connection, columns: Sequence[str], rows: Sequence[Mapping[str, Value]]) -> None:
    """Make the table; a column of numbers compares with a number in quotes as with a number."""
    declared = "".join(
        f", {quoted(column)} {'TEXT' if any(isinstance(row[column], str) for row in rows) else 'NUMERIC'}"
        for column in columns
    )
    connection.execute(f"CREATE TABLE {TABLE} ({POSITION} INTEGER PRIMARY KEY{declared})")
    places = ", ?" * len(columns)
    connection.executemany(
        f"INSERT INTO {TABLE} VALUES (?{places})",  # noqa: S608 - a constant and question marks
        ((position, *(storable(row[column]) for column in columns)) for position, row in enumerate(rows)),
    )


def storable(value: Value) -> Value:
    """Return what SQLite can hold: its integers have 64 bits."""
    return float(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value


def _authorize(action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None) -> int:
    """Allow what reads the table, deny all else, among it what future versions of SQLite may add."""
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        return sqlite3.SQLITE_OK if first == TABLE else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY


def columns_named(
    connection: sqlite3.Connection, condition: str, columns: Sequence[str], *, time_limit_s: float
) -> frozenset[str]:
    """Return which columns of an empty table a condition names. Raises FilterError if it could not be run."""
    read: set[str] = set()

    def note(action: int, first: str | None, second: str | None, *rest: str | None) -> int:
        if action == sqlite3.SQLITE_READ and second is not None:
            read.add(second)
        return _authorize(action, first, second, *rest)

    run(connection, condition, columns, 0, time_limit_s=time_limit_s, asked=note)
    return frozenset(read.intersection(columns))


def run(
    connection: sqlite3.Connection,
    condition: str,
    columns: Sequence[str],
    row_count: int,
    *,
    time_limit_s: float,
    asked: Authorizer = _authorize,
) -> list[int]:
    """Return the positions of the rows in the table for which a condition is true, ascending. Raises FilterError.

    The connection is confined for this time alone: before and after it, the table can be filled.
    """
    if any(match["word"] for match in _WITH.finditer(condition)):
        reason = "WITH is not for conditions"
        raise FilterError(f"'{printable(condition[:_SHOWN_LENGTH])}': {reason}", reason=reason)
    deadline_s = time.monotonic() + time_limit_s
    former = [(limit, connection.setlimit(limit, value)) for limit, value in _LIMITS]
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline_s), _STEPS_BETWEEN_CLOCK_READINGS)
    guard = _Guard(asked, deadline_s)
    connection.set_authorizer(guard)
    # The newline ends a comment in the condition.
    statement = f"SELECT {POSITION} FROM {TABLE} WHERE (\n{without_units(condition)}\n) ORDER BY {POSITION}"  # noqa: S608 - confined
    try:
        answer = [row[0] for row in connection.execute(statement)]
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise _refusal(guard.objection or str(error), condition, columns, time_limit_s) from error
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
        for limit, value in former:
            connection.setlimit(limit, value)
    if not all(isinstance(position, int) and 0 <= position < row_count for position in answer):
        raise FilterError(f"'{printable(condition)}' is not a condition", reason="not a condition")
    return sorted(set(answer))


class _Guard:
    """What SQLite asks while it prepares a statement: refuses what would keep it at that for long."""

    def __init__(self, asked: Authorizer, deadline_s: float) -> None:
        self.objection: str | None = None
        """Why this refused something, where the one that it asks did not."""
        self._asked = asked
        self._deadline_s = deadline_s
        self._select_count = 0

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
    ) -> int:
        """Answer as `asked` does, within the limits."""
        self._select_count += action == sqlite3.SQLITE_SELECT
        if self._select_count > _MOST_SELECTS:
            self.objection = _TOO_MANY_SELECTS
        elif time.monotonic() > self._deadline_s:
            self.objection = _INTERRUPTED
        return sqlite3.SQLITE_DENY if self.objection else self._asked(action, first, second, database, trigger)


def _refusal(message: str, condition: str, columns: Sequence[str], time_limit_s: float) -> FilterError:
    shown = printable(condition if len(condition) <= _SHOWN_LENGTH else condition[:_SHOWN_LENGTH] + "...")
    no_column = re.fullmatch(r"no such column: (.*)", message, re.DOTALL)
    if no_column:
        name = printable(no_column[1])
        nearest = difflib.get_close_matches(name, columns, n=1, cutoff=0.7)
        hint = f": did you mean '{nearest[0]}'?" if nearest else _quotes_hint(no_column[1], name, condition)
        text = f"no column '{name}'{hint or ': columns are ' + ', '.join(columns)}"
        return FilterError(text, reason=_clipped(f"no column '{name}'{hint}"))
    if message == _TOO_MANY_SELECTS:
        return FilterError(f"'{shown}' {_TOO_MANY_SELECTS}", reason=_TOO_MANY_SELECTS)
    if message == _INTERRUPTED:
        reason = f"takes more than {time_limit_s:g} s"
        return FilterError(f"'{shown}' {reason}", reason=reason)
    if "prohibited" in message or "not authorized" in message:
        reason = "does more than read the table"
        return FilterError(f"'{shown}' {reason}: {printable(message)}", reason=reason)
    if _is_cut_short(message, condition):
        return FilterError(f"'{shown}' is not a complete condition", reason="not complete")
    reason = f"not a condition: {printable(message)}"
    return FilterError(f"'{shown}' is {reason}", reason=_clipped(reason))


def _quotes_hint(word: str, shown: str, condition: str) -> str:
    """Return how a word is written that a column is compared with, if it can be one; else nothing."""
    compared = re.search(rf"{_COMPARED}{re.escape(word)}(?!\w)", condition, re.IGNORECASE)
    return f": texts stand in quotes, '{shown}'" if compared else ""


def _is_cut_short(message: str, condition: str) -> bool:
    """Tell whether SQLite stumbled over what stands behind the condition, and so a quote or a clause is not closed."""
    for met, sign in ((")", ")"), ("ORDER", "order")):
        if message == f'near "{met}": syntax error' and sign not in condition.lower():
            return True
    return message == "incomplete input" or f") ORDER BY {POSITION}" in message


def _clipped(text: str) -> str:
    return text if len(text) <= _REASON_LENGTH else text[: _REASON_LENGTH - 3] + "..."


def quoted(name: str) -> str:
    """Return a name of a column as SQL writes it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'
