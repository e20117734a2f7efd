"""Files of an object store whose trailing checksum is wrong: git does not verify it, and answers all the same.

Of packs the indexes and what is derived from them: reverse indexes, bitmaps, multi-pack-indexes, commit-graphs. A file
is hashed once while it stays the same; the names, sizes and times of all are looked at for each question. Source:
gitformat-pack(5), gitformat-commit-graph(5). A file that was made to lie has a valid checksum: whether a number can be
true, `measurement.plausibility` says.
"""

import os
import re
import stat
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.inspection.files import FileError, FileMissingError, open_buffer
from gitdash.measurement.checksums import has_valid_checksum
from gitdash.model.inspection import ObjectFormat
from gitdash.model.repository import Unreadable
from gitdash.units import printable_path

_FOLDERS: Final = (
    (b"pack", re.compile(rb".*\.(?:idx|rev|bitmap)|multi-pack-index")),
    (b"pack/multi-pack-index.d", re.compile(rb".*\.(?:midx|rev|bitmap)")),
    (b"info", re.compile(rb"commit-graph")),
    (b"info/commit-graphs", re.compile(rb".*\.graph")),
)
_REMEMBERED_FILES: Final = 200_000
"""Some 40 MB of memory."""

_Identity = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Absolute paths of the files that are damaged."""

    indexes: tuple[bytes, ...] = ()
    """Without these no object is found: there is no way around them."""
    derived_files: tuple[bytes, ...] = ()
    """All that git can do without."""

    @property
    def problem(self) -> Unreadable | None:
        """Why no size can be had; None if git can do without what is damaged."""
        if not self.indexes:
            return None
        more = f" and {len(self.indexes) - 1} more" if len(self.indexes) > 1 else ""
        return Unreadable(f"{printable_path(self.indexes[0])}{more}: its content does not match its checksum")


class DamageSearch:
    """Looks for damage in object stores, and remembers what it found; usable from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_damaged: dict[_Identity, bool] = {}

    def search(self, objects_dirs: Sequence[bytes], object_format: ObjectFormat) -> Damage:
        """Return the damaged files of some stores. One that cannot be read counts as damaged, one that is gone not."""
        # one thread hashes at a time: members of one lender would else all hash its files
        with self._lock:
            found = [
                path
                for objects_dir in objects_dirs
                for path, identity in _checked_files(objects_dir)
                if self._has_damage(path, identity, object_format)
            ]
        indexes = tuple(path for path in found if path.endswith(b".idx"))
        return Damage(
            indexes=indexes,
            derived_files=tuple(path for path in found if path not in indexes),
        )

    def _has_damage(self, path: bytes, identity: _Identity, object_format: ObjectFormat) -> bool:
        known = self._is_damaged.get(identity)
        if known is None:
            known = _is_damaged(path, object_format)
            if len(self._is_damaged) >= _REMEMBERED_FILES:
                self._is_damaged.clear()
            self._is_damaged[identity] = known
        return known


def _checked_files(objects_dir: bytes) -> Iterator[tuple[bytes, _Identity]]:
    """Yield regular files, and those that links lead to, as git follows them."""
    for folder, pattern in _FOLDERS:
        path = os.path.join(objects_dir, folder)
        try:
            names = os.listdir(path)
        except OSError:
            # missing, or not ours to list: then git says so
            continue
        present = frozenset(names)
        for name in sorted(names):
            if not pattern.fullmatch(name) or (name.endswith(b".idx") and name[:-3] + b"pack" not in present):
                continue
            file = os.path.join(path, name)
            try:
                found = os.stat(file)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield file, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _is_damaged(path: bytes, object_format: ObjectFormat) -> bool:
    try:
        with open_buffer(os.path.realpath(path)) as buffer:
            return not has_valid_checksum(buffer, object_format)
    except FileMissingError:
        return False
    except FileError:
        return True
