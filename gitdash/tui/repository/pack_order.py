"""By what the packs of a repository are sorted. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from gitdash.model.inspection import PackFile
from gitdash.tui.drawing.column_order import ColumnOrder, known_first

_VALUES: Final[dict[str, Callable[[PackFile], float | None]]] = {
    "name": lambda _: None,
    "objects": lambda pack: pack.object_count,
    "size": lambda pack: pack.bytes,
    "density": lambda pack: pack.bytes / pack.object_count if pack.object_count else None,
    "age": lambda pack: -pack.mtime_s,
}
"""By key, in the order of the columns; where the values are equal, and of packs without one, the name decides."""


@dataclass(frozen=True, slots=True)
class PackOrder(ColumnOrder):
    """The order of packs."""

    KEYS: ClassVar[tuple[str, ...]] = tuple(_VALUES)

    key: str = "size"

    def sorted(self, packs: Sequence[PackFile]) -> list[PackFile]:
        """Return packs in this order; those whose figure is not known stand last."""
        by_name = sorted(packs, key=lambda pack: pack.name, reverse=self.key == "name" and self.descending)
        return known_first(by_name, _VALUES[self.key], descending=self.descending)
