"""Which packs a geometric repack would join, and what that would rewrite.

Source: git-repack(1) `--geometric`: each pack has at least `factor` times the objects of the next smaller one; where
that does not hold, the smallest set of packs is joined that leaves as many of the larger ones as possible. Loose
objects go into the new pack, too, and do not count when the set is chosen.

Packs with `.keep` and cruft packs take no part, nor does what git cannot see for want of an index. Promisor packs are
said to take none: git 2.55 gives them a progression of their own, git 2.39 and 2.47 join them with the others and so
lose the mark that they came from a promisor.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from gitdash.model.inspection import PackFile
from gitdash.units import sum_bytes

FACTOR: Final = 2
"""What gitdash asks git for: `--geometric=2`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricPlan:
    """What a geometric repack would do with each pack."""

    joined: tuple[PackFile, ...]
    """Would become one pack; fewest objects first, as in the next. Empty, or two and more."""
    intact: tuple[PackFile, ...]
    """Form a progression and stay."""
    outside: tuple[PackFile, ...]
    """Take no part: kept, cruft, promisor, or without a readable index."""

    @property
    def joined_bytes(self) -> int:
        """Bytes of the packs that would be read and written anew; the new pack may be smaller, or take other deltas."""
        return sum_bytes(pack.bytes for pack in self.joined)

    @property
    def joined_object_count(self) -> int:
        """Objects of those packs; one that lies in several counts in each."""
        return sum(pack.object_count or 0 for pack in self.joined)


def geometric_plan(packs: Iterable[PackFile]) -> GeometricPlan:
    """Return what `git repack --geometric=2 -d` would do with the packs of one object store."""
    outside: list[PackFile] = []
    counted: list[tuple[int, str, PackFile]] = []
    for pack in packs:
        if pack.object_count is None or pack.kept or pack.cruft or pack.promisor or not pack.has_index:
            outside.append(pack)
        else:
            counted.append((pack.object_count, pack.name, pack))
    counted.sort()
    inside = tuple(pack for _, _, pack in counted)
    number = joined_count([count for count, _, _ in counted])
    return GeometricPlan(joined=inside[:number], intact=inside[number:], outside=tuple(outside))


def joined_count(object_counts: Sequence[int]) -> int:
    """Return how many of the smallest packs become one, given the objects of each in ascending order.

    It is the least number for which the rest is a progression and goes on from the new pack, if that has as many
    objects as its parts together.
    """
    start = max(len(object_counts) - 1, 0)
    while start > 0 and object_counts[start] >= FACTOR * object_counts[start - 1]:
        start -= 1
    sums = list(accumulate(object_counts, initial=0))
    for number in range(start, len(object_counts)):
        if object_counts[number] >= FACTOR * sums[number]:
            return number
    return len(object_counts)
