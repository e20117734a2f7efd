"""The five sizes of one repository as rows that show how they nest, for the Overview. Pure.

`objects` lie inside `disk`, `exclusive` and `duplicate` make up `objects`, and `own` is the part of `reachable` that
does not come with the lenders' references. What is not known is not drawn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitdash.export.columns import ABSENT
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound, ExclusiveSizes, SizeMeasurement
from gitdash.tui.drawing.cells import Tone
from gitdash.tui.repository.size_bar import BarPart, SizeBar
from gitdash.tui.repository.sizes import disk_note, measurement_note, objects_note, size_text
from gitdash.tui.repository.view import RepositoryView, ago
from gitdash.units import counted, human_bytes, human_duration

HERE: Final = ("█", Tone.ACCENT)
"""Objects that are stored here, or reached from here alone."""
TWICE: Final = ("▓", Tone.WARNING)
OTHER_FILES: Final = ("▒", Tone.DIM)
LENT: Final = ("░", Tone.DIM)
UNDIVIDED: Final = ("━", Tone.ACCENT)
"""Reachable in a member, when it is not known how much of it comes with the lenders' references."""
LEGEND: Final = {
    HERE: "objects",
    TWICE: "a lender has them, too",
    OTHER_FILES: "other files: indexes, references, logs",
    LENT: "with lenders' references",
    UNDIVIDED: "own or lent: not told apart",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRow:
    """One size on the Overview."""

    label: str
    depth: int
    text: str
    """The figure with its sign, or what stands in its place."""
    bar: SizeBar | None
    """None if there is no figure."""
    note: str
    """How it was obtained and when; of a figure that is missing, why."""


def size_rows(view: RepositoryView) -> list[SizeRow]:
    """Return the sizes from the outermost to the innermost: first what is stored, then what is reached."""
    return [*_stored_rows(view), *_reached_rows(view)]


def _stored_rows(view: RepositoryView) -> Iterator[SizeRow]:
    summary, report = view.summary, view.report
    yield _disk_row(view)
    objects = summary.objects_bytes
    yield SizeRow(
        label="objects",
        depth=1 if summary.has_own_store else 0,
        text=size_text(objects),
        bar=_bar(objects, HERE),
        note=_said(objects, _joined(_read_from_files(view, Bound.EXACT), objects_note(report)), view),
    )
    sizes = report.sizes.exclusive if report is not None else None
    found = sizes if isinstance(sizes, ExclusiveSizes) else None
    exclusive, duplicate = summary.exclusive_bytes, summary.duplicate_bytes
    if summary.lacks("exclusive_bytes"):
        note = "a linked worktree stores no objects of its own"
        yield SizeRow(label="exclusive", depth=2, text=ABSENT, bar=None, note=note)
        return
    yield SizeRow(
        label="exclusive",
        depth=2,
        text=size_text(exclusive),
        bar=_bar(exclusive, HERE),
        note=_said(exclusive, _compared(found, view.now_s), view),
    )
    is_said = isinstance(exclusive, Unreadable) and exclusive == duplicate
    yield SizeRow(
        label="duplicate",
        depth=2,
        text=size_text(duplicate),
        bar=_bar(duplicate, TWICE, start_bytes=exclusive if isinstance(exclusive, int) else 0),
        note="" if is_said else _said(duplicate, _duplicates(found), view),
    )


def _disk_row(view: RepositoryView) -> SizeRow:
    disk, objects = view.summary.disk_bytes, view.summary.objects_bytes
    bound = _disk_bound(view.report)
    bar = _bar(disk, OTHER_FILES, bound=bound)
    if isinstance(disk, int) and isinstance(objects, int) and view.summary.has_own_store and objects <= disk:
        bar = SizeBar(parts=(BarPart(objects, *HERE), BarPart(disk - objects, *OTHER_FILES)), bound=bound)
    note = _said(disk, _joined(_read_from_files(view, bound), disk_note(view.report)), view)
    return SizeRow(label="disk", depth=0, text=size_text(disk, bound), bar=bar, note=note)


def _reached_rows(view: RepositoryView) -> Iterator[SizeRow]:
    summary, report = view.summary, view.report
    reachable, own = summary.reachable_bytes, summary.reachable_own_bytes
    of_reachable, of_own = (report.sizes.reachable, report.sizes.reachable_own) if report is not None else (None, None)
    yield SizeRow(
        label="reachable",
        depth=0,
        text=size_text(reachable, summary.reachable_bound),
        bar=_reachable_bar(view),
        note=_said(reachable, measurement_note(of_reachable, view.now_s), view, key="measure"),
    )
    is_said = isinstance(own, Unreadable) and own == reachable
    yield SizeRow(
        label="own",
        depth=1,
        text=size_text(own, summary.reachable_own_bound),
        bar=_bar(own, HERE, bound=summary.reachable_own_bound),
        note="" if is_said else _said(own, _own_note(of_own, of_reachable, view), view, key="measure"),
    )


def _reachable_bar(view: RepositoryView) -> SizeBar | None:
    summary = view.summary
    reachable, own, bound = summary.reachable_bytes, summary.reachable_own_bytes, summary.reachable_bound
    if not summary.is_member:
        return _bar(reachable, HERE, bound=bound)
    if isinstance(reachable, int) and isinstance(own, int) and own <= reachable:
        return SizeBar(parts=(BarPart(own, *HERE), BarPart(reachable - own, *LENT)), bound=bound)
    return _bar(reachable, UNDIVIDED, bound=bound)


def _own_note(
    own: SizeMeasurement | Unreadable | None, reachable: SizeMeasurement | Unreadable | None, view: RepositoryView
) -> str:
    note = measurement_note(own, view.now_s)
    if view.summary.is_member or note != measurement_note(reachable, view.now_s):
        return note
    return "the same question as reachable: there is no lender"


def _bar(
    value: int | Unreadable | None, kind: tuple[str, Tone], *, start_bytes: int = 0, bound: Bound = Bound.EXACT
) -> SizeBar | None:
    if not isinstance(value, int):
        return None
    return SizeBar(parts=(BarPart(value, *kind),), start_bytes=start_bytes, bound=bound)


def _disk_bound(report: RepositoryReport | None) -> Bound:
    inspection = report.inspection if report is not None else None
    disk = inspection.disk if isinstance(inspection, Inspection) else None
    return Bound.LOWER if isinstance(disk, DiskFacts) and disk.incomplete else Bound.EXACT


def _said(value: int | Unreadable | None, note: str, view: RepositoryView, *, key: str = "rescan") -> str:
    """Return what is said of a size: how it was obtained, why it cannot be read, or how to have it measured."""
    if isinstance(value, Unreadable):
        return value.reason
    if value is not None:
        return note
    if view.is_busy:
        return "work on this repository is going on"
    shown = view.key(key)
    return f"{shown} has it measured now" if shown else ""


def _read_from_files(view: RepositoryView, bound: Bound) -> str:
    return f"from files, {bound.words}, read {view.read_ago}"


def _compared(sizes: ExclusiveSizes | None, now_s: float) -> str:
    if sizes is None:
        return ""
    count = sizes.exclusive_count
    objects = f"{counted(count, 'object')} that no lender has" if count else "nothing that no lender has"
    parts = [
        f"index difference, exact, took {human_duration(sizes.elapsed_s)}",
        f"compared {ago(now_s - sizes.measured_at_s)}",
        objects,
    ]
    if sizes.redundant_count:
        parts.append(f"{human_bytes(sizes.redundant_bytes)} more in second copies")
    return ", ".join(parts)


def _duplicates(sizes: ExclusiveSizes | None) -> str:
    if sizes is None:
        return ""
    if not sizes.duplicate_count:
        return "no object here lies in a lender, too"
    return f"{counted(sizes.duplicate_count, 'object')} that a lender has, too, by the same comparison"


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
