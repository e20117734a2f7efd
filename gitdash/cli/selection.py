"""What `--where` selects: which repositories have to be measured for it, and then which rows are printed.

A row that is not printed is not measured, unless only its size can tell; and what could not be measured there counts
only if the condition is left open by it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gitdash.export.columns import (
    CHANGED_BY_MEASURING,
    CONDITION_NAMES,
    MEASURED_NAMES,
    Column,
    RawValue,
    column_named,
    raw_row,
)
from gitdash.model.summary import RepositorySummary

Rows = list[RepositorySummary]


@dataclass(frozen=True)
class Selection:
    """One condition."""

    condition: str

    @cached_property
    def columns(self) -> list[Column]:
        """The columns that the condition names. Raises FilterError if it cannot be run."""
        from gitdash.history.filter import columns_read

        return [column_named(name) for name in sorted(columns_read(self.condition, CONDITION_NAMES))]

    @property
    def sizes(self) -> str:
        """What has to be measured for the condition."""
        return sizes_for(self.columns)

    def choose(self, summaries: Sequence[RepositorySummary]) -> Collection[bytes]:
        """Return the paths of those that may be selected once they are measured."""
        not_known = dict.fromkeys(CHANGED_BY_MEASURING)
        positions = self._may_hold([{**raw_row(summary), **not_known} for summary in summaries], CHANGED_BY_MEASURING)
        return {summaries[position].path for position in positions}

    def selected(self, rows: Rows) -> Rows:
        """Return the rows for which the condition holds."""
        from gitdash.history.filter import select

        return [rows[position] for position in select([*map(raw_row, rows)], self.condition, columns=CONDITION_NAMES)]

    def concerned(self, rows: Rows) -> Collection[bytes]:
        """Return the paths of those that are selected, or may be: a value that the condition needs is not there."""
        positions = self._may_hold([*map(raw_row, rows)], MEASURED_NAMES)
        return {rows[position].path for position in positions}

    def _may_hold(self, rows: Sequence[Mapping[str, RawValue | None]], unknown: Collection[str]) -> list[int]:
        from gitdash.history.undecided import may_hold

        return may_hold(rows, self.condition, columns=CONDITION_NAMES, unknown=unknown)


def sizes_for(columns: Iterable[Column]) -> str:
    """Return what has to be measured for some columns, as `--sizes` names it."""
    measured_by = {column.measured_by for column in columns if column.measured_by}
    return "all" if len(measured_by) > 1 else next(iter(measured_by), "disk")
