"""Peak memory of a running gitdash: of its main process, and of it with its workers.

Source: VmHWM of proc_pid_status(5). What processes share, such as libraries, counts in each of them. The git processes
that gitdash starts do not count.
"""

import contextlib
import threading
from types import TracebackType
from typing import Self

import psutil

from tests.support.memory import peak_bytes

MEGABYTE = 1_000_000
_INTERVAL_S = 0.05


class PeakMemory:
    """Watches a process and its workers from a thread, until it is closed."""

    def __init__(self, pid: int) -> None:
        """Watch the process `pid`."""
        self.main_bytes = 0
        """Peak of the main process."""
        self.total_bytes = 0
        """The largest sum of the peaks of those that ran together."""
        self.worker_count = 0
        """Workers in that sum."""
        self._pid = pid
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_closed.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_closed.wait(_INTERVAL_S):
            self._look()

    def _look(self) -> None:
        worker_peaks: list[int] = []
        with contextlib.suppress(psutil.NoSuchProcess, OSError):
            self.main_bytes = max(self.main_bytes, peak_bytes(self._pid))
            for child in psutil.Process(self._pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess, OSError):
                    if any(word.startswith("gitdash.") for word in child.cmdline()):
                        worker_peaks.append(peak_bytes(child.pid))
        total_bytes = self.main_bytes + sum(worker_peaks)
        if total_bytes > self.total_bytes:
            self.total_bytes, self.worker_count = total_bytes, len(worker_peaks)
