"""A cheap question back: the same key pressed twice within a moment means yes. Pure."""

from typing import Final

CONFIRM_S: Final = 3.0
"""How long the second press is waited for: as long as the toast that asks for it stays."""


class Confirmation:
    """What was asked last."""

    def __init__(self) -> None:
        self._asked: tuple[object, float] | None = None

    def is_waited_for(self, what: object, at_s: float) -> bool:
        """Tell whether asking for it now would mean yes."""
        return self._asked is not None and self._asked[0] == what and at_s - self._asked[1] <= CONFIRM_S

    def is_given(self, what: object, at_s: float) -> bool:
        """Tell whether the same was asked for a moment ago; if not, it is now. `at_s` is a monotonic time."""
        is_given = self.is_waited_for(what, at_s)
        self._asked = None if is_given else (what, at_s)
        return is_given
