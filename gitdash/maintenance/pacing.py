"""Pacing: how soon after one action the next may start on the same host.

A server that refuses for now is asked more and more rarely, and trusted again step by step. There is no random part:
one gitdash is one client, and its actions are spaced already. Pure: the time is an argument.
"""

from dataclasses import dataclass
from typing import Final

LONGEST_PAUSE_S: Final = 60.0
"""A server that is back is noticed within a minute."""
FIRST_BACK_OFF_S: Final = 0.2
"""What the pause becomes at least when a host refuses, so that doubling has something to double."""


@dataclass(slots=True, kw_only=True)
class HostPace:
    """The pause between the starts of two actions on one host."""

    usual_pause_s: float
    """While the host refuses nothing."""
    _pause_s: float | None = None
    _next_start_s: float = float("-inf")

    @property
    def pause_s(self) -> float:
        """The pause that holds now."""
        return self.usual_pause_s if self._pause_s is None else self._pause_s

    def delay_s(self, now_s: float) -> float:
        """Return how long the next action must wait; 0 if it may start."""
        return max(self._next_start_s - now_s, 0.0)

    def started(self, now_s: float) -> None:
        """Note that an action starts."""
        self._next_start_s = now_s + self.pause_s

    def refused(self, now_s: float) -> None:
        """Note that the host refused for now: twice the pause, from now on."""
        self._pause_s = min(max(2 * self.pause_s, FIRST_BACK_OFF_S), max(LONGEST_PAUSE_S, self.usual_pause_s))
        self._next_start_s = max(self._next_start_s, now_s + self._pause_s)

    def succeeded(self) -> None:
        """Note that an action went well: half the pause, down to the usual one."""
        if self._pause_s is not None:
            halved_s = self._pause_s / 2
            self._pause_s = halved_s if halved_s > max(self.usual_pause_s, FIRST_BACK_OFF_S / 2) else None
