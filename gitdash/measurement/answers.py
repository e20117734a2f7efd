"""One answer for each strategy, and whether it is exact.

Without an exclusion git counts exactly what is reachable, by bitmap, by walk or by both. With one:

- A bitmap that covers what is left out is exact, but git falls back to a walk without a word when none of the excluded
  tips lies in the bitmap's pack. So it counts as exact only if git's trace says that it was used.
- A walk counts an object again that only the lender's deeper history has: an upper bound. Zero is exact all the same.
- A union is the difference of two sets without exclusions, and as sets both are exact, with bitmap or by walk. In bytes
  it is exact only if no object is stored twice: for one that is, the two queries may take different copies. Its argv
  are both queries, parted by `;`: neither alone gives the figure.
- A difference adds a walk with an exclusion to an older size: exact if that one was, and if every object that the walk
  finds lies in packs added since or in loose files written since, and these hold nothing that was there before. Else
  it is an upper bound like any walk with an exclusion: an object that comes back counts twice.

Raises what `queries.py` raises.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitdash.measurement.queries import StoreQueries, Usage
from gitdash.model.sizes import Bound, Strategy

NEXT_QUERY: Final = ";"
"""Stands between two queries in the argv of an answer that needed both; no argument of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tips:
    """Where a query starts and what it leaves out: object ids, each once."""

    wanted: tuple[str, ...]
    """Own tips."""
    excluded: tuple[str, ...]
    """The lenders' tips; empty if nothing is to be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousSize:
    """An older measurement that may be added to."""

    size_bytes: int
    """What it said."""
    exact: bool
    """What it said of itself."""
    tips: frozenset[str]
    """The tips it counted."""
    are_new: Callable[[Sequence[str]], bool] | None = None
    """Whether all these objects lie in packs and loose files added since that hold nothing of what older packs, older
    loose files and lenders hold (`additions.only_in_added`); None if that cannot be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A size, before anyone doubts it."""

    size_bytes: int
    """May be impossible."""
    strategy: Strategy
    """How it was obtained."""
    exact: bool
    """False for an upper bound."""
    missing_count: int
    """Objects that a partial clone has not fetched."""
    complaint: str | None
    """What git said on stderr."""
    argv: tuple[str, ...]
    """Of the query that gave the figure, of both for a union."""
    inexact_bound: Bound = Bound.UPPER
    """What it is if it is not exact."""
    notes: tuple[str, ...] = ()
    """What limits it."""
    warnings: tuple[str, ...] = ()
    """Those of the notes that are signs of damage."""

    def without_own_tips(self) -> "Answer":
        """Return the answer as it counts where tips of its own had to be left out: the true size may be higher."""
        bound = Bound.LOWER if self.exact or self.inexact_bound is Bound.LOWER else Bound.UNKNOWN
        return replace(self, exact=False, inexact_bound=bound)

    def without_excluded_tips(self) -> "Answer":
        """Return the answer as it counts where tips of lenders had to be left out: the true size may be lower."""
        bound = Bound.UPPER if self.exact or self.inexact_bound is Bound.UPPER else Bound.UNKNOWN
        return replace(self, exact=False, inexact_bound=bound)

    def warned(self, *warnings: str) -> "Answer":
        """Return the answer with more notes that are signs of damage."""
        return replace(self, notes=(*self.notes, *warnings), warnings=(*self.warnings, *warnings))


def answer(
    strategy: Strategy,
    queries: StoreQueries,
    tips: Tips,
    *,
    every_object_once: bool,
    derived_files: bool = True,
) -> Answer:
    """Ask by bitmap, walk or union; `every_object_once` says that no object is stored twice, here or in lenders."""
    if strategy is Strategy.UNION:
        return _union(queries, tips, every_object_once=every_object_once, derived_files=derived_files)
    usage = queries.disk_usage(
        tips.wanted, tips.excluded, bitmap=strategy is Strategy.BITMAP, derived_files=derived_files
    )
    return _answer(usage, strategy, exact=not tips.excluded or usage.excluded_by_bitmap or usage.size_bytes == 0)


def _union(queries: StoreQueries, tips: Tips, *, every_object_once: bool, derived_files: bool) -> Answer:
    together = tuple(dict.fromkeys(tips.wanted + tips.excluded))
    both = queries.disk_usage(together, bitmap=True, derived_files=derived_files)
    # asked in the same store and not in the lender's own, so that the same copies are counted
    lender = queries.disk_usage(tips.excluded, bitmap=True, derived_files=derived_files)
    difference = _answer(lender, Strategy.UNION, exact=every_object_once or not tips.excluded)
    return replace(
        difference,
        size_bytes=both.size_bytes - lender.size_bytes,
        missing_count=max(both.missing_count - lender.missing_count, 0),
        complaint=both.complaint or lender.complaint,
        argv=(*both.argv, NEXT_QUERY, *lender.argv),
        notes=() if difference.exact else ("objects that are stored twice may count with another copy",),
    )


def extended(previous: PreviousSize, queries: StoreQueries, tips: Tips) -> Answer | None:
    """Add to an older size what has become reachable since; None if something is no longer reachable."""
    wanted = frozenset(tips.wanted)
    given_up = sorted(previous.tips - wanted)
    if given_up and queries.disk_usage(given_up, tips.wanted, bitmap=False).size_bytes:
        return None
    excluded = (*sorted(previous.tips), *tips.excluded)
    added = sorted(wanted - previous.tips)
    usage = queries.disk_usage(added, excluded, bitmap=False)
    exact = previous.exact and previous.are_new is not None
    if exact and previous.are_new is not None:
        exact = previous.are_new(queries.object_ids(added, excluded) if usage.size_bytes else ())
    sum_bytes = previous.size_bytes + usage.size_bytes
    return replace(_answer(usage, Strategy.DIFFERENCE, exact=exact), size_bytes=sum_bytes)


def _answer(usage: Usage, strategy: Strategy, *, exact: bool) -> Answer:
    return Answer(
        size_bytes=usage.size_bytes,
        strategy=strategy,
        exact=exact,
        missing_count=usage.missing_count,
        complaint=usage.complaint,
        argv=usage.argv,
    )
