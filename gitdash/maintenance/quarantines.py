"""Whether a folder in `objects` that is named like a quarantine is one, and no store that somebody uses.

A person may give the same name to a copy, and a repository may borrow from any folder. So nothing goes unless all in it
is what git writes there, and no repository has it as an alternate, as far as is known. Source: tmp-objdir.c,
gitrepository-layout(5). Removes nothing.
"""

import os
from collections.abc import Iterator, Sequence

from gitdash.history.records import Loan
from gitdash.inspection.alternates import inspect_alternates
from gitdash.inspection.reading import Problems
from gitdash.inspection.temporary import belongs_in_quarantine
from gitdash.model.inspection import AlternatesFacts
from gitdash.model.report import RepositoryReport
from gitdash.units import printable_path


def objection_to_quarantine(report: RepositoryReport, path: bytes, loans: Sequence[Loan]) -> str | None:
    """Say why a folder stays, given relative to the common directory; None if nothing speaks against it. Printable.

    `loans` are what others borrowed from the repository when they were last seen.
    """
    common_dir = report.repository.common_dir
    base = os.path.join(common_dir, path)
    strange = next(_strange_paths(base), None)
    if strange is not None:
        return f"git does not write {printable_path(strange)} into such a folder"
    real_path = os.path.realpath(base)
    for borrower in (common_dir, *report.borrowers):
        if any(real_path in (store, *_above(store)) for store in _lenders_of(borrower)):
            return f"{printable_path(borrower)} borrows objects from it"
    for loan in loans:
        if real_path in (loan.store_path, *_above(loan.store_path)):
            return f"{printable_path(loan.borrower)} borrowed objects from it when last seen"
    return None


def _strange_paths(base: bytes) -> Iterator[bytes]:
    for top, folders, files in os.walk(base):
        below = top[len(base) + 1 :] + b"/" if len(top) > len(base) else b""
        for names, is_folder in ((folders, True), (files, False)):
            yield from (below + name for name in names if not belongs_in_quarantine(below + name, is_folder=is_folder))


def _above(path: bytes) -> Iterator[bytes]:
    while len(path) > 1:
        path = os.path.dirname(path)
        yield path


def _lenders_of(path: bytes) -> Iterator[bytes]:
    """Yield the stores that a repository borrows from, by its path, with or without a work tree, as they are now."""
    for objects_dir in (path + b"/objects", path + b"/.git/objects"):
        found = inspect_alternates(objects_dir, Problems())
        if isinstance(found, AlternatesFacts):
            yield from (alternate.path for alternate in found.alternates)
