"""Who borrowed from a repository when it was last seen, whether it is to be seen now or not.

A loan is over once the borrower was read and borrows no more, or a person says that it is gone (`gitdash forget`): a
file system that is not mounted, and a folder that somebody moves for a while, look like one that is gone. The store is
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
        if identity in own
        or path == objects_dir
        or path.startswith(objects_dir + b"/")
        or not own.isdisjoint(reached(path))
    ]


def folder_of(loan: Loan) -> bytes:
    """Return the folder in which the borrower's `objects` lies, or lay."""
    return loan.alternates_path.removesuffix(_IN_REPOSITORY).removesuffix(b"/objects")


def is_same_folder(loan: Loan) -> bool:
    """Tell whether the borrower's folder is the one that was seen, or has replaced it on its file system.

    Where both numbers are others, what was seen may be hidden: its file system is not mounted, and this lies below.
    """
    try:
        found = os.stat(folder_of(loan))
    except (OSError, ValueError):
        return False
    return loan.place is None or loan.place[0] == found.st_dev or loan.place[1] == found.st_ino


def told_borrower(loans: Sequence[Loan]) -> str | None:
    """Return who may need a store from which these loans are, and what to do about it, one clause; None if nobody."""
    by_path = {loan.borrower: loan for loan in sorted(loans, key=lambda loan: loan.borrower)}
    if not by_path:
        return None
    away = next((loan for loan in by_path.values() if not os.path.lexists(folder_of(loan) + b"/objects")), None)
    one = away or next(iter(by_path.values()))
    others = f" ({counted(len(by_path) - 1, 'more', 'more')} borrowed, too)" if len(by_path) > 1 else ""
    name, word = printable_path(one.borrower), shell_word(one.borrower)
    seen = f"{name} borrowed from it when last seen"
    if away is None and is_same_folder(one):
        return f"{seen}{others}; `gitdash scan {word}` sees whether it still does"
    now = "is not there now" if away is not None else "another repository is there now"
    return f"{seen} and {now}{others}; if it is gone for good: `gitdash forget {word}`"
