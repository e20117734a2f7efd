"""What is still to be seen of paths that may be gone, or lie on a file system that is not mounted now.

A mount point is an empty folder while nothing is mounted there; who has removed a repository for good removes that,
too. Each folder is looked at once: thousands of repositories that are gone lie in a few.
"""

import os
from functools import cache

from gitdash.units import printable_path


class Sight:
    """Looks at folders, once each."""

    def __init__(self) -> None:
        """Nothing is looked at yet."""
        self._is_folder = cache(os.path.isdir)
        self._hides = cache(_what_may_hide)

    def is_out_of_sight(self, path: bytes) -> bool:
        """Tell whether a file system may be missing on the way: what is left of the way ends in an empty folder."""
        return self._hides(self._last_folder(path)) is not None

    def obstacle(self, path: bytes) -> str | None:
        """Return why a path may be out of sight only, one clause; None if it is there, or surely is not. Printable."""
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            folder = self._last_folder(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            return f"{printable_path(path)} cannot be looked at: {reason.lower()}"
        else:
            return None
        first_missing = os.path.join(folder, path[len(folder) :].lstrip(b"/").split(b"/", 1)[0])
        if os.path.islink(first_missing):
            return f"{printable_path(first_missing)} is a link to what is not there"
        return self._hides(folder)

    def is_on_device(self, path: bytes, device: int) -> bool:
        """Tell whether what is left of the way to a path lies on a file system, given by its number."""
        try:
            return os.stat(self._last_folder(path)).st_dev == device
        except OSError:
            return False

    def _last_folder(self, path: bytes) -> bytes:
        """Return the last folder on the way to a path that is there."""
        folder, end = b"/", 0
        while (end := path.find(b"/", end + 1)) != -1:
            if not self._is_folder(path[:end]):
                break
            folder = path[:end]
        return folder


def _what_may_hide(folder: bytes) -> str | None:
    """Return why a folder may hide a file system, one clause; None if it has something in it."""
    try:
        with os.scandir(folder) as entries:
            if next(iter(entries), None) is not None:
                return None
    except OSError as error:
        return f"{printable_path(folder)} cannot be looked at: {(error.strerror or 'failed').lower()}"
    return f"{printable_path(folder)} is an empty folder, as a mount point is while nothing is mounted there"
