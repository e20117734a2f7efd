"""The five sizes of one repository as lines: each with how it was obtained, whether it is exact, and its age. Pure."""

from collections.abc import Iterator
from typing import Final

from gitdash.export.columns import UNREADABLE, UPPER_BOUND
from gitdash.model.inspection import DiskFacts, Inspection, LooseFacts, PackFacts
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, SizeMeasurement
from gitdash.model.summary import RepositorySummary
from gitdash.tui.cells import Line, Piece, Tone
from gitdash.tui.wrap import flow, wrapped
from gitdash.units import human_age, human_bytes, human_count, human_duration

NOT_MEASURED: Final = "not measured"
_LABEL_WIDTH: Final = 10
_VALUE_WIDTH: Final = len(NOT_MEASURED)


def size_text(value: int | Unreadable | None, *, exact: bool = True) -> str:
    """Return a size for people; `?` if it could not be read, `<=` before an upper bound."""
    if value is None:
        return NOT_MEASURED
    if isinstance(value, Unreadable):
        return UNREADABLE
    return human_bytes(value) if exact else UPPER_BOUND + human_bytes(value)


def compact_sizes(summary: RepositorySummary, width: int) -> list[Line]:
    """Return the sizes as few lines as fit, figures only."""
    sizes = (
        ("disk", size_text(summary.disk_bytes)),
        ("objects", size_text(summary.objects_bytes)),
        ("exclusive", size_text(summary.exclusive_bytes)),
        ("duplicate", size_text(summary.duplicate_bytes)),
        ("reachable", size_text(summary.reachable_bytes, exact=summary.reachable_exact)),
        ("own", size_text(summary.reachable_own_bytes, exact=summary.reachable_own_exact)),
    )
    groups = [[Piece(f"{label} ", Tone.DIM), Piece(text, _tone(text))] for label, text in sizes if text != NOT_MEASURED]
    missing = [label for label, text in sizes if text == NOT_MEASURED]
    if missing:
        groups.append([Piece(f"{NOT_MEASURED}: {', '.join(missing)}", Tone.DIM)])
    return flow(groups, width)


def full_sizes(summary: RepositorySummary, report: RepositoryReport | None, width: int, now_s: float) -> list[Line]:
    """Return a line for each size, with its reason."""
    rows = (
        ("disk", size_text(summary.disk_bytes), _disk_note(report)),
        ("objects", size_text(summary.objects_bytes), _objects_note(report)),
        ("exclusive", size_text(summary.exclusive_bytes), _exclusive_note(summary, report)),
        (
            "reachable",
            size_text(summary.reachable_bytes, exact=summary.reachable_exact),
            _measurement_note(report.sizes.reachable if report else None, now_s),
        ),
        (
            "own",
            size_text(summary.reachable_own_bytes, exact=summary.reachable_own_exact),
            _measurement_note(report.sizes.reachable_own if report else None, now_s),
        ),
    )
    return [line for label, text, note in rows for line in _size_lines(label, text, note, width)]


def _size_lines(label: str, text: str, note: str, width: int) -> Iterator[Line]:
    indent = 1 + _LABEL_WIDTH + _VALUE_WIDTH + 2
    notes = wrapped(note, Tone.DIM, width, indent=indent) if width >= indent + 12 else []
    first = notes[0][1:] if notes else ()
    yield [
        Piece(f" {label:<{_LABEL_WIDTH}}", Tone.DIM),
        Piece(f"{text:>{_VALUE_WIDTH}}  ", _tone(text)),
        *first,
    ]
    yield from notes[1:]


def _tone(text: str) -> Tone:
    return {NOT_MEASURED: Tone.DIM, UNREADABLE: Tone.WARNING}.get(text, Tone.STRONG)


def _disk_note(report: RepositoryReport | None) -> str:
    disk = report.inspection.disk if report and isinstance(report.inspection, Inspection) else None
    if isinstance(disk, Unreadable):
        return disk.reason
    if not isinstance(disk, DiskFacts):
        return ""
    parts = [f"{human_bytes(disk.allocated_bytes)} allocated, {human_count(disk.file_count)} files"]
    named = (
        ("modules", disk.modules_bytes),
        ("worktrees", disk.worktrees_bytes),
        ("logs", disk.logs_bytes),
        ("lfs", disk.lfs_bytes),
    )
    parts += [f"{name} {human_bytes(size)}" for name, size in named if size]
    if disk.incomplete:
        parts.append("some folders could not be read: a lower bound")
    return ", ".join(parts)


def _objects_note(report: RepositoryReport | None) -> str:
    if report is None or not isinstance(report.inspection, Inspection):
        return ""
    return ", ".join([*_pack_parts(report.inspection.packs), *_loose_parts(report.inspection.loose)])


def _pack_parts(packs: PackFacts | Unreadable) -> Iterator[str]:
    if isinstance(packs, Unreadable):
        yield f"packs: {packs.reason}"
        return
    yield f"packs {human_bytes(packs.bytes)}"
    if packs.kept_count:
        yield f"kept {human_bytes(packs.kept_bytes)}"
    if packs.cruft_count:
        yield f"cruft {human_bytes(packs.cruft_bytes)}"
    if packs.garbage_bytes:
        yield f"garbage {human_bytes(packs.garbage_bytes)}"


def _loose_parts(loose: LooseFacts | Unreadable) -> Iterator[str]:
    if isinstance(loose, Unreadable):
        yield f"loose: {loose.reason}"
    elif loose.bytes:
        yield f"loose {human_bytes(loose.bytes)}"


def _exclusive_note(summary: RepositorySummary, report: RepositoryReport | None) -> str:
    exclusive = report.sizes.exclusive if report else None
    match exclusive:
        case Unreadable(reason=reason):
            return reason
        case ExclusiveSizes(duplicate_count=0):
            return "no duplicates"
        case ExclusiveSizes():
            duplicate = human_bytes(exclusive.duplicate_bytes)
            objects = "object" if exclusive.duplicate_count == 1 else "objects"
            return f"duplicate {duplicate} in {human_count(exclusive.duplicate_count)} {objects}"
        case _ if isinstance(summary.duplicate_bytes, int):
            return f"duplicate {human_bytes(summary.duplicate_bytes)}"
        case _:
            return ""


def _measurement_note(size: SizeMeasurement | Unreadable | None, now_s: float) -> str:
    match size:
        case None:
            return ""
        case Unreadable(reason=reason):
            return reason
        case SizeMeasurement():
            bound = "exact" if size.exact else "upper bound"
            age = human_age(now_s - size.measured_at_s)
            when = age if age == "now" else f"{age} ago"
            parts = [size.strategy.value, bound, human_duration(size.elapsed_s), when, *size.notes]
            return ", ".join(parts)
