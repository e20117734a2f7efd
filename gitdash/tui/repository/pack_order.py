"""By what the packs of a repository are sorted. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from gitdash.model.inspection import PackFile

_VALUES: Final[dict[str, Callable[[PackFile], float | None]]] = {
    "name": lambda _: None,
    "objects": lambda pack: pack.object_count,
    "size": lambda pack: pack.bytes,
    "density": lambda pack: pack.bytes / pack.object_count if pack.object_count else None,
    "age": lambda pack: -pack.mtime_s,
}
"""By key, in the order of the columns; where the values are equal, and of packs without one, the name decides."""


@dataclass(frozen=True, slots=True)
class PackOrder:
    """A column, and whether the greatest, oldest or last comes first."""

    key: str = "size"
    descending: bool = True

    def neighbour(self, step: int) -> Self:
        """Return the order by the column to the left (-1) or right (1): names from A on, figures from the greatest."""
        keys = tuple(_VALUES)
        key = keys[(keys.index(self.key) + step) % len(keys)]
        return type(self)(key, key != "name")

    def clicked(self, key: str) -> Self:
        """Return the order after a click on a column: by it, or turned round if it is that already."""
        if key not in _VALUES:
            return self
        return self.reversed() if key == self.key else type(self)(key, key != "name")

    def reversed(self) -> Self:
        """Return the opposite order."""
        return type(self)(self.key, not self.descending)

    def sorted(self, packs: Sequence[PackFile]) -> list[PackFile]:
        """Return packs in this order; those whose figure is not known stand last."""
        by_name = sorted(packs, key=lambda pack: pack.name, reverse=self.key == "name" and self.descending)
        value = _VALUES[self.key]
        known = [(figure, pack) for pack in by_name if (figure := value(pack)) is not None]
        known.sort(key=lambda entry: entry[0], reverse=self.descending)
        return [*(pack for _, pack in known), *(pack for pack in by_name if value(pack) is None)]
