"""What borrowing saves: the bytes that members read from their lenders instead of storing them. Pure."""

from typing import Protocol

import msgspec

from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound, ExclusiveSizes, SizeMeasurement, bound_of
from gitdash.units import LARGEST_BYTES


class Saved(msgspec.Struct, frozen=True, gc=False):
    """What one member saves."""

    bytes: int
    bound: Bound


def saved_of(
    reachable: SizeMeasurement | Unreadable | None, exclusive: ExclusiveSizes | Unreadable | None
) -> Saved | Unreadable | None:
    """Return reachable - exclusive - duplicate: what is reachable in a member less what it stores itself.

    The true figure is the size of what is reachable and not stored in the member. How the difference relates to it:

    - Objects that the member stores and no reference leads to are subtracted without being part of what is reachable:
      the true figure may be higher. Nobody counts them here, so this may be so wherever anything is stored.
    - An object that lies twice has two sizes, as delta and as whole or by another base, and git may count the larger
      copy as reachable where the smaller one is subtracted, or the other way round: the true figure may be lower, too,
      where the member stores copies of what a lender has, or second copies of its own.
    - A bound of the reachable size is one of the difference in the same direction.
    - Below 0 there is nothing: a difference below it is 0, and nothing is lower.

    None if a size is not measured.
    """
    for size in (reachable, exclusive):
        if isinstance(size, Unreadable):
            return size
    if not isinstance(reachable, SizeMeasurement) or not isinstance(exclusive, ExclusiveSizes):
        return None
    stored_bytes = exclusive.exclusive_bytes + exclusive.duplicate_bytes
    difference_bytes = reachable.bytes - stored_bytes
    has_second_copies = exclusive.duplicate_count > 0 or exclusive.redundant_count > 0
    return Saved(
        max(0, difference_bytes),
        bound_of(
            may_be_lower=difference_bytes > 0 and (reachable.bound.may_be_lower or has_second_copies),
            may_be_higher=reachable.bound.may_be_higher or stored_bytes > 0,
        ),
    )


class SavingRow(Protocol):
    """What the sum needs of a repository; `RepositorySummary` has it."""

    @property
    def counts_store(self) -> bool:
        """False if another row stands for the same object store."""

    @property
    def has_own_store(self) -> bool:
        """False for a linked worktree."""

    @property
    def is_member(self) -> bool:
        """It borrows objects."""

    @property
    def is_dedicated_pool(self) -> bool:
        """It is a pool and nothing else."""

    @property
    def borrower_count(self) -> int:
        """Repositories that borrow from it."""

    @property
    def saved_bytes(self) -> int | Unreadable | None:
        """What it saves as a member."""

    @property
    def saved_bound(self) -> Bound:
        """What that figure is to the true one."""

    @property
    def objects_bytes(self) -> int | Unreadable | None:
        """Packs and loose objects."""


class SavedSum:
    """What a fleet saves by borrowing, kept up to date by adding and removing single rows.

    Without borrowing each member would store what it saves, and pools that nobody owns would not be there: so the sum
    is what members save, less the object bytes of the dedicated pools that lend. A dedicated pool that borrows itself
    adds nothing: what it need not store, nobody would. Each object store counts once.
    """

    def __init__(self) -> None:
        self.known_count = 0
        """Members whose saved bytes are part of the sum."""
        self.unknown_count = 0
        """Members whose saved bytes are not known."""
        self._bytes = 0
        self._lower_count = 0
        """Rows by which the true sum may be lower."""
        self._higher_count = 0
        """Rows by which the true sum may be higher."""

    def add(self, row: SavingRow) -> None:
        """Count a row."""
        self._change(row, 1)

    def remove(self, row: SavingRow) -> None:
        """Take back what `add` counted."""
        self._change(row, -1)

    def add_member(self, row: SavingRow) -> None:
        """Count what a row saves as a member, whatever else it is: for the sum over the members of one lender."""
        self._change_member(row, 1)

    @property
    def bytes(self) -> int:
        """The sum, no further from 0 than a size can be; negative if the pools take more than is known to be saved."""
        return max(-LARGEST_BYTES, min(self._bytes, LARGEST_BYTES))

    @property
    def bound(self) -> Bound:
        """What the sum is to the true one; a member that is not known saves something or nothing."""
        return bound_of(may_be_lower=self._lower_count > 0, may_be_higher=self._higher_count > 0)

    def _change(self, row: SavingRow, sign: int) -> None:
        if not row.counts_store or not row.has_own_store:
            return
        if row.is_dedicated_pool:
            if row.borrower_count:
                self._change_pool(row.objects_bytes, sign)
        elif row.is_member:
            self._change_member(row, sign)

    def _change_pool(self, objects_bytes: int | Unreadable | None, sign: int) -> None:
        if isinstance(objects_bytes, int):
            self._bytes -= sign * objects_bytes
        else:
            self._lower_count += sign

    def _change_member(self, row: SavingRow, sign: int) -> None:
        if isinstance(row.saved_bytes, int):
            self._bytes += sign * row.saved_bytes
            self.known_count += sign
            self._lower_count += sign * row.saved_bound.may_be_lower
            self._higher_count += sign * row.saved_bound.may_be_higher
        else:
            self.unknown_count += sign
            self._higher_count += sign
