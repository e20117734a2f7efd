"""The five sizes of one repository as lines: each with how it was obtained, whether it is exact, and its age. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.export.columns import ABSENT, UNREADABLE
from gitdash.export.measured import measured_text
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import Inspection, LooseFacts, PackFacts
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound, ExclusiveSizes, SizeMeasurement
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.wrap import flow, wrapped
from gitdash.units import counted, human_age, human_bytes, human_duration, linked_text

NOT_MEASURED: Final = "not measured"
_RECENT_S: Final = 60.0
_LABEL_WIDTH: Final = 10
_VALUE_WIDTH: Final = len(NOT_MEASURED)


def size_text(value: int | Unreadable | None, bound: Bound = Bound.EXACT) -> str:
    """Return a size for people; `?` if it could not be read, `<=` or `>=` before a bound."""
    if value is None:
        return NOT_MEASURED
    if isinstance(value, Unreadable):
        return UNREADABLE
    return bound.sign + human_bytes(value)


def compact_sizes(summary: RepositorySummary, report: RepositoryReport | None, width: int, now_s: float) -> list[Line]:
    """Return the sizes as few lines as fit: figures, how old those of git are, and why one cannot be told."""
    reachable, own = _answers(report)
    rows = (
        ("disk", summary.disk_bytes, size_text(summary.disk_bytes), ""),
        ("objects", summary.objects_bytes, size_text(summary.objects_bytes), ""),
        ("exclusive", summary.exclusive_bytes, size_text(summary.exclusive_bytes), ""),
        ("duplicate", summary.duplicate_bytes, size_text(summary.duplicate_bytes), ""),
        ("reachable", summary.reachable_bytes, _reachable_text(summary), _old(reachable, now_s)),
        ("own", summary.reachable_own_bytes, _own_text(summary), _old(own, now_s)),
    )
    groups = [
        [Piece(f"{label} ", Tone.DIM), Piece(text, value_tone(text)), *([Piece(old, Tone.DIM)] if old else [])]
        for label, value, text, old in rows
        if value is not None
    ]
    missing = [label for label, value, _, _ in rows if value is None and not summary.lacks(f"{label}_bytes")]
    if missing:
        groups.append([Piece(f"{NOT_MEASURED}: {', '.join(missing)}", Tone.DIM)])
    return [*flow(groups, width), *_reason_lines([(label, value) for label, value, _, _ in rows], summary, width)]


def _reason_lines(
    rows: Sequence[tuple[str, int | Unreadable | None]], summary: RepositorySummary, width: int
) -> Iterator[Line]:
    """Say once for each reason which sizes cannot be told; of a row that is unreadable as a whole its finding does."""
    if summary.state is State.UNREADABLE:
        return
    labels: dict[str, list[str]] = {}
    for label, value in rows:
        if isinstance(value, Unreadable):
            labels.setdefault(value.reason, []).append(label)
    for reason, names in labels.items():
        yield from wrapped(f"{UNREADABLE} {', '.join(names)}: {reason}", Tone.WARNING, width, hanging=2)


def full_sizes(summary: RepositorySummary, report: RepositoryReport | None, width: int, now_s: float) -> list[Line]:
    """Return a line for each size, with its reason."""
    reachable, own = _answers(report)
    rows = (
        ("disk", summary.disk_bytes, size_text(summary.disk_bytes), disk_note(report)),
        ("objects", summary.objects_bytes, size_text(summary.objects_bytes), objects_note(report)),
        ("exclusive", summary.exclusive_bytes, _exclusive_text(summary), _exclusive_note(summary, report)),
        ("reachable", summary.reachable_bytes, _reachable_text(summary), measurement_note(reachable, now_s)),
        ("own", summary.reachable_own_bytes, _own_text(summary), measurement_note(own, now_s)),
    )
    notes = [_note(value, note) for _, value, _, note in rows]
    return [
        line
        for number, (label, value, text, _) in enumerate(rows)
        for line in _size_lines(label, text, _unless_said(notes, number, value), width)
    ]


def _unless_said(notes: Sequence[str], number: int, value: int | Unreadable | None) -> str:
    """Return a note, but none where the line above gives the same reason for being unreadable."""
    is_said = isinstance(value, Unreadable) and number > 0 and notes[number - 1] == notes[number]
    return "" if is_said else notes[number]


def _exclusive_text(summary: RepositorySummary) -> str:
    return ABSENT if summary.lacks("exclusive_bytes") else size_text(summary.exclusive_bytes)


def _note(value: int | Unreadable | None, note: str) -> str:
    """Return what is said of a size: the row knows before the report why there is none."""
    if isinstance(value, Unreadable):
        return value.reason
    return "" if value is None else note


def _answers(
    report: RepositoryReport | None,
) -> tuple[SizeMeasurement | Unreadable | None, SizeMeasurement | Unreadable | None]:
    return (report.sizes.reachable, report.sizes.reachable_own) if report is not None else (None, None)


def _reachable_text(summary: RepositorySummary) -> str:
    return size_text(summary.reachable_bytes, summary.reachable_bound)


def _own_text(summary: RepositorySummary) -> str:
    return size_text(summary.reachable_own_bytes, summary.reachable_own_bound)


def _old(size: SizeMeasurement | Unreadable | None, now_s: float) -> str:
    """Return how old a figure of git is; one that was measured just now needs no word."""
    age_s = now_s - size.measured_at_s if isinstance(size, SizeMeasurement) else 0.0
    return f" {human_age(age_s)} old" if age_s >= _RECENT_S else ""


def _size_lines(label: str, text: str, note: str, width: int) -> Iterator[Line]:
    indent = 1 + _LABEL_WIDTH + _VALUE_WIDTH + 2
    notes = wrapped(note, Tone.DIM, width, indent=indent) if width >= indent + 12 else []
    first = notes[0][1:] if notes else ()
    yield [
        Piece(f" {label:<{_LABEL_WIDTH}}", Tone.DIM),
        Piece(f"{text:>{_VALUE_WIDTH}}  ", value_tone(text)),
        *first,
    ]
    yield from notes[1:]


def value_tone(text: str) -> Tone:
    """Return how the value of a size is drawn."""
    return {NOT_MEASURED: Tone.DIM, UNREADABLE: Tone.WARNING}.get(text, Tone.STRONG)


def disk_note(report: RepositoryReport | None) -> str:
    """Return what else is known of the files of a repository; empty if nothing is."""
    disk = report.inspection.disk if report and isinstance(report.inspection, Inspection) else None
    if not isinstance(disk, DiskFacts):
        return ""
    parts = [f"{human_bytes(disk.allocated_bytes)} allocated, {counted(disk.file_count, 'file')}"]
    named = (
        ("modules", disk.modules_bytes),
        ("worktrees", disk.worktrees_bytes),
        ("logs", disk.logs_bytes),
        ("lfs", disk.lfs_bytes),
    )
    parts += [f"{name} {human_bytes(size)}" for name, size in named if size]
    if disk.linked_bytes:
        parts.append(linked_text(disk.linked_bytes))
    if disk.incomplete:
        parts.append("some folders could not be read: a lower bound")
    return ", ".join(parts)


def objects_note(report: RepositoryReport | None) -> str:
    """Return what the object store consists of; empty if that is not known."""
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
        case ExclusiveSizes(duplicate_count=0):
            return "no duplicates"
        case ExclusiveSizes():
            duplicate = human_bytes(exclusive.duplicate_bytes)
            return f"duplicate {duplicate} in {counted(exclusive.duplicate_count, 'object')}"
        case _ if isinstance(summary.duplicate_bytes, int):
            return f"duplicate {human_bytes(summary.duplicate_bytes)}"
        case _:
            return ""


def measurement_note(size: SizeMeasurement | Unreadable | None, now_s: float) -> str:
    """Return how and when git answered; empty if it did not."""
    if not isinstance(size, SizeMeasurement):
        return ""
    when = measured_text(size, now_s)
    return ", ".join([size.how, size.bound.words, f"took {human_duration(size.elapsed_s)}", when, *size.notes])
