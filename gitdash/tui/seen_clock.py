"""The clock of a screen on which durations are drawn: it runs only while the screen is seen and something goes on."""

from collections.abc import Callable
from typing import Final

from textual.screen import Screen
from textual.timer import Timer

_INTERVAL_S: Final = 1.0


class SeenClock:
    """Calls something each second; its screen starts and stops it as what goes on begins and ends."""

    def __init__(self, screen: Screen[None], tick: Callable[[], object]) -> None:
        self._screen = screen
        self._tick = tick
        self._timer: Timer | None = None

    def run(self, *, is_wanted: bool) -> None:
        """Run if that is wanted and the screen is seen; else stop."""
        if not is_wanted or not self._screen.is_current:
            self.stop()
        elif self._timer is None:
            self._timer = self._screen.set_interval(_INTERVAL_S, self._tick)

    def stop(self) -> None:
        """Nobody sees the clock, or nothing goes on."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
