"""Says what keeps the server from answering: one sentence, and the same one again only after a while.

asyncio tells of each connection that it cannot accept, a hundred times a second and with a traceback. A fault of ours
keeps its traceback. Source: accept(2) "Errors", `asyncio.selector_events` of CPython 3.11.
"""

import asyncio
import errno
import os
import time
from collections.abc import Callable
from typing import Any, Final

_INTERVAL_S: Final = 60.0
_SHORTAGES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""What the system has too little of for one more connection; it may have enough again soon."""


class Trouble:
    """What was said, and when."""

    def __init__(self, say: Callable[[str], None], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._monotonic = monotonic
        self._said_at_s: dict[str, float] = {}

    def say(self, sentence: str) -> None:
        """Say a sentence, unless it was said a short while ago."""
        now_s = self._monotonic()
        said_at_s = self._said_at_s.get(sentence)
        if said_at_s is None or now_s - said_at_s >= _INTERVAL_S:
            self._said_at_s[sentence] = now_s
            self._say(sentence)

    def heard(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Hear of what went wrong in an event loop, as its exception handler."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _SHORTAGES:
            reason = os.strerror(error.errno).lower()
            self.say(f"gitdash: a browser gets no answer for now: {reason}")
        else:
            loop.default_exception_handler(context)
