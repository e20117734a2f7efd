"""All loose references of a repository as one of its worktrees sees them, root references such as HEAD included.

Which ones git passes over is told: bad names, files without an id, symbolic references that lead nowhere. Source:
gitrepository-layout(5), "refs", "worktrees"; git's refs.c (`is_root_ref`) and refs/files-backend.c. Packed references
are read elsewhere: `names` says which of them matter here.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from gitdash.formats.reading import FormatError
from gitdash.formats.reference import DirectReference, SymbolicReference
from gitdash.inspection.files import FileError, FileMissingError
from gitdash.inspection.folders import list_folder
from gitdash.inspection.reference_facts import read_loose_reference
from gitdash.inspection.references import (
    MAXIMUM_REFERENCES,
    PER_WORKTREE_FOLDERS,
    SYMBOLIC_DEPTH,
    is_valid_reference_name,
    loose_entries,
)
from gitdash.model.inspection import ObjectFormat

_ROOT_REFERENCE: Final = re.compile(
    rb"HEAD|[A-Z_-]+_HEAD|AUTO_MERGE|BISECT_EXPECTED_REV|NOTES_MERGE_PARTIAL|NOTES_MERGE_REF|MERGE_AUTOSTASH"
)
_PSEUDO_REFERENCES: Final = (b"FETCH_HEAD", b"MERGE_HEAD")
"""They hold more than an id, and git does not list them."""

Reference = DirectReference | SymbolicReference
_Entry = tuple[bytes, bytes, os.stat_result]


@dataclass(slots=True, kw_only=True)
class LooseReferences:
    """Loose references by full name, and what could not be read. Made by `read_loose_references`."""

    object_format: ObjectFormat
    found: dict[bytes, Reference] = field(default_factory=dict)
    broken: set[bytes] = field(default_factory=set)
    """Names of those that git passes over."""
    problems: list[str] = field(default_factory=list)
    """Why some may be missing."""

    def note(self, problem: FileError) -> None:
        """Keep why something was not read."""
        self.problems.append(str(problem))

    def add(self, name: bytes, path: bytes, found: os.stat_result) -> None:
        """Read one file."""
        if not is_valid_reference_name(name):
            self.broken.add(name)
            return
        try:
            reference = read_loose_reference(path, self.object_format, found)
        except FileMissingError:
            # packed or deleted meanwhile
            return
        except (FileError, FormatError):
            self.broken.add(name)
            return
        if isinstance(reference, DirectReference) and not reference.object_id.strip("0"):
            self.broken.add(name)
        else:
            self.found[name] = reference

    def names(self) -> frozenset[bytes]:
        """Return the names that packed references may have as well, and those that symbolic ones point to."""
        targets = (one.target for one in self.found.values() if isinstance(one, SymbolicReference))
        return frozenset((*self.found, *self.broken, *targets))

    def break_dangling(self, packed: set[bytes]) -> None:
        """Take symbolic references that lead nowhere for broken; a HEAD before the first commit is none."""
        dangling = [name for name in self.found if not self._leads_somewhere(name, packed)]
        for name in dangling:
            del self.found[name]
            if name.startswith(b"refs/"):
                self.broken.add(name)

    def _leads_somewhere(self, name: bytes, packed: set[bytes]) -> bool:
        for _ in range(SYMBOLIC_DEPTH):
            reference = self.found.get(name)
            if reference is None:
                return name in packed and name not in self.broken
            if isinstance(reference, DirectReference):
                return True
            name = reference.target
        return False


def read_loose_references(git_dir: bytes, common_dir: bytes, object_format: ObjectFormat) -> LooseReferences:
    """Read all files that are, or should be, references; `break_dangling` has to follow."""
    loose = LooseReferences(object_format=object_format)
    entries = _entries(git_dir, common_dir, loose)
    for name, path, found in islice(entries, MAXIMUM_REFERENCES):
        loose.add(name, path, found)
    if next(entries, None) is not None:
        loose.problems.append(f"more than {MAXIMUM_REFERENCES} loose references")
    return loose


def _entries(git_dir: bytes, common_dir: bytes, loose: LooseReferences) -> Iterator[_Entry]:
    """Yield name, path and lstat(2) result of all files that are, or should be, references."""
    yield from _root_entries(git_dir, loose)
    own = tuple(folder + b"/" for folder in PER_WORKTREE_FOLDERS)
    for entry in loose_entries(common_dir + b"/refs/", b"refs/", loose.note):
        # a linked worktree has these in its own git directory
        if git_dir == common_dir or not entry[0].startswith(own):
            yield entry
    if git_dir != common_dir:
        for folder in own:
            yield from loose_entries(git_dir + b"/" + folder, folder, loose.note)


def _root_entries(git_dir: bytes, loose: LooseReferences) -> Iterator[_Entry]:
    try:
        names, stats = list_folder(git_dir + b"/")
    except FileError as error:
        loose.note(error)
        return
    for name, found in zip(names, stats, strict=True):
        if _ROOT_REFERENCE.fullmatch(name) and name not in _PSEUDO_REFERENCES:
            yield name, git_dir + b"/" + name, found
