"""Process groups that are alive, and how they end: SIGTERM to all of the group, a grace, SIGKILL, reaping.

git removes its lock files on SIGTERM, and its helpers (`git-remote-http`, ssh) survive a signal to their parent alone.
A group is signalled only while its leader is not reaped, so that its number cannot belong to somebody else. Source:
waitid(2), kill(2), setsid(2). A process that left the group by setsid(2) is not found.
"""

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import Final

from gitdash.gitcmd.watchdog import Watchdog

GRACE_S: Final = 4.0
"""How long git may take to remove its lock files after SIGTERM."""
KILL_WAIT_S: Final = 2.0
"""How long a killed process may take to end; one that hangs in the kernel is left to init."""
_POLL_INTERVAL_S: Final = 0.02

_lock: Final = threading.RLock()
"""Re-entrant: a signal handler may run in the thread that holds it."""
_live: Final[dict[int, "ProcessGroup"]] = {}


class ProcessGroup:
    """The session of one child, which leads it or stands for who did. Its owner calls `end` once, whatever happened."""

    __slots__ = ("_before_stop", "_exit_descriptor", "_number", "_watchdog", "pid", "stopped")

    def __init__(
        self,
        pid: int,
        watchdog: Watchdog,
        *,
        number: int | None = None,
        before_stop: Callable[[int], None] | None = None,
    ) -> None:
        """Take the process that is waited for; `number` is that of the group, if another led it and is gone.

        `before_stop` gets it before each SIGTERM, perhaps in a signal handler: it takes no lock, and raises nothing.
        """
        self.pid = pid
        self._number = pid if number is None else number
        self._watchdog = watchdog
        self._before_stop = before_stop
        watchdog.add(self._number)
        self.stopped = False
        """Ended by `stop_all`, and not by its owner."""
        self._exit_descriptor = _open_exit_descriptor(pid)
        with _lock:
            _live[pid] = self

    @property
    def exit_descriptor(self) -> int | None:
        """A descriptor that becomes readable when the leader ends; None where the system has none."""
        return self._exit_descriptor

    def has_ended(self) -> bool:
        """Whether the leader has ended; it is not reaped by this."""
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def wait(self, time_limit_s: float) -> bool:
        """Wait for the leader to end; return whether it did."""
        deadline_s = time.monotonic() + time_limit_s
        while not self.has_ended():
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                return False
            if self._exit_descriptor is None:
                time.sleep(min(_POLL_INTERVAL_S, left_s))
            else:
                poll = select.poll()
                poll.register(self._exit_descriptor, select.POLLIN)
                poll.poll(left_s * 1000)
        return True

    def signal(self, number: signal.Signals) -> None:
        """Signal every process of the group, unless the leader is reaped already."""
        with _lock:
            if _live.get(self.pid) is self:
                if number is signal.SIGTERM and self._before_stop is not None:
                    self._before_stop(self._number)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._number, number)

    def end(self, grace_s: float = GRACE_S) -> None:
        """End what is left of the group. After this the leader may be reaped; a second call does nothing."""
        if not self.has_ended():
            self.signal(signal.SIGTERM)
            self.wait(grace_s)
        self.signal(signal.SIGKILL)
        self.wait(KILL_WAIT_S)
        self._watchdog.remove(self._number)
        with _lock:
            if _live.get(self.pid) is self:
                del _live[self.pid]
            if self._exit_descriptor is not None:
                os.close(self._exit_descriptor)
                self._exit_descriptor = None


def stop_all(grace_s: float) -> None:
    """End every live group: SIGTERM, `grace_s`, SIGKILL. Their owners reap them.

    For any thread and for signal handlers, again and again. A group that starts meanwhile is ended, too.
    """
    deadline_s = time.monotonic() + grace_s
    while any(not group.has_ended() for group in _all()) and time.monotonic() < deadline_s:
        for group in _all():
            if not group.stopped:
                group.stopped = True
                group.signal(signal.SIGTERM)
        time.sleep(_POLL_INTERVAL_S)
    for group in _all():
        group.stopped = True
        group.signal(signal.SIGKILL)
    for group in _all():
        group.wait(grace_s)


def _all() -> list[ProcessGroup]:
    with _lock:
        return list(_live.values())


def _open_exit_descriptor(pid: int) -> int | None:
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
