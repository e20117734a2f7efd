"""The columns of every table, declared once: `--columns`, `--sort`, `--where`, CSV, markdown, dashboard and README.

A column has two names: `key` for people, and `raw_name`, which carries the unit and names the raw number in CSV and in
`--where`.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from gitdash.errors import GitdashError
from gitdash.export.column import (
    ABSENT,
    AGE,
    LOWER_BOUND,
    PENDING,
    UNMEASURED,
    UNREADABLE,
    Column,
    RawValue,
    bytes_column,
    count_column,
    measured_column,
    word_column,
)
from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.units import printable, printable_path

__all__ = [
    "ABSENT",
    "COLUMNS",
    "CONDITION_NAMES",
    "FLEET_COLUMNS",
    "LOWER_BOUND",
    "PENDING",
    "UNMEASURED",
    "UNREADABLE",
    "Column",
    "ColumnError",
    "RawValue",
    "column_named",
    "parse_columns",
    "raw_row",
]


class ColumnError(GitdashError):
    """No such column."""


_STATE_RANKS: Final = {state.value: rank for rank, state in enumerate(State)}


FLEET_COLUMNS: Final = (
    word_column(
        "name",
        "The path below the root.",
        value=lambda summary: summary.name,
        width=32,
        priority=0,
        rank=lambda value: str(value).casefold(),
    ),
    word_column(
        "role",
        "What it is to others: `plain`, `member` (borrows objects), `pool` (lends them), or `member+pool`.",
        value=lambda summary: summary.role,
        width=6,
        priority=6,
    ),
    word_column(
        "state",
        "The worst severity, plain facts aside, or `ok`; `foreign`: another user's; `unreadable`: it cannot be read.",
        value=lambda summary: summary.state.value,
        width=8,
        priority=1,
        rank=lambda value: _STATE_RANKS.get(str(value), len(_STATE_RANKS)),
    ),
    bytes_column(
        "disk",
        "Sum of the sizes of all files below the git directory; one with several links counts once.",
        attribute="disk_bytes",
        priority=2,
    ),
    measured_column(
        "exclusive",
        "Objects stored here and in no lender: what deleting the repository would free, but for linked files.",
        attribute="exclusive_bytes",
        priority=4,
        measured_by="exclusive",
    ),
    measured_column(
        "reachable",
        "What a full clone costs on disk, lenders' objects included, as git answers it.",
        attribute="reachable_bytes",
        priority=5,
        measured_by="reachable",
        bound="reachable_bound",
    ),
    measured_column(
        "own",
        "What is reachable here and not from the lenders' references, as git answers it; `<=` marks an upper bound.",
        attribute="reachable_own_bytes",
        priority=10,
        measured_by="reachable",
        bound="reachable_own_bound",
    ),
    count_column("packs", "Pack files.", attribute="pack_count", priority=3),
    count_column("loose", "Loose objects.", attribute="loose_count", priority=7),
    word_column(
        "bitmap",
        "Where a reachability bitmap is: `pack`, `midx`, `lender`, or none.",
        value=lambda summary: summary.bitmap,
        width=6,
        priority=9,
    ),
    count_column(
        "refs",
        "References; one that is loose and packed counts once. Absent for reftable, which needs git to count them.",
        attribute="reference_count",
        priority=11,
    ),
    AGE,
)
"""The columns of the live table and of `scan` by default, in their order."""

MORE_COLUMNS: Final = (
    bytes_column(
        "allocated",
        "What the file system sets aside for those files: less than `disk` where they are sparse or compressed.",
        attribute="allocated_bytes",
        priority=27,
    ),
    word_column(
        "kind",
        "How it lies on disk: `bare`, `worktree`, `linked_worktree` or `submodule`.",
        value=lambda summary: summary.kind.value,
        width=15,
        priority=12,
    ),
    word_column(
        "path",
        "The absolute path of the work tree, or of the git directory where there is none.",
        value=lambda summary: printable_path(summary.path),
        width=48,
        priority=13,
    ),
    bytes_column(
        "objects",
        "Packs and loose objects stored here.",
        attribute="objects_bytes",
        priority=14,
    ),
    measured_column(
        "duplicate",
        "Own copies of objects that a lender has too.",
        attribute="duplicate_bytes",
        priority=15,
        measured_by="exclusive",
    ),
    measured_column(
        "saved",
        "What a member reads from its lenders instead of storing it: reachable less exclusive less duplicate.",
        attribute="saved_bytes",
        priority=28,
        measured_by="all",
        bound="saved_bound",
    ),
    bytes_column("pack_bytes", "Size of the pack files.", attribute="pack_bytes", priority=16),
    count_column(
        "outside_midx",
        "Packs that no multi-pack-index covers.",
        attribute="outside_midx_count",
        priority=17,
    ),
    count_column(
        "stale_loose",
        "Loose objects older than the grace period.",
        attribute="loose_stale_count",
        priority=18,
    ),
    count_column(
        "borrowers",
        "Repositories that borrow objects from this one, as far as scans have seen.",
        attribute="borrower_count",
        priority=19,
    ),
    count_column(
        "alternates",
        "Object stores that this one borrows from, directly or through another.",
        attribute="alternate_count",
        priority=20,
    ),
    bytes_column(
        "garbage",
        "Files below `objects` that are not git's: temporary files and others.",
        attribute="garbage_bytes",
        priority=21,
    ),
    word_column(
        "object_format",
        "The hash function: `sha1` or `sha256`.",
        value=lambda summary: summary.object_format,
        width=6,
        priority=22,
    ),
    count_column(
        "findings",
        "How many findings there are.",
        attribute="finding_count",
        priority=23,
    ),
    word_column(
        "worst",
        "The id of the worst finding.",
        value=lambda summary: summary.worst_rule,
        width=24,
        priority=24,
    ),
    word_column(
        "why",
        "The worst finding in one sentence.",
        value=lambda summary: summary.worst_summary,
        width=60,
        priority=25,
    ),
    word_column(
        "rules",
        "The ids of all findings, the worst first, each once.",
        value=lambda summary: " ".join(summary.rules) or None,
        width=40,
        priority=29,
    ),
    word_column(
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
CONDITION_TEXTS: Final = frozenset(name for name in CONDITION_NAMES if not _COLUMNS_BY_NAME[name].unit)
"""Those of them that hold texts; all others hold numbers."""

MEASURED_NAMES: Final = frozenset(name for name in CONDITION_NAMES if _COLUMNS_BY_NAME[name].measured_by)
"""Those of them whose value has to be measured."""
CHANGED_BY_MEASURING: Final = MEASURED_NAMES | {"state", "findings", "finding_count", "worst", "why", "rules"}
"""Those whose value may be another once sizes are measured: a size, or that there is none, can be a finding."""


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
    """Return the row that a condition selects from: each of CONDITION_NAMES to its raw value."""
    return {name: raw_value(summary, name) for name in CONDITION_NAMES}


def raw_value(summary: RepositorySummary, name: str) -> RawValue | None:
    """Return what a condition finds under one of CONDITION_NAMES.

    None stands for absent, not measured and unreadable alike: SQL knows no more.
    """
    return raw_values((summary,), name)[0]


def raw_values(summaries: Iterable[RepositorySummary], name: str) -> list[RawValue | None]:
    """Return the same of many rows, in their order."""
    values = map(_COLUMNS_BY_NAME[name].value, summaries)
    return [None if isinstance(value, Unreadable) else value for value in values]
