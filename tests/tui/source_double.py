"""A source without a survey: tests say what happened, and read what the dashboard asked for."""

from collections.abc import Callable, Iterable, Sequence

from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.model.command import CommandRecord
from gitdash.model.experiment import ExperimentKind
from gitdash.model.plan import Plan
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task
from gitdash.tui.experiments import ExperimentChoice
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
        self.counted: list[bytes] = []
        self.timed: list[bytes] = []
        self.looked_up: list[tuple[bytes, str]] = []
        self.closed: list[bytes] = []
        self.commands_by_path: dict[bytes, Sequence[CommandRecord]] = {}
        self.planned: list[tuple[tuple[bytes, ...], tuple[Task, ...] | None]] = []
        self.run: list[tuple[tuple[Plan, ...], str | None]] = []
        self.fetched: list[tuple[tuple[bytes, ...], FetchOptions | None]] = []
        self.entries_asked: list[bytes] = []
        self.experiments_asked: list[bytes] = []
        self.experiments_started: list[tuple[bytes, ExperimentKind, ExperimentChoice]] = []
        self.cancelled: list[int] = []
        self.retried: list[int] = []

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

    def request_namespaces(self, path: bytes) -> None:
        self.counted.append(path)

    def request_lookup_times(self, path: bytes) -> None:
        self.timed.append(path)

    def look_up(self, path: bytes, text: str) -> None:
        self.looked_up.append((path, text))

    def close_readers(self, path: bytes) -> None:
        self.closed.append(path)

    def commands(self, path: bytes) -> Sequence[CommandRecord]:
        return self.commands_by_path.get(path, ())

    def commands_version(self, path: bytes) -> int:
        return len(self.commands(path))

    def request_plans(self, paths: Sequence[bytes], tasks: Sequence[Task] | None) -> None:
        self.planned.append((tuple(paths), None if tasks is None else tuple(tasks)))

    def run_plans(self, plans: Sequence[Plan], *, confirmed_name: str | None = None) -> None:
        self.run.append((tuple(plans), confirmed_name))

    def fetch(self, paths: Sequence[bytes], options: FetchOptions | None = None) -> None:
        self.fetched.append((tuple(paths), options))

    def request_entries(self, path: bytes) -> None:
        self.entries_asked.append(path)

    def request_experiments(self, path: bytes) -> None:
        self.experiments_asked.append(path)

    def start_experiment(self, path: bytes, kind: ExperimentKind, choice: ExperimentChoice) -> None:
        self.experiments_started.append((path, kind, choice))

    def cancel_job(self, number: int) -> None:
        self.cancelled.append(number)

    def retry_job(self, number: int) -> None:
        self.retried.append(number)
