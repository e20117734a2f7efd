"""A cheap question back: the same key pressed twice within a moment means yes. Pure."""

from typing import Final

CONFIRM_S: Final = 3.0
"""How long the second press is waited for: as long as the toast that asks for it stays."""


class Confirmation:
    """What was asked last."""

    def __init__(self) -> None:
        self._asked: tuple[object, float] | None = None

    def is_given(self, what: object, at_s: float) -> bool:
        """Tell whether the same was asked for a moment ago; if not, it is now. `at_s` is a monotonic time."""
        asked, self._asked = self._asked, (what, at_s)
        if asked is None or asked[0] != what or at_s - asked[1] > CONFIRM_S:
            return False
        self._asked = None
        return True
