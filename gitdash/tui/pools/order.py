"""By what lenders are sorted. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

from gitdash.export.pools import PoolRow
from gitdash.model.report import State
from gitdash.tui.drawing.column_order import ColumnOrder, known_first
from gitdash.tui.pools.unsafe import worst_severity

Rank: TypeAlias = int | str | tuple[int, ...]

_STATE_RANKS: Final = {state: rank for rank, state in enumerate(State)}


def _unsafe(row: PoolRow) -> Rank:
    severity = worst_severity(row)
    return (-1 if severity is None else severity.rank, row.lost_count, len(row.unsafe), row.saved.bytes)


def _state(row: PoolRow) -> Rank:
    return (not row.exists, row.summary is None, _STATE_RANKS[row.state])


def _own(attribute: str) -> Callable[[PoolRow], Rank | None]:
    def rank(row: PoolRow) -> Rank | None:
        value = getattr(row.summary, attribute, None)
        return value if isinstance(value, int) else None

    return rank


ORDERS: Final[dict[str, Callable[[PoolRow], Rank | None]]] = {
    "unsafe": _unsafe,
    "name": lambda row: row.name.casefold(),
    "worst": _state,
    "members": lambda row: (len(row.members), row.indirect_member_count),
    "objects": _own("objects_bytes"),
    "exclusive": _own("exclusive_bytes"),
    "duplicate": lambda row: row.duplicate.bytes if row.duplicate.known_count else None,
    "saved": lambda row: row.saved.bytes if row.saved.known_count else None,
    "net": lambda row: row.net_bytes,
}
"""What is compared, by the key of the column; `unsafe` has none: a line below a lender says it."""


@dataclass(frozen=True, slots=True)
class PoolOrder(ColumnOrder):
    """The order of lenders."""

    KEYS: ClassVar[tuple[str, ...]] = tuple(ORDERS)

    key: str = "unsafe"

    def sorted(self, rows: Iterable[PoolRow]) -> list[PoolRow]:
        """Return lenders in this order; equals by name, and those whose figure is not known last."""
        by_name = sorted(rows, key=lambda row: (row.name.casefold(), row.path))
        return known_first(by_name, ORDERS[self.key], descending=self.descending)
