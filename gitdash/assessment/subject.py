"""What the rules judge: the facts of one repository with what is known of its neighbours.

The source is the survey, which puts these together. It reads nothing and decides nothing.
"""

from dataclasses import dataclass, field

from gitdash.model.inspection import Inspection
from gitdash.model.repository import Repository, Role, Unreadable
from gitdash.model.sizes import Sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class LenderFacts:
    """What is known of one object store that the repository borrows from."""

    path: bytes
    """The lender's `objects` directory."""
    bitmap_count: int | None = None
    """Its `.bitmap` files; None if nobody looked."""
    loose_count: int | None = None
    """Its loose objects; None if nobody looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One repository, ready to be judged."""

    repository: Repository
    roles: tuple[Role, ...]
    inspection: Inspection | Unreadable
    borrowers: tuple[bytes, ...] = ()
    """Paths of repositories that are known to borrow from this one."""
    sizes: Sizes = field(default_factory=Sizes)
    """What is measured so far."""
    lenders: tuple[LenderFacts, ...] = ()
    """In git's order, those that exist."""
    lenders_outside: tuple[bytes, ...] = ()
    """Object stores that it borrows from and that lie outside the roots: nobody looked at their health."""
    counts_store: bool = True
    """False if another row of the survey is judged for the same object store."""


def lender_facts(path: bytes, inspection: Inspection | Unreadable | None) -> LenderFacts:
    """Return what the rules need of a lender; `inspection` is None if it was not scanned."""
    if not isinstance(inspection, Inspection):
        return LenderFacts(path=path)
    loose = inspection.loose
    return LenderFacts(
        path=path,
        bitmap_count=len(inspection.bitmaps),
        loose_count=None if isinstance(loose, Unreadable) else loose.count,
    )
