"""Reads rows of the state file, from any thread, and takes nothing that gitdash has not written.

Source: SQLite's "Datatypes": any column holds values of any kind. A file that another program has changed, or a disk
that has lost bits, is damaged, and that is said in one sentence.
"""

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any, Final

from gitdash.history.schema import NOT_READABLE, damaged

_OTHER_KINDS: Final = {
    "fingerprint": (bytes, type(None)),
    "valid_until_s": (float, type(None)),
    "number": (int,),
    "is_whole": (int,),
}
"""What stands in columns that do not hold bytes alone."""


class Reader:
    """One connection that selects."""

    def __init__(self, connection: sqlite3.Connection, shown_path: str) -> None:
        self._connection = connection
        self._shown_path = shown_path
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def select(self, statement: str, parameters: Sequence[bytes | str | int]) -> list[tuple[Any, ...]]:
        """Return the rows. Raises HistoryError if the file is damaged."""
        with self._lock:
            try:
                cursor = self._connection.execute(statement, parameters)
                rows = cursor.fetchall()
                _require_kinds([name for name, *_ in cursor.description], rows)
            except (*NOT_READABLE, TypeError) as error:
                raise damaged(self._shown_path, error) from error
        return rows


def _require_kinds(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Raise TypeError for a value that is not of the kind that gitdash writes."""
    for place, column in enumerate(columns):
        kinds = _OTHER_KINDS.get(column, (bytes,))
        if not all(isinstance(row[place], kinds) for row in rows):
            raise TypeError(f"a value of another kind in {column}")
