"""Forgets repositories that are gone for good because a person says so: their reports, sizes and loans.

What is there is never forgotten, but for a loan of which it can be read that it is over, and for what one may borrow of
which a part is missing that would say so: it is given up, until a scan finds that part. What is there in part, or may
only be out of sight, as on a file system that is not mounted, is told apart, for its lender may be reclaimed after
that. What gitdash did to a repository stays in the ledger.
"""

import os
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitdash.inspection.alternates import inspect_alternates
from gitdash.inspection.reading import Problems
from gitdash.maintenance.lost_parts import lost_folders, lost_part
from gitdash.maintenance.remembered_loans import folder_of, is_same_folder
from gitdash.model.repository import Unreadable
from gitdash.survey.patience import is_below_any
from gitdash.survey.sight import Sight
from gitdash.units import printable_path

if TYPE_CHECKING:
    from gitdash.history.records import GivenUp
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
    lost: tuple["GivenUp", ...] = ()
    """Git directories that are there without what would say what they borrow, and nobody has given up."""

    @property
    def is_kept(self) -> bool:
        """Nothing of it may be forgotten."""
        return self.is_there and not self.loans and not self.lost

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
    sight, given_up = Sight(), history.searched.given_up()
    known = {*loans, *(path for folder in folders for path in history.remembered(folder))}
    # one that no survey has found keeps others from being reclaimed, too
    named = {folder for folder in folders if any(lost_folders(folder))} - {os.path.realpath(path) for path in known}
    return [_remembered(path, loans.get(path, ()), sight, given_up) for path in sorted(known | named)]


def forget(history: "History", gone: Iterable[Remembered]) -> None:
    """Drop what is remembered of these, but of one that is there only loans that are over, and what it may borrow."""
    some = list(gone)
    history.searched.give_up(git_dir for one in some for git_dir in one.lost)
    history.forget(one.path for one in some if not one.is_there)
    history.loans.change(ended=[loan for one in some for loan in one.loans], new=[])


def take_back_given_up(history: "History | None", roots: Sequence[bytes], silent: Sequence[bytes]) -> None:
    """End what a person said of git directories below some roots that have again what was missing."""
    if history is None:
        return
    real_roots = None
    found = []
    for one in history.searched.given_up():
        real_roots = real_roots or list(map(os.path.realpath, roots))
        is_silent = is_below_any(one.git_dir, silent) or any(is_below_any(folder, (one.git_dir,)) for folder in silent)
        if is_below_any(one.git_dir, real_roots) and not is_silent and _is_whole(one.git_dir):
            found.append(one)
    if found:
        history.searched.take_back(found)


def _is_whole(git_dir: bytes) -> bool:
    try:
        return os.path.lexists(git_dir + b"/HEAD") and lost_part(git_dir) is None
    except OSError:
        return False


def _remembered(path: bytes, loans: "Iterable[Loan]", sight: Sight, given_up: "Container[GivenUp]") -> Remembered:
    is_there = _is_there(path)
    lost = [(git_dir, missing) for git_dir, missing in lost_folders(path) if git_dir not in given_up]
    return Remembered(
        path=path,
        is_there=is_there,
        is_in_part=is_there and (bool(lost) or not all(_is_there(folder_of(loan)) for loan in loans)),
        out_of_sight=next((missing for _, missing in lost), None) or next(_obstacles(path, loans, sight), None),
        lost=tuple(git_dir for git_dir, _ in lost),
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
