"""Sums over all lenders, and the two lines that show them. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from gitdash.export.columns import LOWER_BOUND
from gitdash.export.pools import PoolRow, cost_text
from gitdash.model.finding import Severity
from gitdash.model.repository import Unreadable
from gitdash.model.saved import SavedSum
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.cells import Line, Piece, Tone, line_length
from gitdash.tui.pools.unsafe import TONES, worst_severity
from gitdash.units import counted, human_bytes, human_count


@dataclass(slots=True, kw_only=True)
class PoolSums:
    """What all pools of a fleet are together; each object store counts once."""

    lender_count: int = 0
    missing_count: int = 0
    outside_count: int = 0
    member_count: int = 0
    """Repositories that borrow."""
    objects_bytes: int = 0
    """Stored in the lenders that are among the repositories."""
    objects_unknown_count: int = 0
    duplicate_bytes: int = 0
    """What members store although a lender has it."""
    duplicate_unknown_count: int = 0
    saved: SavedSum = field(default_factory=SavedSum)
    """Of the whole fleet, less the objects of pools that are there for nothing else."""
    unsafe_count: int = 0
    """Lenders about which something is unsafe."""
    worst: Severity | None = None
    """Of all that is unsafe."""

    @classmethod
    def of(cls, rows: Iterable[PoolRow], summaries: Iterable[RepositorySummary], saved: SavedSum) -> Self:
        """Return the sums of a fleet and its lenders; what it saves is known already."""
        sums = cls(saved=saved)
        for row in rows:
            sums._add_lender(row)
        for summary in summaries:
            if summary.lenders and summary.counts_store:
                sums._add_member(summary.duplicate_bytes)
        return sums

    def _add_lender(self, row: PoolRow) -> None:
        self.lender_count += 1
        self.missing_count += not row.exists
        self.outside_count += row.exists and not row.is_known
        severity = worst_severity(row)
        if severity is not None:
            self.unsafe_count += 1
            self.worst = severity if self.worst is None or severity.rank > self.worst.rank else self.worst
        if row.summary is not None and row.summary.counts_store:
            size = row.summary.objects_bytes
            self.objects_bytes += size if isinstance(size, int) else 0
            self.objects_unknown_count += not isinstance(size, int)
        self.objects_unknown_count += row.summary is None and row.exists

    def _add_member(self, duplicate_bytes: int | Unreadable | None) -> None:
        self.member_count += 1
        if isinstance(duplicate_bytes, int):
            self.duplicate_bytes += duplicate_bytes
        else:
            self.duplicate_unknown_count += 1


def sums_lines(sums: PoolSums, width: int) -> Sequence[Line]:
    """Return how many there are on one line, and bytes on another; the last are left out where `width` is short."""
    return [_joined(_counts(sums), width), _joined(_sizes(sums), width)]


def _counts(sums: PoolSums) -> list[Line]:
    groups: list[Line] = [_group(counted(sums.lender_count, "lender")), _group(counted(sums.member_count, "member"))]
    tone = Tone.OK if sums.worst is None else TONES[sums.worst]
    groups.append([Piece(f"{human_count(sums.unsafe_count)} unsafe", tone)])
    if sums.missing_count:
        groups.append([Piece(f"{human_count(sums.missing_count)} missing", Tone.CRITICAL)])
    if sums.outside_count:
        groups.append([Piece(f"{human_count(sums.outside_count)} outside the roots", Tone.NOTICE)])
    return groups


def _sizes(sums: PoolSums) -> list[Line]:
    sign = LOWER_BOUND if sums.objects_unknown_count else ""
    groups: list[Line] = [_size(sign + human_bytes(sums.objects_bytes), "in lenders")]
    if sums.saved.known_count:
        groups.append(_saved(sums.saved))
    elif sums.member_count:
        groups.append([Piece("saved: not measured yet", Tone.DIM)])
    if sums.duplicate_unknown_count < sums.member_count:
        sign = LOWER_BOUND if sums.duplicate_unknown_count else ""
        groups.append(_size(sign + human_bytes(sums.duplicate_bytes), "duplicate in members"))
    return groups


def _saved(saved: SavedSum) -> Line:
    if saved.bytes >= 0:
        return _size(saved.bound.sign + human_bytes(saved.bytes), "saved net")
    if saved.unknown_count:
        # a bound would say at most what is known to be more by what the others save
        return [Piece(f"pools cost {human_bytes(-saved.bytes)} more than they save so far", Tone.DIM)]
    return [Piece(f"pools cost {cost_text(saved.bytes, saved.bound)} more than they save", Tone.PLAIN)]


def _group(text: str) -> Line:
    number, _, noun = text.partition(" ")
    return [Piece(number, Tone.STRONG), Piece(f" {noun}", Tone.DIM)]


def _size(size: str, label: str) -> Line:
    return [Piece(size, Tone.STRONG), Piece(f" {label}", Tone.DIM)]


def _joined(groups: list[Line], width: int) -> Line:
    gap = 3
    while len(groups) > 1 and sum(line_length(group) + gap for group in groups) > width:
        groups.pop()
    pieces: list[Piece] = []
    for number, group in enumerate(groups):
        pieces += [Piece(" " * (gap if number else 1), Tone.PLAIN), *group]
    return pieces
