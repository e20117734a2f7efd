"""Sizes: each says which question it answers, how it was obtained and how old it is."""

import enum
from typing import TypeAlias

import msgspec

from gitdash.model.repository import Unreadable

PackedIds: TypeAlias = bytes
"""Object ids of one length in binary, one after the other."""


class Question(enum.StrEnum):
    """The two questions that git has to answer."""

    REACHABLE = "reachable"
    """What does a full clone cost on disk?"""
    REACHABLE_OWN = "reachable_own"
    """What is reachable here and not from the lenders' references?"""

    @property
    def label(self) -> str:
        """What people call the size, the same as its column."""
        return "own" if self is Question.REACHABLE_OWN else self.value


class Strategy(enum.StrEnum):
    """How a reachable size is obtained."""

    BITMAP = "bitmap"
    """`rev-list --use-bitmap-index`."""
    WALK = "walk"
    """`rev-list` without bitmaps; with an exclusion an upper bound."""
    UNION = "union"
    """size(own + lenders) - size(lenders), both with bitmaps: exact."""
    DIFFERENCE = "difference"
    """An older measurement plus `rev-list <new tips> --not <old tips>`."""


class Bound(enum.StrEnum):
    """What a figure is to the true one."""

    EXACT = "exact"
    UPPER = "upper"
    """The true one is not higher."""
    LOWER = "lower"
    """The true one is not lower: something that counts could not be counted."""
    UNKNOWN = "unknown"
    """Both of it: the true one may be higher or lower."""

    @property
    def sign(self) -> str:
        """What stands before the figure."""
        return {Bound.EXACT: "", Bound.UPPER: "<=", Bound.LOWER: ">=", Bound.UNKNOWN: "~"}[self]

    @property
    def words(self) -> str:
        """The same as words: `exact`, `an upper bound`."""
        return {
            Bound.EXACT: "exact",
            Bound.UPPER: "an upper bound",
            Bound.LOWER: "a lower bound",
            Bound.UNKNOWN: "neither an upper nor a lower bound",
        }[self]

    @property
    def may_be_lower(self) -> bool:
        """Whether the true figure may be lower."""
        return self in {Bound.UPPER, Bound.UNKNOWN}

    @property
    def may_be_higher(self) -> bool:
        """Whether the true figure may be higher."""
        return self in {Bound.LOWER, Bound.UNKNOWN}


def bound_of(*, may_be_lower: bool, may_be_higher: bool) -> Bound:
    """Return what a figure is to the true one."""
    if may_be_lower:
        return Bound.UNKNOWN if may_be_higher else Bound.UPPER
    return Bound.LOWER if may_be_higher else Bound.EXACT


class SizeMeasurement(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """One answer of git."""

    question: Question
    bytes: int
    strategy: Strategy
    exact: bool
    """False for a bound, which `bound` tells."""
    elapsed_s: float
    measured_at_s: float
    argv: tuple[str, ...]
    """What git got, credentials masked; both queries of a union, parted by `;`, else the one that gave the figure."""
    git_version: str
    excluded_references: tuple[str, ...] = ()
    from_history: bool = False
    """Answered from the state file because the fingerprint is unchanged."""
    notes: tuple[str, ...] = ()
    """What the reader must know: dropped broken references, missing objects, derived files that lie."""
    warnings: tuple[str, ...] = ()
    """Those of the notes that are signs of damage: all but objects that a partial clone leaves out, and bounds."""
    inexact_bound: Bound = Bound.UPPER
    """What a figure is that is not exact; says nothing where it is."""
    lacks_bitmap: bool = False
    """There was no bitmap that git could use, so it walked if it was asked to use one."""
    loose_ids: PackedIds | None = None
    """Only as it is stored: the loose objects that were there. None if they are not known, or too many to be kept."""

    @property
    def bound(self) -> Bound:
        """What the figure is to the true one."""
        return Bound.EXACT if self.exact else self.inexact_bound

    @property
    def how(self) -> str:
        """What was done, in words: git walks without a word where it finds no bitmap."""
        return strategy_text(self.strategy, has_bitmap=not self.lacks_bitmap)


def strategy_text(strategy: Strategy, *, has_bitmap: bool) -> str:
    """Return what was done under a strategy, in words."""
    return f"{strategy} (there is none, so git walked)" if strategy is Strategy.BITMAP and not has_bitmap else strategy


class ExclusiveSizes(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """The set difference of object ids between a repository's own store and all its lenders."""

    exclusive_bytes: int
    """Stored here and in no lender: what deleting the repository would free. Each object counts once."""
    exclusive_count: int
    duplicate_bytes: int
    """Bytes of own copies of objects that a lender has too."""
    duplicate_count: int
    elapsed_s: float
    measured_at_s: float
    redundant_bytes: int = 0
    """Second and further own copies of objects that count once above, as exclusive or as duplicate."""
    redundant_count: int = 0
    every_object_once: bool = False
    """No object lies twice in the own store and the lenders' stores together: then no size depends on which copy of
    an object git takes. False also where that is not known."""
    stores_fingerprint: bytes = b""
    """Of the object stores that were compared: the figures stay true as long as they have it. Empty if it is not
    known."""


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """What is known beyond the files' own sizes; None means not measured."""

    exclusive: ExclusiveSizes | Unreadable | None = None
    reachable: SizeMeasurement | Unreadable | None = None
    reachable_own: SizeMeasurement | Unreadable | None = None
    git_version: str | None = None
    """The git that did not answer where a reachable size is `Unreadable`; a measurement names its own."""
