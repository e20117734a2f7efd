"""A long page of which only the lines on screen are ever composed. Pure."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Generic, TypeVar, overload

from typing_extensions import override

from gitdash.tui.drawing.cells import Line

Row = TypeVar("Row")


class LazyLines(Sequence[Line], Generic[Row]):
    """Ready lines, and below them one line for each of many rows."""

    def __init__(
        self, head: Sequence[Line], rows: Sequence[Row], compose: Callable[[Row], Line], state: Hashable
    ) -> None:
        """`state` is all that `compose` makes of a line beyond its row: pages with equal states look the same."""
        self._head = head
        self._rows = rows
        self._compose = compose
        self._state = state

    @override
    def __len__(self) -> int:
        return len(self._head) + len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    @override
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = index if index >= 0 else index + len(self)
        if not 0 <= number < len(self):
            raise IndexError(index)
        row = number - len(self._head)
        return self._head[number] if row < 0 else self._compose(self._rows[row])

    @override
    def __iter__(self) -> Iterator[Line]:
        yield from self._head
        yield from map(self._compose, self._rows)

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LazyLines):
            return NotImplemented
        return (self._state, self._rows, self._head) == (other._state, other._rows, other._head)

    @override
    def __hash__(self) -> int:
        return hash(self._state)

    @property
    def row_numbers(self) -> range:
        """The numbers of the lines below the head."""
        return range(len(self._head), len(self))
