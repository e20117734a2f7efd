"""A key that is pressed again and again: once it has started something, the other presses do nothing else. Pure."""

from typing import Final

PAUSE_S: Final = 0.4
"""Presses that follow one another faster than this are one burst: a key that is held down, or one that is hammered."""


class RepeatedKey:
    """The key that was pressed last. Times are monotonic."""

    def __init__(self) -> None:
        self._last = ""
        self._is_spent = False
        self._at_s = 0.0

    def is_dropped(self, key: str, at_s: float) -> bool:
        """Take one press; returns whether it belongs to a burst that was spent."""
        self._is_spent = self._is_spent and key == self._last and at_s - self._at_s <= PAUSE_S
        self._last, self._at_s = key, at_s
        return self._is_spent

    def spend(self) -> None:
        """Have the presses dropped that follow the last one in its burst."""
        self._is_spent = True
