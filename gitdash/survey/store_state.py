"""Whether object stores hold the same objects as before, from what lstat(2) says of their files.

It covers packs with their indexes, multi-pack-indexes (which say which copy of an object counts) and loose objects, and
neither references nor locks: what is stored does not change with them. A folder of loose objects changes its time with
every object that comes or goes. Source: gitrepository-layout(5), "objects". No file is opened.
"""

import os
import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

_RACY_S: Final = 2.0
"""The coarsest time stamps in use (FAT): a later change within them need not show in any time."""
_FOLDERS: Final = (
    (b"", re.compile(rb"[0-9a-f]{2}")),
    (b"/pack", re.compile(rb".*\.(?:pack|idx)|multi-pack-index")),
    (b"/pack/multi-pack-index.d", re.compile(rb".*\.midx|multi-pack-index-chain")),
)


class StoreStates:
    """Fingerprints of object stores; one that is asked for again, as a lender is by all its members, is kept."""

    def __init__(self, now_s: float) -> None:
        """Take the present time in seconds since the epoch."""
        self._now_s = now_s
        self._known: dict[bytes, bytes | None] = {}

    def fingerprint(self, objects_dirs: Sequence[bytes]) -> bytes:
        """Return the fingerprint of a store and of those it borrows from; empty if a change could not be told."""
        states = [self._state(objects_dir) for objects_dir in objects_dirs]
        digest = blake2b(digest_size=16)
        for state in states:
            if state is None:
                return b""
            digest.update(state)
        return digest.digest()

    def _state(self, objects_dir: bytes) -> bytes | None:
        if objects_dir not in self._known:
            self._known[objects_dir] = self._read(objects_dir)
        return self._known[objects_dir]

    def _read(self, objects_dir: bytes) -> bytes | None:
        try:
            store = os.stat(objects_dir)
            lines = [b"%d %d" % (store.st_dev, store.st_ino)]
            for name, found in _files(objects_dir):
                if found.st_mtime > self._now_s - _RACY_S:
                    return None
                lines.append(b"%b %d %d %d" % (name, found.st_size, found.st_mtime_ns, found.st_ino))
        except OSError:
            return None
        return blake2b(b"\0".join(lines), digest_size=16).digest()


def _files(objects_dir: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    """Yield what the objects lie in: names below the store, sorted, and what lstat(2) says. Raises OSError."""
    for folder, pattern in _FOLDERS:
        try:
            names = os.listdir(objects_dir + folder)
        except FileNotFoundError:
            continue
        for name in sorted(filter(pattern.fullmatch, names)):
            yield folder + name, os.lstat(objects_dir + folder + b"/" + name)
