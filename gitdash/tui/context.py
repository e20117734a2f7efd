"""What all screens share: the fleet, where changes come from, what a person chose, and what is known meanwhile."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.model.experiment import ExperimentKind
from gitdash.model.finding import Finding
from gitdash.model.job import Job
from gitdash.model.repository import NotRepository
from gitdash.model.summary import RepositorySummary
from gitdash.tui.clock import Clock
from gitdash.tui.experiments import ExperimentUnderWay
from gitdash.tui.hand_over import HandOver
from gitdash.tui.keymap import first_key
from gitdash.tui.saved_views import SavedViews
from gitdash.tui.source import Changes, FleetSource, SurveyProgress
from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.live import LiveFleet


class OpensRepository(Protocol):
    """Opens the screen of a repository."""

    def __call__(self, path: bytes, *, tab: str = "overview") -> None:
        """Show the tab of this name."""


class OpensPlans(Protocol):
    """Opens the screen of plans."""

    def __call__(self, paths: Sequence[bytes], *, finding: Finding | None = None) -> None:
        """Show what would be done to repositories; the cursor begins on what the finding wants done."""


@dataclass(slots=True, kw_only=True)
class Context:
    """One dashboard."""

    roots: Sequence[bytes]
    fleet: Fleet
    live: LiveFleet
    source: FleetSource
    clock: Clock
    shown_keys: Mapping[str, str]
    """Keys for people by the name of their action; without those that have no key."""
    open_repository: OpensRepository
    open_plans: OpensPlans
    open_lab: Callable[[bytes], None]
    """Opens the screen of experiments on a repository."""
    open_experiment: Callable[[bytes, ExperimentKind], None]
    """Opens the screen of one experiment on a repository."""
    show_jobs: Callable[[int | None], None]
    """Opens the screen of jobs; the cursor goes to the first fetch or maintenance after this job, None for the last."""
    hand_over: HandOver
    """Starts other programs in repositories."""
    views: SavedViews
    remember: Callable[[], None]
    """Has what a person has chosen written, if it is other than before."""
    read_only: bool = False
    """Nothing may be changed, and no other program started."""
    fetch_options: FetchOptions = field(default_factory=FetchOptions)
    """What the configuration says of fetches."""
    jobs: dict[int, Job] = field(default_factory=dict)
    """By number, in the order of asking."""
    forgotten_job_count: int = 0
    """Jobs that ended and are not in `jobs` any more."""
    experiments: dict[tuple[bytes, ExperimentKind], ExperimentUnderWay] = field(default_factory=dict)
    """The last of each kind on each repository that was asked for here."""
    progress: SurveyProgress | None = None
    monotonic: Callable[[], float] = time.monotonic
    """The clock of durations."""
    skipped: tuple[NotRepository, ...] = ()
    """What the survey met that is no repository."""

    def key(self, action: str) -> str:
        """Return the first key of an action; empty if it has none."""
        return first_key(self.shown_keys, action)

    def take_in(self, changes: Changes) -> None:
        """Remember what concerns no single row."""
        self.jobs.update(changes.jobs)
        self.experiments.update(changes.experiment_runs)
        for number in changes.forgotten_jobs:
            self.forgotten_job_count += self.jobs.pop(number, None) is not None
        if changes.skipped is not None:
            self.skipped = changes.skipped
        if changes.progress is not None:
            self.progress = changes.progress

    def is_busy(self, path: bytes) -> bool:
        """Tell whether work that a person asked for is going on in a repository."""
        number = self.fleet.number_of(path)
        return number is not None and self.fleet.rows[number].busy

    def summary_of(self, path: bytes) -> RepositorySummary | None:
        """Return a repository's row; None if it is not in the fleet."""
        number = self.fleet.number_of(path)
        return None if number is None else self.fleet.rows[number].summary
