"""The rows of loans: who borrows from whom, as it was last seen.

A row stays until somebody says that it is over: no other rows of a repository take it along. What the columns mean,
`records.Loan` says; what ends a loan, `survey.loans`.
"""

import threading
from collections.abc import Iterable, Sequence

from gitdash.history import statements
from gitdash.history.reading import Reader
from gitdash.history.records import Loan, pack_store, unpack_store
from gitdash.history.schema import damaged
from gitdash.history.writing import Writer


class LoanRows:
    """The loans in an open state file; for any thread. Those that read raise HistoryError if the file is damaged."""

    def __init__(self, writer: Writer, reader: Reader, write_lock: threading.Lock, shown_path: str) -> None:
        self._writer = writer
        self._reader = reader
        self._write_lock = write_lock
        self._shown_path = shown_path

    def all(self) -> set[Loan]:
        """Return every loan."""
        return self._select("TRUE", ())

    def of_store(self, store: tuple[int, int], store_path: bytes) -> set[Loan]:
        """Return the loans from one store, by its device and inode and by its path then."""
        return self._select("store = ? AND store_path = ?", (pack_store(store), store_path))

    def stores(self) -> set[tuple[tuple[int, int], bytes]]:
        """Return all stores that lend: device and inode, and path of each, as they were."""
        rows = self._reader.select("SELECT DISTINCT store, store_path FROM loans", ())
        try:
            return {(unpack_store(store), store_path) for store, store_path in rows}
        except ValueError as error:
            raise damaged(self._shown_path, error) from error

    def change(self, *, ended: Iterable[Loan], new: Iterable[Loan]) -> None:
        """Forget loans, and remember others."""
        ended_rows = [(loan.alternates_path, pack_store(loan.store), _packed_place(loan)) for loan in ended]
        new_rows = [
            (
                loan.alternates_path,
                pack_store(loan.store),
                loan.store_path,
                loan.borrower,
                _packed_place(loan),
            )
            for loan in new
        ]
        with self._write_lock:
            self._writer.write((statements.END_LOAN, ended_rows), (statements.SAVE_LOAN, new_rows))

    def _select(self, condition: str, parameters: Sequence[bytes]) -> set[Loan]:
        rows = self._reader.select(
            f"SELECT alternates, store, store_path, borrower, place FROM loans WHERE {condition}",  # noqa: S608 - no outside text
            parameters,
        )
        try:
            return {
                Loan(
                    alternates_path=alternates,
                    store=unpack_store(store),
                    store_path=store_path,
                    borrower=borrower,
                    place=unpack_store(place) if place else None,
                )
                for alternates, store, store_path, borrower, place in rows
            }
        except ValueError as error:
            # a borrower that is left out would be one that a gc in its lender may break
            raise damaged(self._shown_path, error) from error


def _packed_place(loan: Loan) -> bytes:
    return b"" if loan.place is None else pack_store(loan.place)
