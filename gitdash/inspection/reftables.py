"""Whether git will read all tables of a reftable: it passes over what is missing or is no table, and names no error.

Source: git's Documentation/technical/reftable, "Layout"; git 2.47 and 2.55, which answer `for-each-ref` with
nothing and exit code 0 where `tables.list` or a table of it is gone. Damage between the ends of a table is not looked
for: its blocks have no checksum.
"""

import os
from typing import Final

from gitdash.errors import GitdashError
from gitdash.formats.reftable import check_reftable
from gitdash.formats.reftable_list import read_tables_list
from gitdash.inspection.files import FileMissingError, open_buffer, read_file
from gitdash.model.repository import Unreadable
from gitdash.units import printable

_LIST_MAXIMUM_BYTES: Final = 1 << 20
_ATTEMPTS: Final = 3
"""A table that is gone may have been merged into another meanwhile: then the list has changed."""


def unreadable_reftable(git_dir: bytes) -> Unreadable | None:
    """Return why the references in `git_dir` cannot all be read; None if each table of its list is a whole one.

    No table at all is a fault: git writes one with HEAD when it makes the repository.
    """
    folder = os.path.join(git_dir, b"reftable")
    reason = ""
    for _ in range(_ATTEMPTS):
        try:
            names = read_tables_list(read_file(os.path.join(folder, b"tables.list"), _LIST_MAXIMUM_BYTES))
        except GitdashError as error:
            return Unreadable(printable(f"reftable/tables.list: {error}"))
        if not names:
            return Unreadable("reftable/tables.list names no table, and HEAD should be in one")
        found, may_have_moved = _first_problem(folder, names)
        if found is None:
            return None
        reason = found
        if not may_have_moved:
            break
    return Unreadable(reason)


def _first_problem(folder: bytes, names: tuple[bytes, ...]) -> tuple[str | None, bool]:
    """Return what is wrong with the first bad table, and whether it is only gone."""
    for name in names:
        try:
            with open_buffer(os.path.join(folder, name)) as buffer:
                check_reftable(buffer)
        except GitdashError as error:
            is_gone = isinstance(error, FileMissingError)
            what = "is missing" if is_gone else f"is no whole table: {error}"
            return printable(f"reftable/{os.fsdecode(name)} {what}"), is_gone
    return None, False
