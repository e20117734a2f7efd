"""What others do while gitdash waits a moment to look once more: an event that acts when it is waited for."""

import threading
from collections.abc import Callable


class Meanwhile(threading.Event):
    """Acts each time that somebody waits; is never set."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act = act

    def wait(self, timeout: float | None = None) -> bool:
        """Act, and wait."""
        self._act()
        return super().wait(timeout)
