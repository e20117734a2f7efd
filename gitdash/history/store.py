"""What gitdash remembers between runs: the last report of each repository, sizes, loans, preferences, and what it did.

Source: SQLite's "Write-Ahead Logging" and "Result and Error Codes". Whatever goes wrong while writing costs the
memory, never the run: it is said once, in `History.problem`. Does not judge whether what it remembers is still true:
callers compare fingerprints.
"""

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from gitdash import __version__
from gitdash.history import statements
from gitdash.history.action_rows import ActionRows
from gitdash.history.experiments import Experiments
from gitdash.history.ledger import Ledger
from gitdash.history.loan_rows import LoanRows
from gitdash.history.reading import Reader
from gitdash.history.records import (
    KnownInspection,
    Loan,
    StoredSize,
    decode_measurement,
    decode_report,
    decode_summary,
    encode,
    pack_ids,
    pack_names,
    unpack_ids,
    unpack_names,
)
from gitdash.history.schema import Connections, HistoryError, connect
from gitdash.history.searched_rows import SearchedRows
from gitdash.history.writing import Row, Writer
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.sizes import Question, SizeMeasurement
from gitdash.model.summary import RepositorySummary
from gitdash.units import printable

__all__ = ["History", "HistoryError", "KnownInspection", "Loan", "StoredSize", "open_history"]

_BATCH_COUNT: Final = 256
"""Rows of one transaction: a few milliseconds, and other processes wait no longer than that."""
_BATCH_AGE_S: Final = 1.0
"""The most that a killed run forgets."""
_RETRY_AGE_S: Final = 10.0
"""After another process kept the file for longer than we wait."""
_WAITING_MAXIMUM_COUNT: Final = 4_096
"""Rows that are kept while another process has the file; more are given up."""

