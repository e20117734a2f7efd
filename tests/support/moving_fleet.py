"""The dashboard over a made-up fleet that keeps changing: `python -m tests.support.moving_fleet ROWS UPDATES_A_SECOND`.

For measuring how long a key takes to be painted, in tests and in benchmarks, without repositories on disk.
"""

import sys
import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from gitdash.model.summary import RepositorySummary
from gitdash.tui.source import Changes, SurveyProgress
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries, many_summaries
from tests.tui.source_double import SourceDouble


class MovingSource(SourceDouble):
    """Changes rows in a thread, evenly over the seconds, each time in another figure."""

    def __init__(self, summaries: Sequence[RepositorySummary], updates_per_s: int) -> None:
        super().__init__(fixed_reports())
        self._summaries = list(summaries)
        self._interval_s = 1 / updates_per_s if updates_per_s else None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._move, daemon=True)

    def start(self, wake: Callable[[], None]) -> None:
        super().start(wake)
        self._thread.start()

    def stop(self) -> None:
        super().stop()
        self._stop.set()

    def take(self) -> Changes | None:
        with self._lock:
            return super().take()

    def request_report(self, path: bytes) -> None:
        with self._lock:
            super().request_report(path)

    def _move(self) -> None:
        began_s = time.monotonic()
        done = 0
        while self._interval_s is not None and not self._stop.wait(0.005):
            due = int((time.monotonic() - began_s) / self._interval_s)
            with self._lock:
                while done < due:
                    self._change(done)
                    done += 1
                self.happen().progress = SurveyProgress(
                    step="inspected",
                    done_count=done,
                    known_count=len(self._summaries),
                    complete=True,
                    elapsed_s=time.monotonic() - began_s,
                )

    def _change(self, number: int) -> None:
        position = number * 7_919 % len(self._summaries)
        row = self._summaries[position]
        size = row.disk_bytes if isinstance(row.disk_bytes, int) else 0
        row = msgspec.structs.replace(row, disk_bytes=size + 4_096, pack_count=number % 90)
        self._summaries[position] = row
        self.happen().summaries[row.path] = row


def main(row_count: int, updates_per_s: int) -> int:
    """Run the dashboard; 0 rows mean the fixed fleet with its hostile names."""
    from gitdash.tui.dashboard import Dashboard
    from gitdash.tui.terminal import TerminalDriver

    summaries = many_summaries(row_count) if row_count else fixed_summaries()
    source = MovingSource(summaries, updates_per_s)
    app = Dashboard([ROOT], summaries, source, lambda: NOW_S)
    app.driver_class = TerminalDriver
    code = app.run()
    source.stop()
    return 1 if code is None else code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
