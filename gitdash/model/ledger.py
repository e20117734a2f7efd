"""The ledger: what each fetch, maintenance task and heavy measurement did, and how it ended.

Times `*_at_s` are seconds since the epoch, durations end in `elapsed_s`. Text is printable and has credentials masked.
"""

import enum
from typing import Final

import msgspec

from gitdash.model.task import Task


class Outcome(enum.StrEnum):
    """How an action stands, or how it ended."""

    RUNNING = "running"
    DONE = "done"
    NOTHING_TO_DO = "nothing to do"
    SKIPPED = "skipped"
    """Another process was at the same: nothing was done."""
    REFUSED = "refused"
    """A rule of safety spoke against it: nothing was done."""
    FAILED = "failed"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    CUT_OFF = "cut off"
    """gitdash itself ended, or was killed, in the middle of it."""

    @property
    def is_good(self) -> bool:
        """Whether it went as asked."""
        return self in {Outcome.DONE, Outcome.NOTHING_TO_DO}


class Reason(enum.StrEnum):
    """Why something did not go as asked; reports are grouped by it."""

    AUTHENTICATION = "authentication"
    PASSPHRASE = "needs a passphrase"  # noqa: S105 - a reason
    PASSWORD = "needs a password"  # noqa: S105 - a reason
    HOST_KEY = "host key"
    NETWORK = "network"
    SERVER_REFUSED = "server refused"
    """It has too many connections, or is told to let nobody in for now."""
    NOT_FOUND = "not found"
    """No such repository, remote or reference there."""
    REJECTED = "references rejected"
    """Some references could not be updated."""
    DISK_FULL = "disk full"
    LOCK_HELD = "lock held"
    SAME_UNDER_WAY = "already under way"
    """gitdash waits to do the same there, or does it now."""
    CORRUPT = "corrupt"
    REFUSED = "refused"
    """By a rule of gitdash's own."""
    PERMISSION = "permission denied"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    CUT_OFF = "cut off"
    VANISHED = "vanished"
    """The repository is not there any more."""
    OTHER = "other"


NO_BITMAP: Final = "none"


class StoreFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What an action may change, as it was at one moment; None where it is not known."""

    pack_count: int | None = None
    pack_bytes: int | None = None
    loose_count: int | None = None
    loose_bytes: int | None = None
    disk_bytes: int | None = None
    garbage_bytes: int | None = None
    reference_count: int | None = None
    bitmap: str | None = None
    """`pack`, `midx`, or `none` where there is none."""
    finding_count: int | None = None


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a fetch, from Trace2."""

    name: str
    """`connect`, `negotiation`, `receive`, `index`, `connectivity check`, `other`."""
    elapsed_s: float


class ReferenceChange(msgspec.Struct, frozen=True, kw_only=True):
    """One reference that a fetch changed, or would change."""

    name: str
    """The local name. Printable."""
    kind: str
    """`new`, `updated`, `forced`, `pruned`, `tag`, `rejected`."""
    old: str | None = None
    """Object id; None if it is new."""
    new: str | None = None
    """Object id; None if it is pruned."""


class RecordedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One git process of an action."""

    argv: tuple[str, ...]
    """Masked."""
    started_at_s: float
    elapsed_s: float | None
    exit_code: int | None
    ending: str | None = None
    """Why there is no ordinary ending, such as `timed out`."""
    stderr: str = ""
    """At most 4 KiB."""

    @property
    def short_argv(self) -> tuple[str, ...]:
        """The words without the `-c` pairs before the subcommand, of which there are dozens: what was done."""
        program, *rest = self.argv or ("",)
        while rest[:1] == ["-c"]:
            del rest[:2]
        return (program, *rest)


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One action on one repository."""

    number: int
    """Given by the ledger; 0 until then, negative if the state file could not take it at once."""
    run: str
    """The same for all actions that were started together: an id of their own."""
    action: str
    """`fetch`, `maintain` or `measure`."""
    task: Task | None = None
    """For `maintain`."""
    remote: str | None = None
    """For `fetch`. Printable."""
    is_preview: bool = False
    """It was only asked what would change."""
    path: bytes
    outcome: Outcome
    reason: Reason | None = None
    """None if it went as asked."""
    sentence: str = ""
    """What became of it, for people."""
    started_at_s: float
    elapsed_s: float | None = None
    """None while it runs."""
    gitdash_version: str
    git_version: str
    choices: tuple[str, ...] = ()
    """What was chosen and why, such as `alternate refs suppressed: ...`."""
    before: StoreFigures | None = None
    after: StoreFigures | None = None
    phases: tuple[Phase, ...] = ()
    received_objects: int | None = None
    received_bytes: int | None = None
    reference_changes: tuple[ReferenceChange, ...] = ()
    """At most 1,000; `reference_change_count` counts all."""
    reference_change_count: int = 0
    removed: tuple[str, ...] = ()
    """Files that were removed, relative to the common directory, at most 1,000; `removed_count` counts all."""
    removed_count: int = 0
    dropped_ids: tuple[str, ...] = ()
    """Objects that RECLAIM dropped, in hexadecimal, the largest first, at most 1,000; `dropped_count` counts all."""
    dropped_count: int = 0
    commands: tuple[RecordedCommand, ...] = ()
    leftovers: tuple[str, ...] = ()
    """What a cut-off or killed action may have left: locks, temporary packs, `gc.pid`."""
    process_id: int
    """Of the gitdash that does it."""
    process_started_at_s: float
    """When that process began: process ids are used again."""
    host: str
    """The host on which it ran."""
