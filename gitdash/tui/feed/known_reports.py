"""What is known of single repositories: stored reports, read one after the other for whoever looks at them.

Reports are read from the state file. Where there is none, or none that can be written, they are kept here.
"""

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from gitdash.model.report import RepositoryReport
from gitdash.tui.feed.figures import with_sizes_of_this_run
from gitdash.tui.source import Changes

if TYPE_CHECKING:
    from gitdash.history.store import History

_MOST_WANTED: Final = 4
"""Reports that wait to be read: that of the cursor's row, and of screens that are open."""


class KnownReports:
    """Keeps and reads reports; for any thread."""

    def __init__(
        self,
        *,
        history: "History | None",
        started_at_s: float,
        tell: Callable[[Callable[[Changes], None]], None],
        cancel: threading.Event,
    ) -> None:
        """Take where reports are stored.

        Sizes measured since `started_at_s` are said to be of this run; `tell` hands out the record that an answer is
        written to; `cancel` ends all for good.
        """
        self._history = history
        self._started_at_s = started_at_s
        self._tell = tell
        self._cancel = cancel
        self._asked = threading.Condition()
        self._wanted: dict[bytes, None] = {}
        """In the order of asking, the latest last."""
        self._encoded: dict[bytes, bytes] = {}
        """Reports by path that the state file does not keep. Encoded, they take a tenth of the memory."""

    def keep(self, report: RepositoryReport) -> None:
        """Take a report that was just made."""
        if self._history is None or self._history.problem is not None:
            self._encoded[report.repository.path] = msgspec.msgpack.encode(report)

    def report(self, path: bytes) -> RepositoryReport | None:
        """Return the latest report of a repository; None if nothing is known of it."""
        encoded = self._encoded.get(path)
        if encoded is not None:
            report: RepositoryReport | None = msgspec.msgpack.decode(encoded, type=RepositoryReport)
        else:
            report = None if self._history is None else self._history.report(path)
        return None if report is None else with_sizes_of_this_run(report, self._started_at_s)

    def request(self, path: bytes) -> None:
        """Have a report read. The latest few requests are answered."""
        with self._asked:
            self._wanted.pop(path, None)
            self._wanted[path] = None
            while len(self._wanted) > _MOST_WANTED:
                del self._wanted[next(iter(self._wanted))]
            self._asked.notify_all()

    def wake(self) -> None:
        """Make a waiting `serve` notice that it is cancelled."""
        with self._asked:
            self._asked.notify_all()

    def serve(self) -> None:
        """Read reports as they are asked for, the latest first, until all is over."""
        while (path := self._next()) is not None:
            answer = {path: self.report(path)}
            self._tell(partial(_write, answer))

    def _next(self) -> bytes | None:
        with self._asked:
            self._asked.wait_for(lambda: bool(self._wanted) or self._cancel.is_set())
            if self._cancel.is_set():
                return None
            path, _ = self._wanted.popitem()
            return path


def _write(answer: Mapping[bytes, RepositoryReport | None], changes: Changes) -> None:
    changes.reports.update(answer)
