"""The experiments of the lab in the state file, and which strategy each repository's sizes are best obtained by.

Each change is a transaction of its own. What cannot be written
costs the memory, never the result: see `writing`. Does not judge whether a comparison still holds: callers name the
fingerprint that it has to have.
"""

import itertools
import threading
from typing import Final

import msgspec

from gitdash.history import statements
from gitdash.history.reading import Reader
from gitdash.history.records import decode_comparison, decode_experiment, encode
from gitdash.history.writing import Writer
from gitdash.model.experiment import ExperimentKind, ExperimentResult, StrategyComparison
from gitdash.model.sizes import Question

MOST_EXPERIMENTS: Final = 1_000
"""Of about 10 KiB each: eight variants of five runs."""


class Experiments:
    """The rows, through the connections of an open state file. All methods may be called from any thread.

    Those that read raise HistoryError if the file is damaged. The oldest experiments are dropped when there are more
    than 1,000.
    """

    def __init__(self, writer: Writer, reader: Reader, write_lock: threading.Lock) -> None:
        self._writer = writer
        self._reader = reader
        self._write_lock = write_lock
        """Whoever uses the writer holds it."""

    def save(self, result: ExperimentResult) -> ExperimentResult:
        """Remember a result, and return it with its number, which stays 0 if it could not be written."""
        row = (result.path, result.kind.value, encode(msgspec.structs.replace(result, number=0)))
        with self._write_lock:
            is_written = self._writer.write(
                (statements.DROP_EXPERIMENTS_BUT_LAST, [(MOST_EXPERIMENTS - 1,)]), (statements.SAVE_EXPERIMENT, [row])
            )
            number = self._writer.last_number() if is_written else 0
        return msgspec.structs.replace(result, number=number)

    def one(self, number: int) -> ExperimentResult | None:
        """Return the result with a number; None if there is none (that this version can read)."""
        found = self._select("WHERE number = ?", number)
        return found[0] if found else None

    def newest(
        self, path: bytes | None = None, kind: ExperimentKind | None = None, *, limit: int
    ) -> tuple[ExperimentResult, ...]:
        """Return the last results, of one repository or of all, of one kind or of all, the newest first."""
        conditions: list[tuple[str, bytes | str]] = []
        if path is not None:
            conditions.append(("path = ?", path))
        if kind is not None:
            conditions.append(("kind = ?", kind.value))
        where = "WHERE " + " AND ".join(text for text, _ in conditions) if conditions else ""
        parameters = [value for _, value in conditions]
        return tuple(self._select(f"{where} ORDER BY number DESC LIMIT ?", *parameters, limit))

    def before(self, result: ExperimentResult, *, limit: int) -> tuple[ExperimentResult, ...]:
        """Return the last results of the same repository, kind and question before this one, the newest first."""
        found = self.newest(result.path, result.kind, limit=MOST_EXPERIMENTS)
        earlier = (one for one in found if not result.number or one.number < result.number)
        return tuple(itertools.islice((one for one in earlier if one.question == result.question), limit))

    def comparison(self, path: bytes, question: Question, fingerprint: bytes) -> StrategyComparison | None:
        """Return the last comparison of strategies for a size if it was made under just this fingerprint; else None."""
        rows = self._reader.select(
            "SELECT fingerprint, comparison FROM comparisons WHERE path = ? AND question = ?", (path, question.value)
        )
        return decode_comparison(rows[0][1]) if rows and rows[0][0] == fingerprint else None

    def save_comparison(self, path: bytes, comparison: StrategyComparison, *, fingerprint: bytes) -> None:
        """Remember a comparison, in place of an older one of the same size."""
        row = (path, comparison.question.value, fingerprint, encode(comparison))
        with self._write_lock:
            self._writer.write((statements.SAVE_COMPARISON, [row]))

    def _select(self, clauses: str, *parameters: bytes | str | int) -> list[ExperimentResult]:
        rows = self._reader.select(f"SELECT number, result FROM experiments {clauses}", parameters)  # noqa: S608 - from here
        decoded = ((number, decode_experiment(data)) for number, data in rows)
        return [msgspec.structs.replace(result, number=number) for number, result in decoded if result is not None]
