"""Who borrowed from a repository when it was last seen, whether it is to be seen now or not.

A loan is over once the folder that was seen was read and borrows no more, or a person says that it is gone (`gitdash
forget`): a file system that is not mounted, and a folder that somebody moves for a while, look like one that is gone,
and what lies there meanwhile is another. The store is
known again by device and inode, and by its path: devices get other numbers, and inodes are given out again. Source:
gitrepository-layout(5), stat(2). Judges nothing.
"""

import os
from collections.abc import Iterable, Sequence

from gitdash.assessment.sentences import shell_word
from gitdash.history.records import Loan
from gitdash.maintenance.sharers import own_identities, reached
from gitdash.units import counted, printable_path

_Store = tuple[tuple[int, int], bytes]
"""Device and inode of an `objects` folder, and its path."""
_IN_REPOSITORY = b"/objects/info/alternates"


def stores_of(common_dir: bytes, lent: Iterable[_Store]) -> list[_Store]:
    """Return those of the stores that were seen to lend which are that of a repository, or lie in it, or lead to it."""
    objects_dir = os.path.realpath(common_dir + b"/objects")
    own = own_identities(objects_dir)
    return [
        (identity, path)
        for identity, path in sorted(lent)
        if identity in own or path == objects_dir or path.startswith(objects_dir + b"/") or _leads_to(path, own)
    ]


def _leads_to(path: bytes, own: frozenset[tuple[int, int]]) -> bool:
    """Tell whether a store consists of parts of another, as far as it can be looked at."""
    try:
        return not own.isdisjoint(reached(path))
    except OSError:
        return False


def folder_of(loan: Loan) -> bytes:
    """Return the folder in which the borrower's `objects` lies, or lay."""
    return loan.alternates_path.removesuffix(_IN_REPOSITORY).removesuffix(b"/objects")


def is_same_folder(loan: Loan) -> bool:
    """Tell whether the folder that held what says that it borrows is the one that was seen.

    Any other may hide it: it was moved aside, or its file system is not mounted, and this lies below. Two file systems
    may give the same inode. Where nobody knows which folder it was, none is the same.
    """
    return loan.place is not None and loan.place == place_of_loan(loan.alternates_path)


def place_of_loan(alternates_path: bytes) -> tuple[int, int] | None:
    """Return device and inode of the folder in which the alternates of a repository lie; None if it is not there."""
    try:
        found = os.stat(os.path.dirname(alternates_path))
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def told_borrower(loans: Sequence[Loan]) -> str | None:
    """Return who may need a store from which these loans are, and what to do about it, one clause; None if nobody."""
    known = sorted(loans, key=lambda loan: (loan.borrower, loan.alternates_path, loan.place or ()))
    if not known:
        return None
    away = next((loan for loan in known if not os.path.lexists(folder_of(loan) + b"/objects")), None)
    replaced = next((loan for loan in known if not is_same_folder(loan)), None)
    one = away or replaced or known[0]
    more_count = len({loan.borrower for loan in known}) - 1
    others = f" ({counted(more_count, 'more', 'more')} borrowed, too)" if more_count else ""
    name, word = printable_path(one.borrower), shell_word(one.borrower)
    seen = f"{name} borrowed from it when last seen"
    if away is None and replaced is None:
        return f"{seen}{others}; `gitdash scan {word}` sees whether it still does"
    now = "is not there now" if away is not None else "what is there now is not the folder that was seen"
    return f"{seen}, and {now}{others}; if it is gone for good: `gitdash forget {word}`"
