"""Drops keys that come in faster than anybody types, such as a large text that is pasted as if it were typed.

Each key is drawn in its turn: behind 200,000 of them nobody hears the one that quits. Terminals that put a paste in
brackets, as nearly all do, send one message for it, which is none of these.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from textual import events
from textual.driver import Driver
from textual.message import Message
from typing_extensions import override

from gitdash.tui.text_input import LONGEST_TEXT

KEYS_AT_ONCE: Final = LONGEST_TEXT
_KEYS_PER_SECOND: Final = 200.0
"""Keyboards repeat a key that is held down 60 times a second at most."""
_SENTENCE: Final = "More keys came at once than anybody types: the rest was dropped."


class KeyAllowance:
    """How many keys may come at this moment."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._left = float(KEYS_AT_ONCE)
        self._at_s = monotonic()

    def takes(self) -> bool:
        """Tell whether one more key is taken now."""
        now_s = self._monotonic()
        self._left = min(self._left + (now_s - self._at_s) * _KEYS_PER_SECOND, float(KEYS_AT_ONCE))
        self._at_s = now_s
        if self._left < 1:
            return False
        self._left -= 1
        return True


class WithoutFlood(Driver):
    """A driver that sends no more keys than can be typed; a mixin."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - Textual's own
        super().__init__(*arguments, **named)
        self._characters = KeyAllowance()
        self._other_keys = KeyAllowance()
        """For themselves: the key that quits is heard behind any text."""
        self._has_dropped = False

    @override
    def send_message(self, message: Message) -> None:
        """Send it, unless it is one key too many; what is dropped is said once."""
        if not isinstance(message, events.Key) or self._takes(message):
            super().send_message(message)
        elif not self._has_dropped:
            self._has_dropped = True
            self._app.call_later(self._app.notify, _SENTENCE, severity="warning", markup=False)

    def _takes(self, key: events.Key) -> bool:
        return (self._characters if key.is_printable else self._other_keys).takes()
