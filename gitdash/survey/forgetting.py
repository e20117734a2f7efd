"""Forgets repositories that are gone for good because a person says so: their reports, sizes and loans.

What is there is never forgotten, but for a loan of which it can be read that it is over. What is there in part, or may
only be out of sight, as on a file system that is not mounted, is told apart, for its lender may be reclaimed after
that. What gitdash did to a repository stays in the ledger.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitdash.inspection.alternates import inspect_alternates
from gitdash.inspection.reading import Problems
from gitdash.maintenance.remembered_loans import folder_of, is_same_folder
from gitdash.model.repository import Unreadable
from gitdash.survey.patience import is_below_any
from gitdash.survey.sight import Sight
from gitdash.units import printable_path

if TYPE_CHECKING:
    from gitdash.history.store import History, Loan

_PARTS = (b"objects", b"HEAD", b".git")
"""A repository, with or without a work tree, has one of them at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """One repository of which something is remembered."""

    path: bytes
    is_there: bool
    """It is there now."""
    out_of_sight: str | None
    """Why it may not be gone though it is not to be seen, one clause; None if nothing says so. Printable."""
    is_in_part: bool
    """It is there, and what would say whether it still borrows is not."""
    loans: tuple["Loan", ...]
    """What it borrows, as far as that may be forgotten: of one that is there what it does not borrow any more."""

    @property
    def is_kept(self) -> bool:
        """Nothing of it may be forgotten."""
        return self.is_there and not self.loans

    @property
    def lenders(self) -> tuple[bytes, ...]:
        """Paths of the stores that it borrowed from, sorted."""
        return tuple(sorted({loan.store_path for loan in self.loans}))


def remembered_below(history: "History", folders: Collection[bytes]) -> list[Remembered]:
    """Return all at or below some folders of which something is remembered, sorted by path.

    Raises HistoryError if the state file is damaged.
    """
    loans: dict[bytes, list[Loan]] = {}
    for loan in history.loans.all():
        if is_below_any(loan.borrower, folders) or is_below_any(loan.alternates_path, folders):
            loans.setdefault(loan.borrower, []).append(loan)
    sight = Sight()
    paths = sorted({*loans, *(path for folder in folders for path in history.remembered(folder))})
    return [_remembered(path, loans.get(path, ()), sight) for path in paths]


def forget(history: "History", gone: Iterable[Remembered]) -> None:
    """Drop what is remembered of these, but of one that is there only loans that are over."""
    some = list(gone)
    history.forget(one.path for one in some if not one.is_there)
    history.loans.change(ended=[loan for one in some for loan in one.loans], new=[])


def _remembered(path: bytes, loans: "Iterable[Loan]", sight: Sight) -> Remembered:
    is_there = _is_there(path)
    return Remembered(
        path=path,
        is_there=is_there,
        is_in_part=is_there and not all(_is_there(folder_of(loan)) for loan in loans),
        out_of_sight=next(_obstacles(path, loans, sight), None),
        loans=tuple(sorted((loan for loan in loans if _may_be_forgotten(loan)), key=lambda loan: loan.alternates_path)),
    )


def _obstacles(path: bytes, loans: "Iterable[Loan]", sight: Sight) -> Iterator[str]:
    for folder in {path, *map(folder_of, loans)}:
        obstacle = None if _is_there(folder) else sight.obstacle(folder + b"/objects")
        if obstacle is not None:
            yield obstacle
    for loan in loans:
        folder = folder_of(loan)
        if not _is_there(folder):
            yield from _missing_part(path, loan, sight)
        elif _may_be_forgotten(loan) and not is_same_folder(loan):
            yield f"{printable_path(folder)} is another folder than was seen, and may hide that one"


def _missing_part(path: bytes, loan: "Loan", sight: Sight) -> Iterator[str]:
    folder = folder_of(loan)
    if folder != path and _is_there(path):
        yield f"{printable_path(path)} is there, and {printable_path(folder)} with its objects is not"
    elif loan.place is not None and not sight.is_on_device(folder, loan.place[0]):
        yield f"{printable_path(folder)} was on a file system that is not to be seen there now"


def _may_be_forgotten(loan: "Loan") -> bool:
    """Tell whether a borrower is not there, or is read and does not borrow from that store."""
    if not _is_there(folder_of(loan)):
        return True
    objects_dir = folder_of(loan) + b"/objects"
    if loan.alternates_path == objects_dir:
        return os.path.isdir(objects_dir) and not os.path.islink(objects_dir)
    found = inspect_alternates(objects_dir, Problems())
    if isinstance(found, Unreadable) or not os.path.isdir(objects_dir):
        return False
    if found is None:
        return True
    lenders = found.alternates
    return (
        found.incomplete is None
        and all(lender.exists for lender in lenders)
        and not any(lender.path == loan.store_path or (lender.device, lender.inode) == loan.store for lender in lenders)
    )


def _is_there(path: bytes) -> bool:
    return any(os.path.lexists(os.path.join(path, name)) for name in _PARTS)
