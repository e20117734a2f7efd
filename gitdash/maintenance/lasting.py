"""Whether locks last: that of a push is there for milliseconds, and who looks at the wrong moment would meet one.

git takes a lock by making a file and gives it back by rename(2) or unlink(2), so another lock of the same name is
another file. Its number may be given again at once, so that times count, too; but a file that grows is one that is
being written. lstat(2) only. Judges nothing.
"""

import os
import threading
from collections.abc import Collection
from typing import Final

PAUSE_S: Final = 0.2
"""git itself waits 0.1 s for a lock of a reference and 1 s for that of packed-refs before it gives up."""


def lasting_files(paths: Collection[bytes], cancel: threading.Event | None = None) -> frozenset[bytes]:
    """Return those that are there now and are the same file a moment later; returns sooner if cancelled."""
    before = {path: found for path in paths if (found := _looked_at(path)) is not None}
    if not before:
        return frozenset()
    (cancel or threading.Event()).wait(PAUSE_S)
    return frozenset(path for path, found in before.items() if _is_same(found, _looked_at(path)))


def _looked_at(path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_same(before: os.stat_result, after: os.stat_result | None) -> bool:
    if after is None or not os.path.samestat(before, after):
        return False
    return after.st_mtime_ns == before.st_mtime_ns or after.st_size > before.st_size
