"""Below which folders repositories were looked for: `reclaim` looks there again, for whoever came after that.

A survey leaves its roots in the state file, and there they stay: to search a folder inside one, or one repository, says
nothing of the rest. A folder is known again by its path, by its path after links, and by device and inode, as when it
was renamed or is mounted elsewhere. Source: stat(2).
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from gitdash.survey.patience import is_below_any, within

if TYPE_CHECKING:
    from gitdash.history.records import SearchedFolder
    from gitdash.history.store import History

_LIMIT_S: Final = 2.0
"""A folder was searched a moment ago; should it answer no more, its path is all that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderAround:
    """A folder around a repository below which a survey has looked."""

    path: bytes
    """Where it is now."""
    known_as: bytes
    """Its path in the state file."""
    is_whole: bool
    """All of it answered once."""


def remember_searched(history: "History | None", roots: Sequence[bytes], silent: Sequence[bytes]) -> None:
    """Write down that a survey has looked below some roots; below the folders in `silent` it could not."""
    if history is None:
        return
    folders = [_searched(os.path.abspath(root), silent) for root in roots]
    known = set(history.searched.all())
    new = [folder for folder in folders if folder not in known]
    if new:
        history.searched.save(new)


def searched_around(history: "History", path: bytes) -> list[FolderAround]:
    """Return the folders around a repository below which surveys have looked, where they are now.

    Raises HistoryError if the state file is damaged.
    """
    above = dict(_folders_above(path))
    real_paths, places = set(above), {place: folder for folder, place in above.items() if place is not None}
    wholes: dict[tuple[bytes, bytes], bool] = {}
    for one in history.searched.all():
        real_path = one.real_path or os.path.realpath(one.path)
        # a path that was given, and leads here, is the name that people know
        now = next((name for name in (one.path, real_path) if name in real_paths), places.get(one.place or (-1, -1)))
        if now is not None:
            key = (now, one.path)
            wholes[key] = wholes.get(key, False) or one.is_whole
    return [FolderAround(path=now, known_as=name, is_whole=is_whole) for (now, name), is_whole in wholes.items()]


def _searched(path: bytes, silent: Sequence[bytes]) -> "SearchedFolder":
    from gitdash.history.records import SearchedFolder

    real_path, place = b"", None
    if not is_below_any(path, silent):
        with contextlib.suppress(OSError, TimeoutError):
            real_path, place = within(_LIMIT_S, partial(_identified, path))
    is_whole = not any(is_below_any(folder, (path,)) or is_below_any(path, (folder,)) for folder in silent)
    return SearchedFolder(path=path, real_path=real_path, place=place, is_whole=is_whole)


def _identified(path: bytes) -> tuple[bytes, tuple[int, int]]:
    found = os.stat(path)
    return os.path.realpath(path), (found.st_dev, found.st_ino)


def _folders_above(path: bytes) -> Iterator[tuple[bytes, tuple[int, int] | None]]:
    """Yield all folders above a path, as it is and after links, with device and inode of each."""
    for folder in (path, os.path.realpath(path)):
        while (above := os.path.dirname(folder)) != folder:
            folder = above  # noqa: PLW2901 - upwards, up to the root
            try:
                yield folder, _identified(folder)[1]
            except OSError:
                yield folder, None
