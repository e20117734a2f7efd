"""What a survey says while it runs: plain records, one class for each kind of event.

It does not decide how events are shown; both front ends read the same stream.
"""

from dataclasses import dataclass

from gitdash.model.report import RepositoryReport, Totals
from gitdash.model.repository import NotRepository, Repository
from gitdash.model.summary import RepositorySummary


@dataclass(frozen=True, slots=True)
class Discovered:
    """Discovery found a repository; its report follows."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class NotARepository:
    """Discovery met something that looked like a repository, or a folder that it could not search."""

    candidate: NotRepository


@dataclass(frozen=True, slots=True)
class Report:
    """All that is known of one repository now; a later report of the same path replaces it."""

    report: RepositoryReport
    summary: RepositorySummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the survey is."""

    step: str
    """What is counted: `inspected` or `measured`."""
    done_count: int
    known_count: int
    """How many are known so far; grows while discovery runs."""
    complete: bool
    """Discovery has ended: `known_count` will not grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Nothing has come from one place for seconds: its file system may not answer. Comes each second while it lasts."""

    step: str
    """`searching` or `inspecting`."""
    path: bytes
    for_s: float


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about the survey as a whole that a person should read. Printable."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The last event of a survey that was not cancelled."""

    totals: Totals
    reused_count: int
    """Repositories whose stored inspection was still true."""
    gone_paths: tuple[bytes, ...]
    """Repositories that were known below the roots and are there no more."""
    silent_paths: tuple[bytes, ...]
    """Folders that did not answer: what was known below them may be there still."""
    elapsed_s: float


SurveyEvent = Discovered | NotARepository | Report | Progress | Waiting | Notice | Finished