_BELOW: Final = "(path = ? OR (path >= ? AND path < ?) OR root = ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """Which of the repositories below the roots are selected."""

    tables: str = "repositories"
    condition: str = "TRUE"
    parameters: tuple[bytes | str, ...] = ()
    """Of the condition."""
    limit: int = -1
    """At most so many; -1 for all."""


def open_history(path: str) -> "History":
    """Open or make the state file at `path`.

    Raises HistoryError, and leaves the file as it is, if it is from a newer gitdash, another program's, damaged or
    unreadable. A place that cannot be written is no error: `History.problem` says that nothing is remembered.
    """
    return History(connect(path), printable(path))


class History:
    """An open state file. All methods may be called from any thread.

    Those that read raise HistoryError if the file is damaged; those that write never do, see `problem`. Reports are
    written in batches: call `flush` when a survey ends.
    """

    def __init__(self, connections: Connections, shown_path: str) -> None:
        self._writer = Writer(connections.writer, shown_path, connections.problem)
        self._reader = Reader(connections.reader, shown_path)
        self._write_lock = threading.Lock()
        self.ledger = Ledger(ActionRows(self._writer, self._reader, self._write_lock))
        """What gitdash did; `forget` takes nothing from it."""
        self.experiments = Experiments(self._writer, self._reader, self._write_lock)
        """What was measured; `forget` takes only what is chosen by it."""
        self.loans = LoanRows(self._writer, self._reader, self._write_lock, shown_path)
        """Who borrows from whom, below whatever roots; `forget` takes nothing from it."""
        self.searched = SearchedRows(self._writer, self._reader, self._write_lock, shown_path)
        """Below which folders it was looked for borrowers, and who was given up; `forget` takes nothing from it."""
        self._waiting: dict[bytes, tuple[Row, bytes]] = {}
        """Rows of `repositories` and the report of each, by path."""
        self._due_s = 0.0
        """When what waits is to be written, on the monotonic clock."""
        self._is_blocked = False
        """Another process had the file the last time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def problem(self) -> str | None:
        """Why something could not be remembered, for people; None if all is well. The first problem stays."""
        return self._writer.problem

    def hurry(self) -> None:
        """Wait no longer for other processes: somebody waits for the end. Does not wait itself."""
        self._writer.hurry()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.flush()
        self.ledger.flush()
        with self._write_lock:
            self._reader.close()
            self._writer.close()

    def inspections(self, roots: Sequence[bytes], *, after: bytes, limit: int) -> dict[bytes, KnownInspection]:
        """Return by path what this version of gitdash inspected below the roots or found below them, reports included.

        At most `limit` of them, those with the lowest paths above `after`: 2,000 take 10 ms, and 60 ms if each is
        selected alone.
        """
        self.flush()
        rows = self._below(
            "path, fingerprint, valid_until_s, report",
            roots,
            _Page(
                tables="repositories JOIN reports USING (path)",
                condition="gitdash_version = ? AND fingerprint IS NOT NULL AND path > ?",
                parameters=(__version__, after),
                limit=limit,
            ),
        )
        return {
            path: KnownInspection(fingerprint=fingerprint, valid_until_s=valid_until_s, report=report)
            for path, fingerprint, valid_until_s, report in rows
        }

    def summaries(self, roots: Sequence[bytes]) -> list[RepositorySummary]:
        """Return the last row of each repository that lies below the roots or was found below them, by path."""
        self.flush()
        decoded = [decode_summary(row[0]) for row in self._below("summary", roots)]
        return [summary for summary in decoded if summary is not None]

    def paths(self, roots: Sequence[bytes]) -> list[bytes]:
        """Return the paths of the repositories that lie below the roots or were found below them, sorted."""
        self.flush()
        return [row[0] for row in self._below("path", roots)]

    def report(self, path: bytes) -> RepositoryReport | None:
        """Return the last report of a repository; None if there is none (that this version can read)."""
        data = self._report_data(path)
        return None if data is None else decode_report(data)

    def save_report(self, report: RepositoryReport, summary: RepositorySummary) -> None:
        """Remember a report and its row."""
        if not self._writer.is_writable:
            return
        path = report.repository.path
        inspection = report.inspection if isinstance(report.inspection, Inspection) else None
        row = (
            path,
            report.repository.root,
            __version__,
            inspection.fingerprint if inspection else None,
            inspection.valid_until_s if inspection else None,
            encode(summary),
        )
        data = encode(report)
        with self._write_lock:
            now_s = time.monotonic()
            if not self._waiting:
                self._due_s = now_s + _BATCH_AGE_S
            if len(self._waiting) < _WAITING_MAXIMUM_COUNT:
                self._waiting[path] = (row, data)
            is_due = now_s >= self._due_s or (len(self._waiting) >= _BATCH_COUNT and not self._is_blocked)
        if is_due:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        with self._write_lock:
            if not self._waiting:
                return
            rows = [row for row, _ in self._waiting.values()]
            reports = [(row[0], report) for row, report in self._waiting.values()]
            written = self._writer.write((statements.SAVE_REPOSITORY, rows), (statements.SAVE_REPORT, reports))
            self._is_blocked = not written and self._writer.is_writable
            if self._is_blocked:
                self._due_s = time.monotonic() + _RETRY_AGE_S
            else:
                self._waiting.clear()

    def remembered(self, folder: bytes) -> set[bytes]:
        """Return the repositories at or below a folder of which there is a report or a size."""
        self.flush()
        path, first, end, _ = _range_below(folder)
        tables = ("repositories", "sizes", "comparisons")
        rows = self._reader.select(
            " UNION ".join(f"SELECT path FROM {table} WHERE path = ? OR (path >= ? AND path < ?)" for table in tables),  # noqa: S608 - no outside text
            (path, first, end) * len(tables),
        )
        return {row[0] for row in rows}

    def forget(self, paths: Iterable[bytes]) -> None:
        """Drop repositories that are gone, and their sizes.

        What they borrowed stays: whoever does not see a borrower cannot know that it needs nothing any more.
        """
        gone = [(path,) for path in paths]
        with self._write_lock:
            for (path,) in gone:
                self._waiting.pop(path, None)
            self._writer.write(
                ("DELETE FROM repositories WHERE path = ?", gone),
                ("DELETE FROM sizes WHERE path = ?", gone),
                ("DELETE FROM comparisons WHERE path = ?", gone),
            )

    def last_size(self, path: bytes, question: Question, excluded_references: Sequence[str] = ()) -> StoredSize | None:
        """Return the last measurement of a question, whatever has changed since; None if there is none."""
        rows = self._reader.select(
            "SELECT fingerprint, measurement, tips, pack_names FROM sizes"
            " WHERE path = ? AND question = ? AND excluded_references = ?",
            (path, question.value, pack_names(sorted(excluded_references))),
        )
        measurement = decode_measurement(rows[0][1]) if rows else None
        if measurement is None:
            return None
        fingerprint, _, tips, names = rows[0]
        try:
            return StoredSize(
                measurement=measurement, fingerprint=fingerprint, tips=unpack_ids(tips), pack_names=unpack_names(names)
            )
        except ValueError:
            return None

    def save_size(
        self,
        path: bytes,
        measurement: SizeMeasurement,
        *,
        fingerprint: bytes,
        tips: Sequence[str] = (),
        packs: Sequence[str] = (),
    ) -> None:
        """Remember a measurement with the object ids it started from and the packs that were there."""
        row = (
            path,
            measurement.question.value,
            pack_names(sorted(measurement.excluded_references)),
            fingerprint,
            encode(measurement),
            pack_ids(tips),
            pack_names(packs),
        )
        with self._write_lock:
            self._writer.write((statements.SAVE_SIZE, [row]))

    def preference(self, name: str) -> bytes | None:
        """Return what a front end remembered under a name; None if nothing."""
        return self._value("SELECT value FROM preferences WHERE name = ?", name)

    def save_preference(self, name: str, value: bytes) -> None:
        """Remember a value under a name, in place of an older one."""
        with self._write_lock:
            self._writer.write((statements.SAVE_PREFERENCE, [(name, value)]))

    def _report_data(self, path: bytes) -> bytes | None:
        with self._write_lock:
            waiting = self._waiting.get(path)
        if waiting is not None:
            return waiting[1]
        return self._value("SELECT report FROM reports WHERE path = ?", path)

    def _value(self, statement: str, key: bytes | str) -> bytes | None:
        rows = self._reader.select(statement, (key,))
        value: bytes | None = rows[0][0] if rows else None
        return value

    def _below(self, columns: str, roots: Sequence[bytes], page: "_Page | None" = None) -> list[tuple[Any, ...]]:
        """Select columns of the repositories below the roots, in the order of paths."""
        if not roots:
            return []
        page = page or _Page()
        condition = " OR ".join([_BELOW] * len(roots))
        parameters = [*page.parameters, *(value for root in roots for value in _range_below(root)), page.limit]
        statement = (
            f"SELECT {columns} FROM {page.tables} WHERE {page.condition} AND ({condition}) ORDER BY path LIMIT ?"  # noqa: S608 - no outside text
        )
        return self._reader.select(statement, parameters)


def _range_below(root: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Return the parameters of `_BELOW`: the folder itself, and the range of paths that start with it and a slash."""
    folder = root.rstrip(b"/")
    return root, folder + b"/", folder + b"0", root
