"""Ends the processes that we leave behind if we are killed: nobody else would, and git may walk for ten minutes.

A shell in a session of its own reads from a pipe which process groups live. Only we hold the other end, so it comes to
the end of the file when we die, however that is; then it ends what is left: SIGTERM, a grace, SIGKILL. One for all
calls: a process for each would double their cost, and leave zombies where nobody reaps orphans. `PR_SET_PDEATHSIG` is
tied to the thread that started the child, and a shell cannot set it.

What remains: a process that left its group by setsid(2), one that is started in the moment before it is told of, and
all of them if the watchdog is killed as well. Source: pipe(7), kill(2), sh(1).
"""

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Final

COMMAND: Final = (
    "/bin/sh",
    "-c",
    """
    trap '' HUP INT TERM
    cd /
    live=' '
    while read -r sign group; do
        case $sign$live in
            +*) live="$live$group " ;;
            -*" $group "*) live="${live%% "$group" *} ${live#* "$group" }" ;;
        esac
    done
    for group in $live; do kill -s TERM -- "-$group"; done
    for second in 1 2 3 4; do
        left=
        for group in $live; do kill -s 0 -- "-$group" && left=1; done
        [ -n "$left" ] || exit 0
        sleep 1
    done
    for group in $live; do kill -s KILL -- "-$group"; done
    """,
)
"""The grace is that of `groups`: git may remove its lock files."""


class Watchdog:
    """Tells the shell which groups live, and starts it where that is needed; for any thread."""

    def __init__(self, start: Callable[[], int]) -> None:
        """Take how to start it: `start` runs COMMAND and returns the writing end of its stdin."""
        self._start = start
        self._lock = threading.Lock()
        self._live: set[int] = set()
        self._pipe: int | None = None

    def prepare(self) -> None:
        """Start it, so that it can be told of a process as soon as there is one."""
        with self._lock:
            if self._pipe is None:
                self._start_anew()

    def add(self, group: int) -> None:
        """End this group if we die."""
        with self._lock:
            self._live.add(group)
            self._tell(b"+ %d\n" % group)

    def remove(self, group: int) -> None:
        """Leave it alone from now on; before its leader is reaped, so that its number cannot be another's yet."""
        with self._lock:
            if group in self._live:
                self._live.remove(group)
                self._tell(b"- %d\n" % group)

    def _tell(self, line: bytes) -> None:
        if self._pipe is not None:
            try:
                os.write(self._pipe, line)
            except OSError:
                # somebody ended it: the next one is told of all that live
                with contextlib.suppress(OSError):
                    os.close(self._pipe)
                self._pipe = None
        if self._pipe is None and self._live:
            self._start_anew()

    def _start_anew(self) -> None:
        # what it does is a precaution: without it all works as before
        with contextlib.suppress(OSError, NotImplementedError):
            self._pipe = self._start()
            os.write(self._pipe, b"".join(b"+ %d\n" % group for group in sorted(self._live)))
