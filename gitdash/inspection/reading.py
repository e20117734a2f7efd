"""Open a listed file, hand it to a reader of its format, and note why that failed.

The one place where FileError and FormatError end: a file that cannot be read costs its own cell.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from gitdash.formats.reading import Buffer, FormatError
from gitdash.gitcmd.masking import presentable, presentable_bytes
from gitdash.inspection.files import FileError, FileMissingError, open_buffer
from gitdash.inspection.listing import Listing
from gitdash.model.inspection import Problem
from gitdash.model.repository import Unreadable
from gitdash.units import counted

_MAXIMUM_PROBLEMS = 50
"""Thousands of broken files make one row no clearer; the last problem says how many more there are."""

Value = TypeVar("Value")


@dataclass(slots=True)
class Problems:
    """What could not be read, in the order in which it was met."""

    noted: list[Problem] = field(default_factory=list)
    left_out_count: int = 0
    file_vanished: bool = False
    """A file that was listed could not be found when it was to be read: the repository is being changed."""

    def note(self, relative_path: bytes, reason: str) -> None:
        """Add a problem; after fifty only the number grows."""
        if len(self.noted) < _MAXIMUM_PROBLEMS:
            self.noted.append(Problem(path=presentable_bytes(relative_path), reason=presentable(reason)))
        else:
            self.left_out_count += 1

    def records(self) -> tuple[Problem, ...]:
        """Return all problems."""
        if not self.left_out_count:
            return tuple(self.noted)
        reason = f"{counted(self.left_out_count, 'more file', 'more files')} could not be read"
        return (*self.noted, Problem(path="", reason=reason, file_count=self.left_out_count))


def unreadable(error: Exception) -> Unreadable:
    """Return what an inspection that raised is: whatever lies in a repository, only its own row is lost."""
    if isinstance(error, FileError):
        return Unreadable(error.reason)
    return Unreadable(presentable(f"gitdash failed: {type(error).__name__}: {error}"))


def read_listed(
    listing: Listing, relative_path: bytes, found: os.stat_result, problems: Problems, read: Callable[[Buffer], Value]
) -> Value | None:
    """Return what `read` makes of a file that the listing has seen; None after noting a problem."""
    try:
        with open_buffer(listing.path(relative_path), listed=found) as buffer:
            return read(buffer)
    except FileMissingError as error:
        problems.file_vanished = True
        problems.note(relative_path, error.reason)
    except FileError as error:
        problems.note(relative_path, error.reason)
    except FormatError as error:
        problems.note(relative_path, str(error))
    return None
