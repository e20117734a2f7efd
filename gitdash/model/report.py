"""What a survey says of one repository, and of all."""

import enum

import msgspec

from gitdash.model.finding import Finding
from gitdash.model.inspection import Alternate, BitmapFacts, Inspection
from gitdash.model.repository import Repository, Role, Unreadable
from gitdash.model.sizes import Bound, Sizes


class State(enum.StrEnum):
    """The one word for a row, worst last."""

    OK = "ok"
    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"
    FOREIGN = "foreign"
    """Another user owns it: read from files only."""
    UNREADABLE = "unreadable"


class Lender(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One place that a repository borrows objects from."""

    path: bytes
    """Of the repository whose store it is, if that is known; else of the `objects` directory."""
    depth: int
    """1 for an entry of the repository's own alternates file, 2 for one of that lender's, and so on."""
    exists: bool
    is_known: bool
    """It belongs to a repository of this survey."""
    problem: str | None = None
    """Why git cannot use it: missing, unreadable, not a directory, nested too deep. Printable."""


class RepositoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known of one repository."""

    repository: Repository
    roles: tuple[Role, ...]
    """Never empty."""
    borrowers: tuple[bytes, ...]
    """Paths of repositories that borrow from this one, directly or through another, sorted: those of the same survey,
    and those that an earlier one saw and that are still there."""
    lenders: tuple[Lender, ...] = ()
    """One for each alternate, in git's order: each lender is followed by those that it borrows from itself. Empty if
    the alternates cannot be read."""
    inspection: Inspection | Unreadable
    sizes: Sizes
    findings: tuple[Finding, ...]
    """Worst first."""
    state: State
    counts_store: bool = True
    """False if another row of this survey already counts the same object store in the totals."""
    lender_bitmap: BitmapFacts | None = None
    """The bitmap of a lender, of which git uses one; None if no scanned lender has one."""
    lenders_fingerprint: bytes = b""
    """Digest of the files of all lenders when this was judged and measured; empty without lenders."""
    judged_by: bytes = b""
    """Digest of the policy and the version of gitdash that made the findings."""

    @property
    def alternate_stores(self) -> tuple[Alternate, ...]:
        """Those of its inspection; none if it could not be inspected."""
        return self.inspection.alternate_stores if isinstance(self.inspection, Inspection) else ()


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over a survey; each object store counts once, whatever shares it."""

    repository_count: int
    object_store_count: int
    disk_bytes: int
    disk_unknown_count: int = 0
    """Repositories whose files could not be counted: then `disk_bytes` is a lower bound."""
    exclusive_bytes: int
    duplicate_bytes: int
    exclusive_unknown_count: int = 0
    """Object stores for which exclusive and duplicate bytes are not known: then these two are lower bounds."""
    saved_bytes: int | None = None
    """What members read from their lenders instead of storing it, less the object bytes of the pools that are there for
    nothing else. Negative if those pools take more than their members save, as far as is known; None while that is
    known of no member."""
    saved_bound: Bound = Bound.EXACT
    saved_known_count: int = 0
    """Members whose saved bytes are part of the sum."""
    saved_unknown_count: int = 0
    """Members whose saved bytes are not known."""
    unreadable_count: int
    notice_count: int
    """Repositories whose state is `notice`, and so on."""
    warning_count: int
    critical_count: int
