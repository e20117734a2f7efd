"""A source without a survey: tests say what happened, and read what the dashboard asked for."""

from collections.abc import Callable, Iterable, Sequence

from gitdash.model.report import RepositoryReport
from gitdash.tui.source import Changes


class SourceDouble:
    """Implements `FleetSource`; `pending` is handed out by the next `take`."""

    def __init__(self, reports: Iterable[RepositoryReport] = ()) -> None:
        self.reports = {report.repository.path: report for report in reports}
        self.pending: Changes | None = None
        self.started = 0
        self.wake: Callable[[], None] = lambda: None
        self.stopped = 0
        self.prioritised: list[tuple[bytes, ...]] = []
        self.rescanned: list[bytes | None] = []
        self.measured: list[bytes] = []
        self.requested: list[bytes] = []

    def start(self, wake: Callable[[], None]) -> None:
        self.started += 1
        self.wake = wake

    def stop(self) -> None:
        self.stopped += 1

    def take(self) -> Changes | None:
        changes, self.pending = self.pending, None
        return changes

    def prioritise(self, paths: Sequence[bytes]) -> None:
        self.prioritised.append(tuple(paths))

    def rescan(self, path: bytes | None) -> None:
        self.rescanned.append(path)

    def measure(self, path: bytes) -> None:
        self.measured.append(path)

    def request_report(self, path: bytes) -> None:
        self.requested.append(path)
        self.happen().reports[path] = self.reports.get(path)

    def happen(self) -> Changes:
        """The changes that the next `take` hands out."""
        if self.pending is None:
            self.pending = Changes()
            self.wake()
        return self.pending
