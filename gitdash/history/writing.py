"""Writes to the state file in short transactions, and waits for other processes only so long.

Source: SQLite's "Result and Error Codes": a transaction that another process keeps from beginning or ending may be
tried again. SQLite's own wait cannot be cut short, so it waits for moments here, and we for the rest. Whatever goes
wrong costs the memory, never the run: it is said once, in `Writer.problem`.
"""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from gitdash.history.schema import NOT_READABLE, is_busy

Row = tuple[bytes | str | float | None, ...]

_MOMENT_MS: Final = 20
_PATIENCE_S: Final = 2.0
"""How long one process waits for another's transaction, which takes milliseconds."""
_LEAVING_S: Final = 0.5
"""How long all writes together may wait once somebody waits for the end."""


class Writer:
    """One connection that changes; its caller sees to it that one thread at a time does."""

    def __init__(self, connection: sqlite3.Connection, shown_path: str, problem: str | None) -> None:
        self.problem = problem
        """Why something could not be remembered, for people; None if all is well. The first problem stays."""
        self.is_writable = problem is None
        self._connection = connection
        self._shown_path = shown_path
        self._leave_at_s = float("inf")
        if self.is_writable:
            connection.execute(f"PRAGMA busy_timeout = {_MOMENT_MS}")

    def hurry(self) -> None:
        """Wait no longer for other processes, but for a last moment. May be called from any thread."""
        self._leave_at_s = time.monotonic() + _LEAVING_S

    def close(self) -> None:
        """Close the file. Who writes after that is told that it took no effect."""
        self.is_writable = False
        self._connection.close()

    def last_number(self) -> int:
        """Return the number that SQLite gave to the last row that was inserted."""
        number: int = self._connection.execute("SELECT last_insert_rowid()").fetchone()[0]
        return number

    def write(self, *changes: tuple[str, Sequence[Row]]) -> bool:
        """Run statements in one short transaction and say whether they took effect."""
        if not self.is_writable:
            return False
        patient_until_s = time.monotonic() + _PATIENCE_S
        try:
            self._execute("BEGIN IMMEDIATE", patient_until_s)
            for statement, rows in changes:
                self._connection.executemany(statement, rows)
            self._execute("COMMIT", patient_until_s)
        except NOT_READABLE as error:
            self._give_up(error)
            return False
        return True

    def _execute(self, statement: str, patient_until_s: float) -> None:
        """Execute what another process may keep from being executed, again and again."""
        while True:
            try:
                self._connection.execute(statement)
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() >= min(patient_until_s, self._leave_at_s):
                    raise
            else:
                return

    def _give_up(self, error: Exception) -> None:
        """Keep the first problem; one that time will not cure ends all writing."""
        if self._connection.in_transaction:
            with suppress(*NOT_READABLE):
                self._connection.execute("ROLLBACK")
        self.is_writable = is_busy(error)
        if self.problem is None:
            what = (
                "is in use by another process, so part of this run may not be remembered"
                if self.is_writable
                else "cannot be written, so nothing more is remembered"
            )
            self.problem = f"{self._shown_path} {what}: {error}"
