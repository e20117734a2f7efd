"""The table of actions in the state file: one row for each, its record beside what it is selected by.

Source: SQLite's "Autoincrement" and "Partial Indexes". Each change is a transaction of its own, so that a process that
is killed leaves the row as it was before or as it is after. Does not keep what could not be written: that is `ledger`.
"""

import threading
from typing import Final

import msgspec

from gitdash.history import statements
from gitdash.history.reading import Reader
from gitdash.history.records import decode_entry, encode
from gitdash.history.writing import Writer
from gitdash.model.ledger import LedgerEntry, Outcome

MOST_ACTIONS: Final = 20_000
"""A fleet of 1,000 repositories that is fetched each day fills that in three weeks, with 60 MiB at 3 KiB each."""
LONGEST_KEPT_S: Final = 365 * 86_400.0


class ActionRows:
    """The rows, through the connections of an open state file."""

    def __init__(self, writer: Writer, reader: Reader, write_lock: threading.Lock) -> None:
        self._writer = writer
        self._reader = reader
        self._write_lock = write_lock
        """Whoever uses the writer holds it."""

    @property
    def is_writable(self) -> bool:
        """Whether a change may take effect, now or later."""
        return self._writer.is_writable

    def insert(self, entry: LedgerEntry) -> int | None:
        """Add a row, drop those that are too old or too many, and return the number; None if that took no effect."""
        with self._write_lock:
            is_written = self._writer.write(
                (statements.DROP_ACTIONS_BEFORE, [(entry.started_at_s - LONGEST_KEPT_S,)]),
                (statements.DROP_ACTIONS_BUT_LAST, [(MOST_ACTIONS - 1,)]),
                (statements.SAVE_ACTION, [_row(entry, None)]),
            )
            return self._writer.last_number() if is_written else None

    def replace(self, entry: LedgerEntry) -> bool:
        """Write a row under the number of the entry, and say whether that took effect."""
        with self._write_lock:
            return self._writer.write((statements.SAVE_ACTION, [_row(entry, entry.number)]))

    def end_running(self, entry: LedgerEntry) -> bool:
        """Replace a row if it still is that of a running action, and say whether it now reads as `entry`."""
        with self._write_lock:
            is_written = self._writer.write((statements.END_RUNNING_ACTION, [(encode(entry), entry.number)]))
        return is_written and self.one(entry.number) == entry

    def one(self, number: int) -> LedgerEntry | None:
        """Return one entry; None if there is none (that this version can read)."""
        found = self._select("WHERE number = ?", number)
        return found[0] if found else None

    def newest(self, path: bytes | None, limit: int) -> list[LedgerEntry]:
        """Return the last entries, of one repository or of all, the newest first."""
        if path is None:
            return self._select("ORDER BY number DESC LIMIT ?", limit)
        return self._select("WHERE path = ? ORDER BY number DESC LIMIT ?", path, limit)

    def running(self) -> list[LedgerEntry]:
        """Return the entries of actions that have not ended, the oldest first."""
        return self._select("WHERE is_running = 1 ORDER BY number")

    def _select(self, clauses: str, *parameters: bytes | str | int) -> list[LedgerEntry]:
        rows = self._reader.select(f"SELECT number, entry FROM actions {clauses}", parameters)  # noqa: S608 - from here
        decoded = ((number, decode_entry(data)) for number, data in rows)
        return [msgspec.structs.replace(entry, number=number) for number, entry in decoded if entry is not None]


def _row(entry: LedgerEntry, number: int | None) -> tuple[int | None, str, bytes, float, int, bytes]:
    is_running = int(entry.outcome is Outcome.RUNNING)
    return number, entry.run, entry.path, entry.started_at_s, is_running, encode(entry)
