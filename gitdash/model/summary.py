"""One flat row for each repository: what tables show, conditions select and the first paint draws.

A value is None if absent or not measured, and `Unreadable` if it could not be read.
"""

import msgspec

from gitdash.model.disk_facts import LinkedFile
from gitdash.model.report import Lender, State
from gitdash.model.repository import RepositoryKind, Unreadable
from gitdash.model.sizes import Bound


class RepositorySummary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The row of one repository; every column of every table derives from it."""

    path: bytes
    name: str
    """The path below its root, or the last component if it is the root. Printable."""
    root: bytes
    kind: RepositoryKind
    role: str
    """`plain`, `member`, `pool` or `member+pool`."""
    is_dedicated_pool: bool = False
    """It is a pool and nothing else, nobody's own repository: a forge made it."""
    state: State
    disk_bytes: int | Unreadable | None
    linked_files: tuple[LinkedFile, ...] = ()
    """As in `DiskFacts`."""
    linked_exclusive: tuple[LinkedFile, ...] = ()
    """Packs among these whose objects are part of `exclusive_bytes`, with the bytes of their objects."""
    allocated_bytes: int | Unreadable | None = None
    exclusive_bytes: int | Unreadable | None
    duplicate_bytes: int | Unreadable | None
    reachable_bytes: int | Unreadable | None
    reachable_bound: Bound = Bound.EXACT
    reachable_own_bytes: int | Unreadable | None
    reachable_own_bound: Bound = Bound.EXACT
    saved_bytes: int | Unreadable | None = None
    """What a member reads from its lenders instead of storing it; None for others."""
    saved_bound: Bound = Bound.EXACT
    objects_bytes: int | Unreadable | None
    pack_count: int | Unreadable | None
    pack_bytes: int | Unreadable | None
    outside_midx_count: int | Unreadable | None
    loose_count: int | Unreadable | None
    loose_stale_count: int | Unreadable | None
    bitmap: str | Unreadable | None
    """`pack`, `midx`, `lender`, or None."""
    reference_count: int | Unreadable | None
    borrower_count: int
    alternate_count: int | Unreadable
    garbage_bytes: int | Unreadable | None
    object_format: str | None
    lenders: tuple[Lender, ...] = ()
    """As in the report."""
    finding_count: int
    critical_count: int = 0
    """Findings of this severity; the other two likewise."""
    warning_count: int = 0
    notice_count: int = 0
    worst_rule: str | None
    """Rule id of the worst finding."""
    worst_summary: str | None
    rules: tuple[str, ...] = ()
    """Rule ids of all findings, worst first, each once; the dashboard's filter looks for them."""
    inspected_at_s: float | None
    counts_store: bool = True

    @property
    def is_member(self) -> bool:
        """It borrows objects."""
        return self.role.startswith("member")

    @property
    def has_own_store(self) -> bool:
        """Whether objects are its own: those of a linked worktree are another repository's."""
        return self.kind is not RepositoryKind.LINKED_WORKTREE

    def lacks(self, attribute: str) -> bool:
        """Tell whether a size is one that can never be measured.

        A linked worktree has no object store of its own, and who borrows nothing saves nothing.
        """
        if attribute == "saved_bytes" and not self.is_member:
            return True
        return not self.has_own_store and attribute in {"exclusive_bytes", "duplicate_bytes", "saved_bytes"}
