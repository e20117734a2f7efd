"""What a column is, and how the usual ones are made: of bytes, of what is measured, of counts, of words, of the age.

Which columns there are stands in `columns`. It does not draw, nor sort: widths and priorities are wishes that a front
end weighs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound
from gitdash.model.summary import RepositorySummary
from gitdash.units import human_age, human_bytes, human_count, printable

RawValue: TypeAlias = int | float | str
Cell: TypeAlias = RawValue | Unreadable | None

ABSENT: Final = "-"
"""The thing is not there."""
UNREADABLE: Final = "?"
"""The thing is there and could not be read."""
PENDING: Final = "…"
"""Nobody has looked yet."""
UNMEASURED: Final = ""
"""A size that nobody has asked git for."""
LOWER_BOUND: Final = ">="
"""Stands before a sum in which something is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of the fleet."""

    key: str
    """What people type, one word."""
    raw_name: str
    """Name of the raw value in CSV and in conditions, with its unit; equals `key` where there is no unit."""
    title: str
    """Head of the column."""
    help: str
    """One sentence: what the column says."""
    unit: Literal["bytes", "count", "s", ""]
    """Unit of the raw value."""
    value: Callable[[RepositorySummary], Cell]
    """The raw value; None if absent or not measured."""
    text: Callable[[RepositorySummary, float], str]
    """The value for people, given the present time in seconds since the epoch. Printable, one line."""
    align: Literal["left", "right"]
    width: int
    """Cells that hold nearly every value."""
    priority: int
    """Where room is short, the column with the lowest number stays longest."""
    rank: Callable[[RawValue], RawValue] = lambda value: value
    """From a raw value to what sorting compares."""
    measured_by: Literal["exclusive", "reachable", "all", ""] = ""
    """What has to be measured beyond files, as `--sizes` calls it."""

    @property
    def starts_with_greatest(self) -> bool:
        """Whether sorting puts the greatest first unless it is turned round: big numbers and bad states are looked for.

        An age is none of them: what was looked at last comes first.
        """
        return self.unit in {"bytes", "count"} or self.key == "state"


def _text(
    attribute: str, human: Callable[[int], str], missing: str, bound_attribute: str | None = None
) -> Callable[[RepositorySummary, float], str]:
    def text(summary: RepositorySummary, _now_s: float) -> str:
        value = getattr(summary, attribute)
        if isinstance(value, Unreadable):
            return UNREADABLE
        if value is None:
            return _missing(summary, ABSENT if summary.lacks(attribute) else missing)
        bound = Bound.EXACT if bound_attribute is None else getattr(summary, bound_attribute)
        return f"{bound.sign}{human(value)}"

    return text


def _missing(summary: RepositorySummary, otherwise: str) -> str:
    if summary.inspected_at_s is not None:
        return otherwise
    return UNREADABLE if summary.state is State.UNREADABLE else PENDING


def bytes_column(key: str, sentence: str, *, attribute: str, priority: int) -> Column:
    """Return a column of bytes that inspection counts."""
    return Column(
        key=key,
        raw_name=attribute,
        title=_title(key),
        help=sentence,
        unit="bytes",
        value=attrgetter(attribute),
        text=_text(attribute, human_bytes, ABSENT),
        align="right",
        width=8,
        priority=priority,
    )


def measured_column(
    key: str,
    sentence: str,
    *,
    attribute: str,
    priority: int,
    measured_by: Literal["exclusive", "reachable", "all"],
    bound: str | None = None,
) -> Column:
    """Return a column of bytes that have to be measured; `bound` is the attribute that says what the figure is."""
    return Column(
        key=key,
        raw_name=attribute,
        title=_title(key),
        help=sentence,
        unit="bytes",
        value=attrgetter(attribute),
        text=_text(attribute, human_bytes, UNMEASURED, bound),
        align="right",
        width=10 if bound else 9,
        priority=priority,
        measured_by=measured_by,
    )


def count_column(key: str, sentence: str, *, attribute: str, priority: int) -> Column:
    """Return a column of a count."""
    return Column(
        key=key,
        raw_name=attribute,
        title=_title(key),
        help=sentence,
        unit="count",
        value=attrgetter(attribute),
        text=_text(attribute, human_count, ABSENT),
        align="right",
        width=max(5, len(key)),
        priority=priority,
    )


def word_column(
    key: str,
    sentence: str,
    *,
    value: Callable[[RepositorySummary], str | Unreadable | None],
    width: int,
    priority: int,
    rank: Callable[[RawValue], RawValue] = lambda value: value,
) -> Column:
    """Return a column of text, left and without unit."""

    def text(summary: RepositorySummary, _now_s: float) -> str:
        found = value(summary)
        if isinstance(found, Unreadable):
            return UNREADABLE
        return printable(found) if found is not None else _missing(summary, ABSENT)

    return Column(
        key=key,
        raw_name=key,
        title=_title(key),
        help=sentence,
        unit="",
        value=value,
        text=text,
        align="left",
        width=width,
        priority=priority,
        rank=rank,
    )


def _title(key: str) -> str:
    return key.replace("_", " ")


def _age_text(summary: RepositorySummary, now_s: float) -> str:
    if summary.inspected_at_s is None:
        return _missing(summary, ABSENT)
    return human_age(now_s - summary.inspected_at_s)


AGE: Final = Column(
    key="age",
    raw_name="inspected_at_s",
    title="age",
    help="How long ago the files were looked at; the raw value is that moment in seconds since the epoch.",
    unit="s",
    value=attrgetter("inspected_at_s"),
    text=_age_text,
    align="right",
    width=4,
    priority=8,
    rank=lambda value: -value if isinstance(value, int | float) else value,
)
