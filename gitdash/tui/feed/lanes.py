"""Work in daemon threads that come and go: one after another for one name, side by side for different names.

What hangs holds up what has the same name, and nothing else. No thread is there while there is nothing to do.
"""

import threading
from collections import deque
from collections.abc import Callable, Hashable
from functools import partial

Work = Callable[[], None]


class Lanes:
    """The threads; for any thread."""

    def __init__(self, guarded: Callable[[Work], None]) -> None:
        """`guarded` runs what a thread does, and deals with what is raised."""
        self._guarded = guarded
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, deque[Work]] = {}
        """By name, which is here as long as its thread runs."""

    def add(self, name: Hashable, work: Work) -> None:
        """Have something done after all else of this name."""
        with self._changed:
            waiting = self._waiting.get(name)
            if waiting is not None:
                waiting.append(work)
                return
            self._waiting[name] = deque([work])
        threading.Thread(
            target=self._guarded, args=(partial(self._serve, name),), name=f"gitdash-lane-{name}", daemon=True
        ).start()

    def wait(self, limit_s: float) -> bool:
        """Wait until there is nothing to do; return whether that came within the limit."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, limit_s)

    def _serve(self, name: Hashable) -> None:
        while (work := self._next(name)) is not None:
            work()

    def _next(self, name: Hashable) -> Work | None:
        with self._changed:
            waiting = self._waiting[name]
            if waiting:
                return waiting.popleft()
            del self._waiting[name]
            self._changed.notify_all()
            return None
