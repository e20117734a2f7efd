"""Everything that the tabs of one repository are composed of, at one moment. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gitdash.model.command import CommandRecord
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.namespaces import ReferenceNamespaces
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.items import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryView:
    """One repository as it is known now."""

    summary: RepositorySummary
    report: RepositoryReport | None
    """None until it has been read."""
    now_s: float
    fleet: Callable[[], Sequence[RepositorySummary]]
    """Returns all rows, for those that lend and borrow."""
    namespaces: ReferenceNamespaces | Unreadable | None = None
    """None until they have been counted; so for the next two."""
    lookup_times: LookupTimes | Unreadable | None = None
    answers: Sequence[ObjectAnswer] = ()
    """What was looked up here, the latest first."""
    commands: Sequence[CommandRecord] = ()
    """What git was asked for this repository, the latest last."""
    monotonic_s: float = 0.0
    """The present on the clock of `commands`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One tab, declared once."""

    name: str
    title: str
    compose: Callable[[RepositoryView, int], Page]
    """Returns the page for a width."""
    help: str
    """One sentence: what it shows."""
