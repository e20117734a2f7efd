"""Where the dashboard gets its rows from: what it needs of a running survey, and nothing else.

The implementation over `gitdash.survey` is in `feed`. Work goes on in threads of the source, which wakes the dashboard
when something has happened; soon after, `take` gives the latest state of each changed row, however often it changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from gitdash.model.command import CommandRecord
from gitdash.model.experiment import ExperimentKind
from gitdash.model.held_packs import HeldPacks
from gitdash.model.job import Job
from gitdash.model.ledger import LedgerEntry
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.namespaces import ReferenceNamespaces
from gitdash.model.plan import Plan
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import NotRepository, Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.model.task import Task
from gitdash.survey.events import Waiting
from gitdash.tui.experiments import ExperimentChoice, ExperimentUnderWay, LabAnswer

if TYPE_CHECKING:
    from gitdash.maintenance.fetching.options import FetchOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyProgress:
    """How far the survey is."""

    step: str
    """What is counted: `inspected` or `measured`; `surveyed` when all is done, `cancelled` when it is not."""
    cancelled_step: str = ""
    """What was counted when it was cancelled."""
    done_count: int
    known_count: int
    complete: bool
    """`known_count` will not grow."""
    elapsed_s: float
    """Since this step began; of the whole survey when all is done."""
    other_count: int = 0
    """What looked like a repository and is none, or could not be searched."""
    at_s: float | None = None
    """When the survey ended."""
    waiting: Waiting | None = None
    """What has been silent for seconds."""


@dataclass(slots=True, kw_only=True)
class Changes:
    """What happened since the last look."""

    summaries: dict[bytes, RepositorySummary] = field(default_factory=dict)
    """By path, in the order of the first change."""
    reports: dict[bytes, RepositoryReport | None] = field(default_factory=dict)
    """Answers to `request_report`; None if there is none yet."""
    forgotten: list[bytes] = field(default_factory=list)
    """Paths that are gone from disk."""
    busy: dict[bytes, bool] = field(default_factory=dict)
    """Paths on which work asked for by a person began (True) or ended."""
    progress: SurveyProgress | None = None
    skipped: tuple[NotRepository, ...] | None = None
    """All that this survey has met so far that looked like a repository and is none; None if that is unchanged."""
    namespaces: dict[bytes, ReferenceNamespaces | Unreadable] = field(default_factory=dict)
    """Answers to `request_namespaces`."""
    lookup_times: dict[bytes, LookupTimes | Unreadable] = field(default_factory=dict)
    """Answers to `request_lookup_times`."""
    held_packs: dict[bytes, HeldPacks | Unreadable] = field(default_factory=dict)
    """Who holds deleted packs, looked for whenever look-ups are timed."""
    objects: dict[bytes, list[ObjectAnswer]] = field(default_factory=dict)
    """Answers to `look_up`, in their order."""
    jobs: dict[int, Job] = field(default_factory=dict)
    """Jobs that are other than before, by number."""
    forgotten_jobs: list[int] = field(default_factory=list)
    """Numbers of jobs that ended and are of no more interest."""
    plans: dict[bytes, Plan | Unreadable] = field(default_factory=dict)
    """Answers to `request_plans`."""
    entries: dict[bytes, tuple[LedgerEntry, ...]] = field(default_factory=dict)
    """Answers to `request_entries`, the newest first."""
    experiments: dict[bytes, LabAnswer | Unreadable] = field(default_factory=dict)
    """Answers to `request_experiments`, and to each experiment that is over."""
    experiment_runs: dict[tuple[bytes, ExperimentKind], ExperimentUnderWay] = field(default_factory=dict)
    """Experiments that are other than before: asked for, begun, one run further, or over."""
    notices: list[str] = field(default_factory=list)
    """Sentences for people. Printable."""
    failure: Exception | None = None
    """The survey cannot go on."""


class FleetSource(Protocol):
    """A survey as the dashboard drives it. No method waits."""

    def start(self, wake: Callable[[], None]) -> None:
        """Begin in the background.

        `wake` is called, from any thread, when something has happened and `take` would have it: once, until the next
        `take`. It does not wait either.
        """

    def stop(self) -> None:
        """End all work; processes that were started for it are gone when it returns, within a second."""

    def take(self) -> Changes | None:
        """Return what happened since the last call; None if nothing did."""

    def prioritise(self, paths: Sequence[bytes]) -> None:
        """Measure these first."""

    def rescan(self, path: bytes | None) -> None:
        """Look at one repository again, or at everything below the roots if `path` is None."""

    def measure(self, path: bytes) -> None:
        """Let git measure the reachable sizes of one repository now."""

    def request_report(self, path: bytes) -> None:
        """Ask for all that is known of a repository; a later `take` has it. The latest few requests are answered."""

    def request_namespaces(self, path: bytes) -> None:
        """Have the references of a repository counted."""

    def request_lookup_times(self, path: bytes) -> None:
        """Open a reader of a repository's objects and have it timed."""

    def look_up(self, path: bytes, text: str) -> None:
        """Ask for an object by its id or the beginning of it."""

    def close_readers(self, path: bytes) -> None:
        """The repository is no longer in view: its reader may be closed."""

    def commands(self, path: bytes) -> Sequence[CommandRecord]:
        """Return what git was asked for a repository, the latest last."""

    def commands_version(self, path: bytes) -> int:
        """Return a number that grows whenever `commands` has something new."""

    def request_plans(self, paths: Sequence[bytes], tasks: Sequence[Task] | None) -> None:
        """Have a plan made for each repository, from its findings if `tasks` is None; its facts are read anew."""

    def run_plans(self, plans: Sequence[Plan], *, confirmed_name: str | None = None) -> None:
        """Queue what may be run of each plan; a plan that reclaims needs the name that a person has typed."""

    def fetch(self, paths: Sequence[bytes], options: "FetchOptions | None" = None) -> None:
        """Queue a fetch for each repository; None is what the configuration says."""

    def request_entries(self, path: bytes) -> None:
        """Have the ledger read for a repository."""

    def request_experiments(self, path: bytes) -> None:
        """Have it told what can be compared in a repository, and what was, there and elsewhere."""

    def start_experiment(self, path: bytes, kind: ExperimentKind, choice: ExperimentChoice) -> None:
        """Queue an experiment; it is a job."""

    def cancel_job(self, number: int) -> None:
        """End a job that is queued or runs; take note of one that failed, which is counted no longer."""

    def retry_job(self, number: int) -> None:
        """Queue a job that has ended once more."""
