"""Who borrows from whom beyond one survey: a lender holds no list of its borrowers, and a scan of it alone sees none.

Whatever looks at a repository leaves what it saw in the state file. Only what was seen ends a loan: the borrower was
read, all its lenders are there, this store is not among them, and its folder is the very one that was seen before. A
borrower that is not seen may be away for the moment, also while another is in its place, and its loan is kept; `gitdash
forget` ends it. It counts as a borrower as long as it still has its alternates file, and the lender is still the folder
that it was: inodes are given out again. A repository whose `objects` is a link to another's borrows all that it has.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from gitdash.discovery.pools import StoreIdentity
from gitdash.inspection.alternates import stores_behind_link
from gitdash.maintenance.remembered_loans import is_same_folder, place_of_loan
from gitdash.model.inspection import AlternatesFacts, Inspection, ObjectStore
from gitdash.model.repository import Unreadable
from gitdash.survey.judging import Inspected
from gitdash.survey.patience import is_below_any
from gitdash.survey.sight import Sight

if TYPE_CHECKING:
    from gitdash.history.store import History, Loan

_PLACES_MAXIMUM: Final = 8
"""So many folders that were a borrower at one path are known: each clone that replaces another is one more."""


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
        self._settled = {
            path
            for one, inspection in self._inspected
            if _has_all_lenders(inspection)
            for path in (_alternates_path(one), _objects_path(one))
        }
        self._known: set[Loan] = history.loans.all() if history is not None else set()

    def other_borrowers(self) -> dict[StoreIdentity, list[bytes]]:
        """Return by object store the borrowers that an earlier survey saw, and that were not inspected now."""
        stores = {
            (inspection.object_store.device, inspection.object_store.inode)
            for _, inspection in self._inspected
            if not isinstance(inspection.object_store, Unreadable)
        }
        borrowers: dict[StoreIdentity, set[bytes]] = {}
        standing = _Standing()
        for loan in self._known:
            if loan.store not in stores or loan.alternates_path in self._covered:
                continue
            if is_below_any(loan.alternates_path, self._unread) or standing.stands(loan):
                borrowers.setdefault(loan.store, set()).add(loan.borrower)
        return {store: sorted(found) for store, found in borrowers.items()}

    def remember(self, keeper: Callable[[bytes], bytes]) -> None:
        """Bring the state file up to date; `keeper` says which repository stands for an object store."""
        if self._history is None:
            return
        seen = self._seen(keeper)
        still = {(loan.alternates_path, loan.store) for loan in seen}
        ended = {
            loan
            for loan in self._known
            if loan.alternates_path in self._settled
            and (loan.alternates_path, loan.store) not in still
            and is_same_folder(loan)
        }
        ended |= _superseded(seen, self._known)
        if ended or not seen <= self._known:
            self._history.loans.change(ended=ended, new=seen - self._known)

    def add(self, keeper: Callable[[bytes], bytes]) -> None:
        """Write down what is new, and end nothing; `keeper` says which repository stands for an object store."""
        if self._history is not None and (new := self._seen(keeper) - self._known):
            self._history.loans.change(ended=(), new=new)

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
            Loan(
                borrower=_borrower(one, by, keeper),
                alternates_path=by,
                store_path=path,
                store=store,
                place=place_of_loan(by),
            )
            for one, by, path, store in found
        }


def _superseded(seen: "set[Loan]", known: "set[Loan]") -> "set[Loan]":
    """Return what need not be known any more beside what was seen of the same borrower and lender.

    That is the loan of which nobody knew the folder, and, where clones come and go all day, those of the folders
    that were there before on that file system, if there are many.
    """
    by_loan: dict[tuple[bytes, StoreIdentity], list[Loan]] = {}
    for loan in known - seen:
        by_loan.setdefault((loan.alternates_path, loan.store), []).append(loan)
    superseded: set[Loan] = set()
    for loan in seen:
        former = by_loan.get((loan.alternates_path, loan.store), ())
        is_crowded = len(former) >= _PLACES_MAXIMUM
        superseded |= {one for one in former if one.place is None or (is_crowded and _has_device(one, loan.place))}
    return superseded


def _has_device(loan: "Loan", place: StoreIdentity | None) -> bool:
    return loan.place is not None and place is not None and loan.place[0] == place[0]


def _borrower(one: Inspected, by: bytes, keeper: Callable[[bytes], bytes]) -> bytes:
    """Return who borrows: for a store that a link leads to stands its lender, and not the one that has the link."""
    has_link = by == _objects_path(one) and one.repository.has_own_store
    return one.repository.path if has_link else keeper(one.repository.path)


def _borrowed(one: Inspected, inspection: Inspection) -> Iterator[tuple[bytes, bytes, StoreIdentity]]:
    """Yield what leads to each lender, the path of its objects, and what tells that folder from others."""
    if inspection.alternates is None:
        return
    is_read = isinstance(inspection.alternates, AlternatesFacts)
    lenders = inspection.alternate_stores if is_read else stores_behind_link(_objects_path(one))
    for lender in lenders:
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


def _has_all_lenders(inspection: Inspection) -> bool:
    """Tell whether it is known from whom a repository borrows; a lender that is away is one all the same."""
    alternates = inspection.alternates
    if isinstance(inspection.object_store, Unreadable) or isinstance(alternates, Unreadable):
        return False
    return alternates is None or (
        alternates.incomplete is None and all(lender.exists for lender in alternates.alternates)
    )


def _identity(path: bytes) -> StoreIdentity | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


class _Standing:
    """Tells whether borrowers still borrow; what may only be out of sight now counts as there."""

    def __init__(self) -> None:
        self._sight = Sight()
        self._identity = cache(_identity)

    def stands(self, loan: "Loan") -> bool:
        """Look at the lender's store, and at the borrower's alternates file."""
        store = self._identity(loan.store_path)
        if store != loan.store and (store is not None or not self._sight.is_out_of_sight(loan.store_path)):
            return False
        return os.path.lexists(loan.alternates_path) or self._sight.is_out_of_sight(loan.alternates_path)
