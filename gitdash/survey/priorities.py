"""What people look at right now: told by a front end at any time, and read by a survey that runs in another thread."""

import threading
from collections.abc import Container, Sequence


class Priorities:
    """Paths to measure first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: tuple[bytes, ...] = ()

    def prioritise(self, paths: Sequence[bytes]) -> None:
        """Measure these first, in this order; takes the place of what was said before."""
        with self._lock:
            self._paths = tuple(paths)

    def paths(self) -> tuple[bytes, ...]:
        """Return what was said last."""
        with self._lock:
            return self._paths

    def first_of(self, waiting: Container[bytes]) -> bytes | None:
        """Return the first of the paths that waits; None if none does."""
        return next((path for path in self.paths() if path in waiting), None)
