"""Ends a served dashboard when nobody is there any more for whom it draws: its server has ended, or let go of it.

What tells it, each for the case that another one fails: the end of its stdin or a broken stdout (the driver calls
`gone`), the signal that Linux sends when the parent dies, and a parent that is another one now. It is asked to leave by
SIGTERM, which Textual and gitdash hear, and killed if it does not: a program that cannot draw may fail at leaving, too,
again and again. Its own watchdog then ends the processes of git. Source: prctl(2) PR_SET_PDEATHSIG, getppid(2).
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
from typing import Final

from typing_extensions import override

_PR_SET_PDEATHSIG: Final = 1
_POLL_INTERVAL_S: Final = 1.0
_GRACE_S: Final = 2.5
"""A dashboard with four processes of git leaves within a second."""


class ParentWatch(threading.Thread):
    """Waits for the end of the parent, or for `gone`."""

    def __init__(self, parent_pid: int) -> None:
        """Take the parent's number as it was before anything could have happened to it."""
        super().__init__(name="parent-watch", daemon=True)
        self._parent_pid = parent_pid
        self._is_gone = threading.Event()

    def gone(self) -> None:
        """Say that nobody is there any more; for any thread."""
        self._is_gone.set()

    @override
    def run(self) -> None:
        """Wait, ask for an end, and make an end."""
        while os.getppid() == self._parent_pid and not self._is_gone.wait(_POLL_INTERVAL_S):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        # the interpreter takes this thread with it when it ends
        threading.Event().wait(_GRACE_S)
        os.kill(os.getpid(), signal.SIGKILL)


def ask_for_signal_at_parents_death() -> None:
    """Have Linux send SIGTERM when the thread that started us ends; elsewhere nothing happens."""
    if sys.platform == "linux":
        # a C library without prctl, or a system that forbids it: the other ways are left
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
