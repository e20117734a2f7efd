"""Which rows are shown: those that contain some words, or those for which an SQL condition is true.

A condition is typed letter by letter, and half of one can rarely be run: the last that could holds until the next one
can. It runs in the thread of the dashboard, over a table that `gitdash.history.condition_table` keeps from one letter
to the next; that is imported with the first condition.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gitdash.export.columns import CONDITION_NAMES, CONDITION_TEXTS, RawValue, raw_values
from gitdash.tui.table.row import FleetRow

if TYPE_CHECKING:
    from gitdash.history.condition_table import ConditionTable

CONDITION_SIGN: Final = "="
"""What a text begins with that is a condition and no words."""
_TIME_LIMIT_S: Final = 0.2
"""Nothing else is done meanwhile: a condition that takes longer is not for typing."""


class RowFilter:
    """What rows have to be like. For one thread; whoever changes rows says so."""

    def __init__(self) -> None:
        self.text = ""
        """As typed, of what holds now."""
        self.problem: str | None = None
        """Why what was typed last does not hold; a clause of one short line. Printable."""
        self._rows: Sequence[FleetRow] = ()
        self._words: tuple[str, ...] = ()
        self._accepted: set[int] | None = None
        self._table: ConditionTable | None = None
        self._is_outdated = False

    @property
    def is_active(self) -> bool:
        """There is something that rows have to be like."""
        return bool(self._words) or self._accepted is not None

    @property
    def is_condition(self) -> bool:
        """That is a condition."""
        return self._accepted is not None

    def choose(self, text: str, rows: Sequence[FleetRow]) -> bool:
        """Let a text decide from now on, if it can; returns whether that may change which rows pass."""
        former = self.text, self._words, self._accepted
        self.problem = None
        condition = text[1:].strip() if text.startswith(CONDITION_SIGN) else ""
        if condition and not self._run(condition, rows):
            return False
        self.text = text
        if not condition:
            self._accepted = None
        self._words = () if text.startswith(CONDITION_SIGN) else tuple(text.casefold().split())
        return former[1:] != (self._words, self._accepted)

    def renew(self, rows: Sequence[FleetRow]) -> None:
        """Find out again for which rows the condition is true, if rows have changed since."""
        if self._accepted is not None and self._is_outdated:
            self.problem = None
            self._run(self.text[1:].strip(), rows)

    def changed(self, number: int) -> None:
        """Note that a row is new or of another state."""
        self._is_outdated = True
        if self._table is not None:
            self._table.changed((number,))

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Follow rows that have other numbers; what is not in `numbers` is gone."""
        if self._accepted is not None:
            self._accepted = {numbers[number] for number in self._accepted if number in numbers}
        self._is_outdated = True
        if self._table is not None:
            self._table.reset(len(numbers))

    def passes(self, row: FleetRow) -> bool:
        """Tell whether a new row is shown at once; where there is a condition that is known with the next `renew`."""
        haystack = row.haystack
        return self._accepted is None and all(word in haystack for word in self._words)

    def passing(self, numbers: Sequence[int], rows: Sequence[FleetRow]) -> list[int]:
        """Return those of the rows that pass, in their order; always another list."""
        accepted = self._accepted
        if accepted is not None:
            return [number for number in numbers if number in accepted]
        passing = list(numbers)
        for word in self._words:
            passing = [number for number in passing if word in rows[number].haystack]
        return passing

    def _run(self, condition: str, rows: Sequence[FleetRow]) -> bool:
        from gitdash.history.filter import FilterError

        self._rows = rows
        try:
            self._accepted = set(self._condition_table().select(condition, time_limit_s=_TIME_LIMIT_S))
        except FilterError as error:
            self.problem = error.reason
            return False
        self._is_outdated = False
        return True

    def _condition_table(self) -> "ConditionTable":
        if self._table is None:
            from gitdash.history.condition_table import ConditionTable

            self._table = ConditionTable(CONDITION_NAMES, self._values_of, texts=CONDITION_TEXTS)
            self._table.reset(len(self._rows))
        return self._table

    def _values_of(self, column: str, numbers: Sequence[int]) -> Iterable[RawValue | None]:
        rows = self._rows
        return raw_values([rows[number].summary for number in numbers], column)
