"""When the dashboard looks at its source: soon after something happened, and never while nothing does.

There is one timer at most. A burst of changes makes one flush, and an idle dashboard costs no processor time.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Final

from textual.app import App

from gitdash.tui.later import later

FLUSH_INTERVAL_S: Final = 0.05
"""Between two flushes at least."""
_LEAST_DELAY_S: Final = 0.005


class Flushing:
    """Calls `flush` when it is due."""

    def __init__(self, app: App[int], flush: Callable[[], None]) -> None:
        self._app = app
        self._flush = flush
        self._timer: asyncio.TimerHandle | None = None
        self._due_s = 0.0
        self._flushed_at_s = 0.0

    def wake(self) -> None:
        """Flush soon; may be called from any thread."""
        # The loop may be closed already: then nobody looks any more.
        with contextlib.suppress(RuntimeError):
            self._app.call_later(self.soon)

    def soon(self) -> None:
        """Flush as soon as the last one is long enough ago."""
        left_s = self._flushed_at_s + FLUSH_INTERVAL_S - time.monotonic()
        self.within(max(left_s, _LEAST_DELAY_S))

    def within(self, delay_s: float) -> None:
        """Flush after this time, or earlier if that is due already."""
        due_s = time.monotonic() + delay_s
        if self._timer is not None:
            if self._due_s <= due_s:
                return
            self._timer.cancel()
        self._due_s = due_s
        self._timer = later(self._app, delay_s, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._flushed_at_s = time.monotonic()
        self._flush()
