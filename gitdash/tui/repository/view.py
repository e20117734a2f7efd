"""Everything that the tabs of one repository are composed of, at one moment. Pure."""

import enum
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from gitdash.export.family import Family
from gitdash.model.command import CommandRecord
from gitdash.model.held_packs import HeldPacks
from gitdash.model.ledger import LedgerEntry
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.namespaces import ReferenceNamespaces
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.items import Page
from gitdash.tui.keymap import first_key
from gitdash.tui.repository.pack_order import PackOrder
from gitdash.units import human_age


class Need(enum.Enum):
    """What a tab has to ask for when it is shown."""

    NAMESPACES = enum.auto()
    LOOKUP_TIMES = enum.auto()
    ENTRIES = enum.auto()
    """Of the ledger."""
    COMMANDS = enum.auto()
    """At hand at any time, but it changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryView:
    """One repository as it is known now."""

    summary: RepositorySummary
    report: RepositoryReport | None
    """None until it has been read."""
    now_s: float
    family: Callable[[], Family]
    """Returns those that lend to it and borrow from it."""
    repository_count: int
    """In the whole fleet."""
    namespaces: ReferenceNamespaces | Unreadable | None = None
    """None until they have been counted; so for the next three."""
    lookup_times: LookupTimes | Unreadable | None = None
    held_packs: HeldPacks | Unreadable | None = None
    answers: Sequence[ObjectAnswer] = ()
    """What was looked up here, the latest first."""
    answer_count: int = 0
    """How many answers there were, with those that are kept no more."""
    entries: Sequence[LedgerEntry] | None = None
    """What the ledger says of this repository, the newest first; None until it has been read."""
    commands: Sequence[CommandRecord] = ()
    """What git was asked for this repository, the latest last."""
    monotonic_s: float = 0.0
    """The present on the clock of `commands`, and of the next three."""
    waiting_since_s: Mapping[Need, float] = field(default_factory=dict)
    """What was asked for and has not been answered."""
    answered_at_s: Mapping[Need, float] = field(default_factory=dict)
    """What was answered last."""
    looking_up: Sequence[tuple[str, float]] = ()
    """Ids that were asked for and have not been answered, with the time of asking, the latest first. As typed."""
    chosen: Hashable | None = None
    """The name of the item under the cursor, on pages whose items have names; None if there was none yet."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys for people by the name of their action; without those that have no key."""
    is_busy: bool = False
    """Work that a person asked for is going on here."""
    explains_sizes: bool = False
    """The Overview says why the sizes differ."""
    pack_order: PackOrder = field(default_factory=PackOrder)
    """Of the packs."""

    @property
    def read_ago(self) -> str:
        """How long ago the files were read, such as `45s ago`; before that, `never`."""
        at_s = self.summary.inspected_at_s
        return "never" if at_s is None else ago(self.now_s - at_s)

    def key(self, action: str) -> str:
        """Return the first key of an action; empty if it has none."""
        return first_key(self.keys, action)


def ago(age_s: float) -> str:
    """Return how long ago something was: `now`, `45s ago`."""
    age = human_age(age_s)
    return age if age == "now" else f"{age} ago"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One tab, declared once."""

    name: str
    title: str
    compose: Callable[[RepositoryView, int], Page]
    """Returns the page for a width."""
    help: str
    """One sentence: what it shows."""
    relative: Callable[[RepositoryView, int], bytes | None] | None = None
    """Returns the other repository that an item stands for; None if its items stand for none."""
    commands: Callable[[RepositoryView, int], Sequence[str]] | None = None
    """Returns the commands of an item, or whatever else of it can be copied; None if its items have none."""
    needs: tuple[Need, ...] = ()
    """What is asked for when it is shown."""
