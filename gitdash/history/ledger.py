"""The ledger: what was done to which repository, when, how, and how it ended; one entry for each action.

An entry is written before its action begins
and again when it ends, each in a transaction of its own: after a SIGKILL the file says what was under way. What cannot
be written, because there is no state file, its disk is full or another process has it, is kept here, tried again with
each later entry, and lost with the process. Does not decide whether an action is alive: see `cut_off`.
"""

import threading
from collections.abc import Iterable

import msgspec

from gitdash.history.action_rows import LONGEST_KEPT_S, MOST_ACTIONS, ActionRows
from gitdash.model.ledger import LedgerEntry, Outcome, RecordedCommand

_LISTED_MAXIMUM_COUNT = 1_000
"""References, removed files and dropped objects of one entry: what a remote sends must not fill the state file."""
_STDERR_MAXIMUM_LENGTH = 4_096


class Ledger:
    """The entries. All methods may be called from any thread; those that read raise HistoryError for a damaged file.

    At most 20,000 entries are kept, none older than a year: the rest is dropped when a new one begins.
    """

    def __init__(self, rows: ActionRows | None) -> None:
        self._rows = rows
        """None without a state file."""
        self._lock = threading.Lock()
        self._kept: dict[int, LedgerEntry] = {}
        """What is not in the state file, or not as it is here, by number; numbers that the file did not give are
        negative."""
        self._numbers: dict[int, int] = {}
        """Numbers in the file of entries that came there late, by the negative number that their actions know."""
        self._last_number = 0

    def begin(self, entry: LedgerEntry) -> LedgerEntry:
        """Write a new entry, and return it with its number."""
        entry = _bounded(entry)
        with self._lock:
            self._write_kept()
            number = self._insert(entry)
            if number is None:
                self._drop_kept(entry.started_at_s)
                self._last_number -= 1
                number = self._last_number
                self._kept[number] = msgspec.structs.replace(entry, number=number)
        return msgspec.structs.replace(entry, number=number)

    def put(self, entry: LedgerEntry) -> None:
        """Write an entry in place of the one with its number."""
        with self._lock:
            number = self._numbers.get(entry.number, entry.number)
            self._kept[number] = msgspec.structs.replace(_bounded(entry), number=number)
            self._write_kept()

    def end_running(self, entry: LedgerEntry) -> bool:
        """Write an entry where the state file has its action as running, and say whether it stands there now.

        That is for actions of other processes, which may have written their own end meanwhile: it stays.
        """
        return self._rows is not None and self._rows.end_running(_bounded(entry))

    @property
    def unwritten_count(self) -> int:
        """How many entries are not in the state file, or not as they are here."""
        with self._lock:
            return len(self._kept)

    def flush(self) -> None:
        """Write what could not be written so far."""
        with self._lock:
            self._write_kept()

    def entry(self, number: int) -> LedgerEntry | None:
        """Return one entry; None if there is none (that this version can read)."""
        with self._lock:
            number = self._numbers.get(number, number)
            kept = self._kept.get(number)
        if kept is not None or self._rows is None:
            return kept
        return self._rows.one(number)

    def entries(self, path: bytes | None = None, *, limit: int = 200) -> tuple[LedgerEntry, ...]:
        """Return the last entries, of one repository or of all, the newest first."""
        found = self._rows.newest(path, limit) if self._rows is not None else []
        merged = [entry for entry in self._merged(found) if path is None or entry.path == path]
        return tuple(reversed(merged))[:limit]

    def open_entries(self) -> tuple[LedgerEntry, ...]:
        """Return the entries of actions that run, or were cut off, in the order in which they began."""
        found = self._rows.running() if self._rows is not None else []
        by_number = self._newest_form(found)
        return _in_order(entry for entry in by_number.values() if entry.outcome is Outcome.RUNNING)

    def _merged(self, found: list[LedgerEntry]) -> tuple[LedgerEntry, ...]:
        """Return entries of the file together with those that are newer here, the oldest first."""
        return _in_order(self._newest_form(found).values())

    def _newest_form(self, found: list[LedgerEntry]) -> dict[int, LedgerEntry]:
        with self._lock:
            return {entry.number: entry for entry in found} | self._kept

    def _insert(self, entry: LedgerEntry) -> int | None:
        return None if self._rows is None else self._rows.insert(msgspec.structs.replace(entry, number=0))

    def _write_kept(self) -> None:
        """Write what is kept until the first that cannot be: each may wait for another process."""
        if self._rows is None:
            return
        for number, entry in list(self._kept.items()):
            if not self._rows.is_writable:
                return
            if number < 0:
                given = self._insert(entry)
                if given is None:
                    return
                self._numbers[number] = given
            elif not self._rows.replace(entry):
                return
            del self._kept[number]

    def _drop_kept(self, now_s: float) -> None:
        """Keep the bounds of the file here, too; the dictionary is in the order of beginning."""
        while self._kept:
            oldest = next(iter(self._kept))
            if len(self._kept) < MOST_ACTIONS and self._kept[oldest].started_at_s >= now_s - LONGEST_KEPT_S:
                return
            del self._kept[oldest]


def _in_order(entries: Iterable[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: (entry.started_at_s, abs(entry.number))))


def memory_ledger() -> Ledger:
    """Return a ledger that ends with the process: there is no state file."""
    return Ledger(None)


def _bounded(entry: LedgerEntry) -> LedgerEntry:
    return msgspec.structs.replace(
        entry,
        reference_changes=entry.reference_changes[:_LISTED_MAXIMUM_COUNT],
        removed=entry.removed[:_LISTED_MAXIMUM_COUNT],
        dropped_ids=entry.dropped_ids[:_LISTED_MAXIMUM_COUNT],
        commands=tuple(map(_bounded_command, entry.commands)),
    )


def _bounded_command(command: RecordedCommand) -> RecordedCommand:
    if len(command.stderr) <= _STDERR_MAXIMUM_LENGTH:
        return command
    return msgspec.structs.replace(command, stderr=command.stderr[-_STDERR_MAXIMUM_LENGTH:])
