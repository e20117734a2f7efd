"""Who borrows from whom beyond one survey: a lender holds no list of its borrowers, and a scan of it alone sees none.

Each survey leaves what it saw in the state file. What it covers replaces what was known; what it does not cover stays
known as long as the borrower still has its alternates file, and the lender is still the folder that it was: inodes are
given out again.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from gitdash.discovery.pools import StoreIdentity
from gitdash.model.inspection import AlternatesFacts, Inspection
from gitdash.model.repository import Unreadable
from gitdash.survey.judging import Inspected
from gitdash.survey.patience import is_below_any

if TYPE_CHECKING:
    from gitdash.history.store import History, Loan


class Loans:
    """The loans that the state file knows, and those that a survey sees."""

    def __init__(self, history: "History | None", inspected: Iterable[Inspected], silent: Sequence[bytes] = ()) -> None:
        """Take what was inspected; a repository whose alternates could not be read is not covered.

        Nothing is looked at below the folders in `silent`, nor in what was unreadable: a loan there stands.
        """
        everything = list(inspected)
        self._history = history
        self._unread = (
            *silent,
            *(one.repository.common_dir for one in everything if isinstance(one.inspection, Unreadable)),
        )
        self._inspected = [(one, one.inspection) for one in everything if isinstance(one.inspection, Inspection)]
        self._covered = {
            _alternates_path(one)
            for one, inspection in self._inspected
            if not isinstance(inspection.alternates, Unreadable)
        }
        self._known: set[Loan] = history.loans() if history is not None else set()

    def other_borrowers(self) -> dict[StoreIdentity, list[bytes]]:
        """Return by object store the borrowers that an earlier survey saw, and that were not inspected now."""
        stores = {
            (inspection.object_store.device, inspection.object_store.inode)
            for _, inspection in self._inspected
            if not isinstance(inspection.object_store, Unreadable)
        }
        borrowers: dict[StoreIdentity, list[bytes]] = {}
        for loan in self._known:
            if loan.store in stores and loan.alternates_path not in self._covered and self._stands(loan):
                borrowers.setdefault(loan.store, []).append(loan.borrower)
        return borrowers

    def _stands(self, loan: "Loan") -> bool:
        return is_below_any(loan.alternates_path, self._unread) or _still_stands(loan)

    def remember(self, keeper: Callable[[bytes], bytes]) -> None:
        """Bring the state file up to date; `keeper` says which repository stands for an object store."""
        if self._history is None:
            return
        seen = self._seen(keeper)
        covered = {loan for loan in self._known if loan.alternates_path in self._covered}
        if covered != seen:
            self._history.change_loans(ended=covered - seen, new=seen - covered)

    def _seen(self, keeper: Callable[[bytes], bytes]) -> "set[Loan]":
        members = [
            (one, inspection, inspection.alternates)
            for one, inspection in self._inspected
            if isinstance(inspection.alternates, AlternatesFacts)
        ]
        if not members:
            return set()
        from gitdash.history.store import Loan

        return {
            Loan(
                borrower=keeper(one.repository.path),
                alternates_path=_alternates_path(one),
                store_path=alternate.path,
                store=(alternate.device, alternate.inode),
            )
            for one, inspection, alternates in members
            for alternate in alternates.alternates
            if alternate.device is not None and alternate.inode is not None
        }


def _alternates_path(one: Inspected) -> bytes:
    return one.repository.common_dir + b"/objects/info/alternates"


def _still_stands(loan: "Loan") -> bool:
    try:
        found = os.stat(loan.store_path)
    except (OSError, ValueError):
        return False
    return (found.st_dev, found.st_ino) == loan.store and os.path.lexists(loan.alternates_path)
