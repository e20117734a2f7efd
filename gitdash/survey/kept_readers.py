"""Object readers that stay open between two questions: few of them, each for one thread at a time, none for long.

A reader holds the packs it has opened, deleted ones as well: their space is not freed before it ends. So the one that
was used longest ago makes room for another, all end when nobody asks, and those of a repository can be ended, even as
they answer. While packs of an object store go, its readers are held off: one that is opened meanwhile ends with its
question. What they are asked, and which repositories may be read, `readers` knows.
"""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.objects import ObjectReader

_CLOSE_WAIT_S = 2.0
"""A killed reader ends within milliseconds, unless it hangs in the kernel."""


@dataclass(slots=True, eq=False)
class Kept:
    """The place of one object store's reader. Whoever borrowed it may change it."""

    reader: ObjectReader | None = None
    """None until one is put there."""
    path: bytes = b""
    """Of the repository that was asked about last."""
    stores: tuple[bytes, ...] = ()
    """The object stores that the reader knows: git reads once who lends."""
    names: set[bytes] = field(default_factory=set)
    """Paths by which the repositories may be called whose packs it may hold."""
    used_s: float = 0.0
    """On the monotonic clock."""
    is_borrowed: bool = False
    is_dropped: bool = False
    """To be ended, whoever has it."""
    is_held_off: bool = False
    """It is ended for packs that go, so what it was asked may be asked again."""
    is_passing: bool = False
    """Its reader was opened while packs went, and may have seen those that are gone."""


class KeptReaders:
    """The places; for any thread."""

    def __init__(self, *, limit: int, idle_s: float) -> None:
        """Keep at most `limit` readers, none longer than `idle_s` after it was used last."""
        self._limit = limit
        self._idle_s = idle_s
        self._changed = threading.Condition()
        self._kept: dict[bytes, Kept] = {}
        """By common directory, the one that was used longest ago first."""
        self._going: Counter[bytes] = Counter()
        """Real paths of object stores whose packs go now, and by how many."""
        self._ended: dict[bytes, set[bytes]] = {}
        """Repositories that have no reader for that reason, by such a path."""
        self._timer: threading.Timer | None = None

    @contextlib.contextmanager
    def borrowed(
        self, common_dir: bytes, *, path: bytes, names: Collection[bytes], deadline_s: float
    ) -> Iterator[Kept]:
        """Have the place of one repository alone. Raises GitError if all are taken until the deadline.

        `names` are paths of what its reader may hold packs of, among them the real paths of the object stores.
        """
        kept, pushed_out = self._take(common_dir, path, names, deadline_s)
        try:
            if pushed_out is not None:
                close(pushed_out)
            yield kept
        finally:
            self._give_back(common_dir, kept)

    def put(self, kept: Kept, reader: ObjectReader) -> None:
        """Keep a reader in a borrowed place that is empty; from now on `end` reaches it."""
        with self._changed:
            kept.reader = reader
            kept.is_passing = not self._going.keys().isdisjoint(kept.names)
            if kept.is_dropped:
                reader.interrupt()

    def hold_off(self, store: bytes) -> None:
        """End the readers that may hold packs of an object store, and keep none open until `allow`.

        `store` is a real path. Returns when they have ended.
        """
        with self._changed:
            self._going[store] += 1
            self._ended.setdefault(store, set()).update(
                kept.path for kept in self._kept.values() if store in kept.names
            )
        self.end(store, is_held_off=True)

    def allow(self, store: bytes) -> frozenset[bytes]:
        """Keep readers open again; return the repositories that have none since `hold_off`, or are asked right now."""
        with self._changed:
            self._going[store] -= 1
            if self._going[store] > 0:
                return frozenset()
            del self._going[store]
            asked = {kept.path for kept in self._kept.values() if kept.is_passing and store in kept.names}
            return frozenset(self._ended.pop(store) | asked)

    def end(self, path: bytes | None = None, *, is_held_off: bool = False) -> None:
        """End the readers that may hold files of the repository at `path`, or all, and return when they have ended."""
        with self._changed:
            meant = {key: kept for key, kept in self._kept.items() if path is None or path in kept.names}
            borrowed = [kept for kept in meant.values() if kept.is_borrowed]
            for kept in borrowed:
                kept.is_dropped = True
                kept.is_held_off = is_held_off
                reader = kept.reader
                # who borrowed it may close it at any time, and then this does nothing
                if reader is not None:
                    reader.interrupt()
            idle = [self._kept.pop(key) for key, kept in meant.items() if not kept.is_borrowed]
        for kept in idle:
            close(kept)
        with self._changed:
            self._changed.wait_for(lambda: not any(kept.is_borrowed for kept in borrowed), _CLOSE_WAIT_S)
            if not self._kept:
                self._stop_timer()

    def _take(
        self, common_dir: bytes, path: bytes, names: Collection[bytes], deadline_s: float
    ) -> tuple[Kept, Kept | None]:
        with self._changed:
            wait_s = max(0.0, deadline_s - time.monotonic())
            if not self._changed.wait_for(lambda: self._has_room(common_dir), wait_s):
                raise GitError("other look-ups are still under way", kind=GitFailure.TIMED_OUT)
            pushed_out = None
            kept = self._kept.pop(common_dir, None)
            if kept is None:
                kept = Kept()
                if len(self._kept) >= self._limit:
                    pushed_out = self._kept.pop(next(key for key, one in self._kept.items() if not one.is_borrowed))
            kept.is_borrowed = True
            kept.path = path
            kept.names.update(names)
            self._kept[common_dir] = kept
            return kept, pushed_out

    def _has_room(self, common_dir: bytes) -> bool:
        kept = self._kept.get(common_dir)
        if kept is not None:
            return not kept.is_borrowed
        return len(self._kept) < self._limit or not all(one.is_borrowed for one in self._kept.values())

    def _give_back(self, common_dir: bytes, kept: Kept) -> None:
        while not self._has_given_back(common_dir, kept):
            # who ends it waits for this; a killed one, and one whose input ends, do not take long
            close(kept)

    def _has_given_back(self, common_dir: bytes, kept: Kept) -> bool:
        with self._changed:
            stores = self._going.keys() & kept.names
            for store in stores:
                self._ended[store].add(kept.path)
            if kept.reader is not None and (kept.is_dropped or kept.is_passing or stores):
                return False
            if kept.reader is None:
                del self._kept[common_dir]
            kept.is_borrowed = False
            kept.used_s = time.monotonic()
            self._changed.notify_all()
            self._start_timer()
            return True

    def _start_timer(self) -> None:
        """Wake up when the first reader may be idle for long enough; one that is borrowed comes back and starts it."""
        used_s = [kept.used_s for kept in self._kept.values() if not kept.is_borrowed]
        if self._timer is None and used_s:
            left_s = min(used_s) + self._idle_s - time.monotonic()
            self._timer = threading.Timer(max(0.0, left_s), self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_idle(self) -> None:
        with self._changed:
            self._timer = None
            limit_s = time.monotonic() - self._idle_s
            idle = [key for key, kept in self._kept.items() if not kept.is_borrowed and kept.used_s <= limit_s]
            ended = [self._kept.pop(key) for key in idle]
            self._start_timer()
        for kept in ended:
            close(kept)


def close(kept: Kept) -> None:
    """End the reader of a place, if there is one."""
    reader, kept.reader = kept.reader, None
    if reader is not None:
        reader.close()
