"""Jobs: work that is queued, runs and ends, with what was before and after it."""

import enum
from typing import Final

import msgspec

from gitdash.model.ledger import LedgerEntry


class JobState(enum.StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    """A rule of safety spoke against it: nothing was done."""
    SKIPPED = "skipped"
    """Another process was at the same: nothing was done."""
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self not in {JobState.QUEUED, JobState.RUNNING}

    @property
    def is_undone(self) -> bool:
        """Whether what was asked for has not been done, though nobody cancelled it."""
        return self in {JobState.FAILED, JobState.REFUSED, JobState.SKIPPED}


class JobKind(enum.StrEnum):
    """What a job does."""

    SURVEY = "survey"
    """Finds and inspects all repositories below the roots."""
    RESCAN = "rescan"
    """Reads the files of one repository again."""
    MEASURE = "measure"
    """Lets git answer how big one repository is."""
    FETCH = "fetch"
    """Fetches from the remotes of one repository."""
    MAINTAIN = "maintain"
    """Runs the tasks of a plan in one repository."""
    BENCH = "bench"
    """Makes an experiment on one repository."""

    @property
    def changes_repositories(self) -> bool:
        """Whether it may write to a repository of the fleet."""
        return self in {JobKind.FETCH, JobKind.MAINTAIN}


FIRST_STEPS: Final = {JobKind.FETCH: "waiting for the server", JobKind.MAINTAIN: "reading the facts again"}
"""What a job does that has not said so yet."""


class JobFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What a job may change, as it was at one moment; None where it is not known."""

    pack_count: int | None = None
    loose_count: int | None = None
    disk_bytes: int | None = None
    reachable_bytes: int | None = None
    reference_count: int | None = None
    finding_count: int | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One job; a later record with the same number replaces it."""

    number: int
    """Counts up from 1 in the order of asking."""
    kind: JobKind
    path: bytes | None
    """The repository; None if it is about all below the roots."""
    what: str = ""
    """Which remote a fetch is from, or which tasks are run. Printable."""
    host: str | None = None
    """Whom a fetch asks; None for a path on this machine, and for all else. Printable."""
    run: str = ""
    """The same for all that a person has started together; empty where nobody has."""
    part_of: int | None = None
    """Number of the survey for which it is done; None if a person asked for it."""
    state: JobState
    step: str = ""
    """What it does now, a few words. Printable."""
    done_count: int = 0
    known_count: int | None = None
    """Of how many; None if that cannot be told."""
    received_bytes: int | None = None
    """What came with `done_count`; None where nothing is received."""
    may_grow: bool = False
    """More than `known_count` may be found."""
    step_started_at_s: float | None = None
    """When `step` began: `done_count` counts from then on."""
    asked_at_s: float
    started_at_s: float | None = None
    ended_at_s: float | None = None
    before: JobFigures | None = None
    after: JobFigures | None = None
    reason: str | None = None
    """Why it was not done, in one clause. Printable."""
    entries: tuple[LedgerEntry, ...] = ()
    """What the ledger says of it once it has ended: one for each remote or task."""
    is_earlier: bool = False
    """Another gitdash did it before this one: it is known from the ledger."""
    is_settled: bool = False
    """It was not done, and that says nothing any more: it was done since, or a person has taken note of it."""

    @property
    def is_open_change(self) -> bool:
        """Whether it changes a repository now, or will."""
        return self.kind.changes_repositories and not self.state.has_ended

    @property
    def is_unsettled(self) -> bool:
        """Whether it was not done, and that still counts."""
        return self.state.is_undone and not self.is_settled
