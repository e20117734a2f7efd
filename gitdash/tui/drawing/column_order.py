"""By which column rows are sorted, and which way round. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """A column, and whether the greatest, the worst, the oldest or the last comes first."""

    KEYS: ClassVar[tuple[str, ...]]
    """Of all columns, from the left."""

    key: str
    descending: bool = True

    def neighbour(self, step: int) -> Self:
        """Return the order by the column to the left (-1) or right (1): names from A on, figures from the greatest."""
        key = self.KEYS[(self.KEYS.index(self.key) + step) % len(self.KEYS)]
        return type(self)(key, key != "name")

    def clicked(self, key: str) -> Self:
        """Return the order after a click on a column: by it, or turned round if it is that already."""
        if key not in self.KEYS:
            return self
        return self.reversed() if key == self.key else type(self)(key, key != "name")

    def reversed(self) -> Self:
        """Return the opposite order."""
        return type(self)(self.key, not self.descending)


def known_first(rows: Iterable[Row], rank: Callable[[Row], Any], *, descending: bool) -> list[Row]:
    """Return rows by rank; equals stay in their order, and those without a rank (None) stand last."""
    ranked = [(rank(row), row) for row in rows]
    known = sorted((one for one in ranked if one[0] is not None), key=lambda one: one[0], reverse=descending)
    return [*(row for _, row in known), *(row for value, row in ranked if value is None)]
