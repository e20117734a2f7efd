"""Who borrows from whom beyond one survey: a lender holds no list of its borrowers, and a scan of it alone sees none.

Whatever looks at a repository leaves what it saw in the state file. What a survey covers replaces what was known; what
it does not cover stays known as long as the borrower still has its alternates file, and the lender is still the folder
that it was: inodes are given out again. A repository whose `objects` is a link to another's borrows all that it has.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gitdash.discovery.pools import StoreIdentity
from gitdash.model.inspection import AlternatesFacts, Inspection, ObjectStore
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
            path
            for one, inspection in self._inspected
            if not isinstance(inspection.alternates, Unreadable)
            for path in (_alternates_path(one), _objects_path(one))
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

    def add(self, keeper: Callable[[bytes], bytes]) -> None:
        """Write down what is new, and end nothing; `keeper` says which repository stands for an object store."""
        if self._history is not None and (new := self._seen(keeper) - self._known):
            self._history.change_loans(ended=(), new=new)

    def _seen(self, keeper: Callable[[bytes], bytes]) -> "set[Loan]":
        found = [
            (one, *loan)
            for one, inspection in self._inspected
            for loan in (*_borrowed(one, inspection), *_linked(one, inspection))
        ]
        if not found:
            return set()
        from gitdash.history.store import Loan

        return {
            Loan(borrower=_borrower(one, by, keeper), alternates_path=by, store_path=path, store=store)
            for one, by, path, store in found
        }


def _borrower(one: Inspected, by: bytes, keeper: Callable[[bytes], bytes]) -> bytes:
    """Return who borrows: for a store that a link leads to stands its lender, and not the one that has the link."""
    has_link = by == _objects_path(one) and one.repository.has_own_store
    return one.repository.path if has_link else keeper(one.repository.path)


def _borrowed(one: Inspected, inspection: Inspection) -> Iterator[tuple[bytes, bytes, StoreIdentity]]:
    """Yield what leads to each lender, the path of its objects, and what tells that folder from others."""
    if isinstance(inspection.alternates, AlternatesFacts):
        for lender in inspection.alternates.alternates:
            if lender.device is not None and lender.inode is not None:
                yield _alternates_path(one), lender.path, (lender.device, lender.inode)


def _linked(one: Inspected, inspection: Inspection) -> Iterator[tuple[bytes, bytes, StoreIdentity]]:
    """Yield the same of a store that a link leads to."""
    store, place = inspection.object_store, _objects_path(one)
    if isinstance(store, ObjectStore) and store.path != place and os.path.islink(place):
        yield place, store.path, (store.device, store.inode)


def _objects_path(one: Inspected) -> bytes:
    return one.repository.common_dir + b"/objects"


def _alternates_path(one: Inspected) -> bytes:
    return _objects_path(one) + b"/info/alternates"


def _still_stands(loan: "Loan") -> bool:
    """Tell whether a borrower still borrows; what may only be out of sight now counts as there."""
    try:
        found = os.stat(loan.store_path)
    except (OSError, ValueError):
        if not _is_out_of_sight(loan.store_path):
            return False
    else:
        if (found.st_dev, found.st_ino) != loan.store:
            return False
    return os.path.lexists(loan.alternates_path) or _is_out_of_sight(loan.alternates_path)


def _is_out_of_sight(path: bytes) -> bool:
    """Tell whether a file system may be missing on the way: what is left of the way ends in an empty folder.

    A mount point is one while nothing is mounted there. Who has removed a repository for good removes that, too.
    """
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        with os.scandir(folder) as entries:
            return next(iter(entries), None) is None
    except OSError:
        return True
