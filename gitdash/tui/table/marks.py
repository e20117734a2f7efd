"""Marks on repositories: a set of row numbers that survives sorting, filtering and grouping. Pure.

It knows nothing of lines and of the cursor: which rows a key or a click means is told to it.
"""

from collections.abc import Collection, Iterable, Mapping


class Marks:
    """Which rows are marked."""

    def __init__(self) -> None:
        self.numbers: set[int] = set()

    def toggle(self, numbers: Collection[int]) -> None:
        """Mark all of these; unmark them if all are marked already."""
        if self.numbers.issuperset(numbers):
            self.numbers.difference_update(numbers)
        else:
            self.numbers.update(numbers)

    def add(self, numbers: Iterable[int]) -> None:
        """Mark these."""
        self.numbers.update(numbers)

    def invert(self, numbers: Iterable[int]) -> None:
        """Mark those of these that are not marked, and unmark the others."""
        self.numbers.symmetric_difference_update(numbers)

    def clear(self) -> None:
        """Unmark all."""
        self.numbers.clear()

    def count_in(self, numbers: Iterable[int]) -> int:
        """Return how many of these are marked."""
        return len(self.numbers.intersection(numbers)) if self.numbers else 0

    def hidden_count(self, view: Iterable[int]) -> int:
        """Return how many marked rows are not in `view`."""
        return len(self.numbers.difference(view)) if self.numbers else 0

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Follow rows that have other numbers; what is not in `numbers` is gone."""
        self.numbers = {numbers[number] for number in self.numbers if number in numbers}
