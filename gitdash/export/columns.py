"""The columns of every table, declared once: `--columns`, `--sort`, `--where`, CSV, markdown, dashboard and README.

A column has two names: `key` for people, and `raw_name`, which carries the unit and names the raw number in CSV and in
`--where`. It does not draw, nor sort: widths and priorities are wishes that a front end weighs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from gitdash.errors import GitdashError
from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound
from gitdash.model.summary import RepositorySummary
from gitdash.units import human_age, human_bytes, human_count, printable, printable_path

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
"""Stands before a size that is an upper bound."""
LOWER_BOUND: Final = ">="
"""Stands before a sum in which something is missing."""


class ColumnError(GitdashError):
    """No such column."""


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
    measured_by: Literal["exclusive", "reachable", ""] = ""
    """What has to be measured beyond files, as `--sizes` calls it."""

    @property
    def starts_with_greatest(self) -> bool:
        """Whether sorting puts the greatest first unless it is turned round: big numbers and bad states are looked for.

        An age is none of them: what was looked at last comes first.
        """
        return self.unit in {"bytes", "count"} or self.key == "state"


def _read(attribute: str) -> Callable[[RepositorySummary], Cell]:
    def value(summary: RepositorySummary) -> Cell:
        found: Cell = getattr(summary, attribute)
        return found

    return value


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


def _bytes(key: str, sentence: str, *, attribute: str, priority: int) -> Column:
    return Column(
        key=key,
        raw_name=attribute,
        title=_title(key),
        help=sentence,
        unit="bytes",
        value=_read(attribute),
        text=_text(attribute, human_bytes, ABSENT),
        align="right",
        width=8,
        priority=priority,
    )


def _measured(
    key: str,
    sentence: str,
    *,
    attribute: str,
    priority: int,
    measured_by: Literal["exclusive", "reachable"],
    bound: str | None = None,
) -> Column:
    return Column(
        key=key,
        raw_name=attribute,
        title=_title(key),
        help=sentence,
        unit="bytes",
        value=_read(attribute),
        text=_text(attribute, human_bytes, UNMEASURED, bound),
        align="right",
        width=10 if bound else 9,
        priority=priority,
        measured_by=measured_by,
    )


def _count(key: str, sentence: str, *, attribute: str, priority: int) -> Column:
    return Column(
        key=key,
        raw_name=attribute,
        title=_title(key),
        help=sentence,
        unit="count",
        value=_read(attribute),
        text=_text(attribute, human_count, ABSENT),
        align="right",
        width=max(5, len(key)),
        priority=priority,
    )


def _word(
    key: str,
    sentence: str,
    *,
    value: Callable[[RepositorySummary], str | Unreadable | None],
    width: int,
    priority: int,
    rank: Callable[[RawValue], RawValue] = lambda value: value,
) -> Column:
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


_STATE_RANKS: Final = {state.value: rank for rank, state in enumerate(State)}


def _age_text(summary: RepositorySummary, now_s: float) -> str:
    if summary.inspected_at_s is None:
        return _missing(summary, ABSENT)
    return human_age(now_s - summary.inspected_at_s)


_AGE: Final = Column(
    key="age",
    raw_name="inspected_at_s",
    title="age",
    help="How long ago the files were looked at; the raw value is that moment in seconds since the epoch.",
    unit="s",
    value=_read("inspected_at_s"),
    text=_age_text,
    align="right",
    width=4,
    priority=8,
    rank=lambda value: -value if isinstance(value, int | float) else value,
)

FLEET_COLUMNS: Final = (
    _word(
        "name",
        "The path below the root.",
        value=lambda summary: summary.name,
        width=32,
        priority=0,
        rank=lambda value: str(value).casefold(),
    ),
    _word(
        "role",
        "What it is to others: `plain`, `member` (borrows objects), `pool` (lends them), or `member+pool`.",
        value=lambda summary: summary.role,
        width=6,
        priority=6,
    ),
    _word(
        "state",
        "The worst severity, plain facts aside, or `ok`; `foreign`: another user's; `unreadable`: it cannot be read.",
        value=lambda summary: summary.state.value,
        width=8,
        priority=1,
        rank=lambda value: _STATE_RANKS.get(str(value), len(_STATE_RANKS)),
    ),
    _bytes(
        "disk",
        "Sum of the sizes of all files below the git directory; one with several links counts once.",
        attribute="disk_bytes",
        priority=2,
    ),
    _measured(
        "exclusive",
        "Objects stored here and in no lender: what deleting the repository would free, but for linked files.",
        attribute="exclusive_bytes",
        priority=4,
        measured_by="exclusive",
    ),
    _measured(
        "reachable",
        "What a full clone costs on disk, lenders' objects included, as git answers it.",
        attribute="reachable_bytes",
        priority=5,
        measured_by="reachable",
        bound="reachable_bound",
    ),
    _measured(
        "own",
        "What is reachable here and not from the lenders' references, as git answers it; `<=` marks an upper bound.",
        attribute="reachable_own_bytes",
        priority=9,
        measured_by="reachable",
        bound="reachable_own_bound",
    ),
    _count("packs", "Pack files.", attribute="pack_count", priority=3),
    _count("loose", "Loose objects.", attribute="loose_count", priority=7),
    _word(
        "bitmap",
        "Where a reachability bitmap is: `pack`, `midx`, `lender`, or none.",
        value=lambda summary: summary.bitmap,
        width=6,
        priority=10,
    ),
    _count(
        "refs",
        "References, loose and packed; absent for reftable, which needs git to count them.",
        attribute="reference_count",
        priority=11,
    ),
    _AGE,
)
"""The columns of the live table and of `scan` by default, in their order."""

MORE_COLUMNS: Final = (
    _bytes(
        "allocated",
        "What the file system sets aside for those files: less than `disk` where they are sparse or compressed.",
        attribute="allocated_bytes",
        priority=27,
    ),
    _word(
        "kind",
        "How it lies on disk: `bare`, `worktree`, `linked_worktree` or `submodule`.",
        value=lambda summary: summary.kind.value,
        width=15,
        priority=12,
    ),
    _word(
        "path",
        "The absolute path of the work tree, or of the git directory where there is none.",
        value=lambda summary: printable_path(summary.path),
        width=48,
        priority=13,
    ),
    _bytes(
        "objects",
        "Packs and loose objects stored here.",
        attribute="objects_bytes",
        priority=14,
    ),
    _measured(
        "duplicate",
        "Own copies of objects that a lender has too.",
        attribute="duplicate_bytes",
        priority=15,
        measured_by="exclusive",
    ),
    _bytes("pack_bytes", "Size of the pack files.", attribute="pack_bytes", priority=16),
    _count(
        "outside_midx",
        "Packs that no multi-pack-index covers.",
        attribute="outside_midx_count",
        priority=17,
    ),
    _count(
        "stale_loose",
        "Loose objects older than the grace period.",
        attribute="loose_stale_count",
        priority=18,
    ),
    _count(
        "borrowers",
        "Repositories that borrow objects from this one, as far as scans have seen.",
        attribute="borrower_count",
        priority=19,
    ),
    _count(
        "alternates",
        "Object stores that this one borrows from, directly or through another.",
        attribute="alternate_count",
        priority=20,
    ),
    _bytes(
        "garbage",
        "Files below `objects` that are not git's: temporary files and others.",
        attribute="garbage_bytes",
        priority=21,
    ),
    _word(
        "object_format",
        "The hash function: `sha1` or `sha256`.",
        value=lambda summary: summary.object_format,
        width=6,
        priority=22,
    ),
    _count(
        "findings",
        "How many findings there are.",
        attribute="finding_count",
        priority=23,
    ),
    _word(
        "worst",
        "The id of the worst finding.",
        value=lambda summary: summary.worst_rule,
        width=24,
        priority=24,
    ),
    _word(
        "why",
        "The worst finding in one sentence.",
        value=lambda summary: summary.worst_summary,
        width=60,
        priority=25,
    ),
    _word(
        "root",
        "The root below which it was found.",
        value=lambda summary: printable_path(summary.root),
        width=24,
        priority=26,
    ),
)

COLUMNS: Final[tuple[Column, ...]] = (*FLEET_COLUMNS, *MORE_COLUMNS)
_COLUMNS_BY_NAME: Final = {name: column for column in COLUMNS for name in (column.raw_name, column.key)}

CONDITION_NAMES: Final = tuple(
    name for name, column in _COLUMNS_BY_NAME.items() if name == column.raw_name or column.unit != "s"
)
"""What a condition may name: each column by its raw name and by its key, but `age`, whose raw value is a moment."""


def column_named(name: str) -> Column:
    """Return the column with this key or raw name; raise ColumnError, which names the nearest, if there is none."""
    if name in _COLUMNS_BY_NAME:
        return _COLUMNS_BY_NAME[name]
    import difflib

    nearest = difflib.get_close_matches(name, _COLUMNS_BY_NAME, n=1, cutoff=0.7)
    nearest += [column.key for column in COLUMNS if len(name) > 1 and name in column.key]
    hint = f", did you mean '{nearest[0]}'?" if nearest else f"; the columns are {', '.join(c.key for c in COLUMNS)}"
    raise ColumnError(f"no column '{printable(name)}'{hint}")


def parse_columns(names: str) -> tuple[Column, ...]:
    """Return the columns that a comma-separated list names, in its order; raise ColumnError if one is unknown."""
    parts = [name.strip() for name in names.split(",")]
    columns = tuple(column_named(name) for name in parts if name)
    if not columns:
        raise ColumnError("the list of columns is empty")
    return columns


def raw_row(summary: RepositorySummary) -> Mapping[str, RawValue | None]:
    """Return the row that a condition selects from: each of CONDITION_NAMES to its raw value.

    None stands for absent, not measured and unreadable alike: SQL knows no more.
    """
    row: dict[str, RawValue | None] = {}
    for name in CONDITION_NAMES:
        value = _COLUMNS_BY_NAME[name].value(summary)
        row[name] = None if isinstance(value, Unreadable) else value
    return row
