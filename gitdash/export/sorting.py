"""Rows in the order of one column: what is known first, then the unreadable, then the absent. Pure."""

from collections.abc import Iterable

from gitdash.export.column import Column, RawValue
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary


def sort_summaries(
    summaries: Iterable[RepositorySummary], column: Column, *, descending: bool
) -> list[RepositorySummary]:
    """Return the rows sorted by one column; in both directions the unreadable and then the absent stand last."""
    known: list[RepositorySummary] = []
    unreadable: list[RepositorySummary] = []
    absent: list[RepositorySummary] = []
    for summary in summaries:
        value = column.value(summary)
        (absent if value is None else unreadable if isinstance(value, Unreadable) else known).append(summary)
    known.sort(key=lambda summary: sort_value(column, summary), reverse=descending)
    return [*known, *unreadable, *absent]


def sort_value(column: Column, summary: RepositorySummary) -> tuple[int, RawValue]:
    """Return what to compare: (0, rank), (1, 0) for unreadable, (2, 0) for absent; so these stand last ascending."""
    value = column.value(summary)
    if value is None:
        return (2, 0)
    if isinstance(value, Unreadable):
        return (1, 0)
    return (0, column.rank(value))
