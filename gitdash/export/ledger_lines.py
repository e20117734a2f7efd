"""Entries of the ledger as lines of text, for pipes and for who reads them later.

Lines are printable and as long as what they say: commands are there to be copied.
Phases are drawn one below the other, each where it was in time.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from gitdash.model.ledger import NO_BITMAP, LedgerEntry, Outcome, Phase, RecordedCommand, ReferenceChange, StoreFigures
from gitdash.units import (
    ago_text,
    counted,
    human_bytes,
    human_count,
    human_duration,
    moment_text,
    printable,
    printable_path,
)

_LABEL_WIDTH: Final = 14
_BAR_WIDTH: Final = 40
_LISTED_COUNT: Final = 20
"""References and files that are printed before the rest is counted."""
_LISTED_IN_SHORT: Final = 3
_STDERR_LINES: Final = 10
"""The last ones: git says why it stops when it does."""
_FIGURES: Final = (
    ("packs", "pack_count", human_count),
    ("in packs", "pack_bytes", human_bytes),
    ("loose", "loose_count", human_count),
    ("in loose", "loose_bytes", human_bytes),
    ("disk", "disk_bytes", human_bytes),
    ("garbage", "garbage_bytes", human_bytes),
    ("references", "reference_count", human_count),
    ("bitmap", "bitmap", lambda name: "-" if name == NO_BITMAP else str(name)),
    ("findings", "finding_count", human_count),
)


def action_name(entry: LedgerEntry) -> str:
    """Return what was done, in two words: `fetch origin`, `maintain full-repack`."""
    object_name = entry.remote or (entry.task.value if entry.task else "")
    return printable(f"{entry.action} {object_name}".rstrip())


def entry_lines(entry: LedgerEntry, now_s: float, *, names_path: bool = False) -> list[str]:
    """Return everything about one action: one line that says how it went, and indented ones with the rest."""
    parts = [
        *_part("", [entry.sentence] if entry.sentence else []),
        *_part("before, after", _figure_changes(entry.before, entry.after)),
        *_part("received", _received(entry)),
        *_part("would change" if entry.is_preview else "references", _references(entry)),
        *_part("chosen", entry.choices),
        *_part("phases", phase_lines(entry.phases)),
        *_part("removed", _first(entry.removed, entry.removed_count)),
        *_part("dropped", _first(entry.dropped_ids, entry.dropped_count)),
        *_part("may have left", _listed(entry.leftovers)),
    ]
    for command in entry.commands:
        parts += _part("command", _command(command))
    by = f"gitdash {entry.gitdash_version}, git {entry.git_version}, process {entry.process_id} on {entry.host}"
    return [printable(line) for line in (_head(entry, now_s, names_path=names_path), *parts, *_part("by", [by]))]


def short_lines(entry: LedgerEntry) -> list[str]:
    """Return how one action went, for who waits for it: a line, one with what changed, and one with its phases."""
    why = f" ({entry.reason.value})" if entry.reason is not None and entry.reason.value != entry.outcome.value else ""
    head = f"{printable_path(entry.path)}: {action_name(entry)}: {entry.outcome.value}{why}{_took(entry)}"
    changes = ", ".join(text for text in _figure_texts(entry.before, entry.after) if " -> " in text)
    phases = ", ".join(f"{phase.name} {human_duration(phase.elapsed_s)}" for phase in entry.phases)
    left = ", ".join(_listed(entry.leftovers))
    return [
        printable(line)
        for line in (
            f"{head}: {entry.sentence}" if entry.sentence else head,
            *([f"    {changes}"] if changes else []),
            *([f"    phases: {phases}"] if phases else []),
            *(f"    {_reference(change)}" for change in entry.reference_changes[:_LISTED_COUNT]),
            *([f"    may have left {left}"] if left else []),
        )
    ]


def remembered_lines(entry: LedgerEntry, now_s: float, *, names_path: bool = False) -> list[str]:
    """Return how one action went, for who looks back on many: one line, and one or two with what came of it."""
    head = _head(entry, now_s, names_path=names_path)
    changes = [text for text in _figure_texts(entry.before, entry.after) if " -> " in text]
    received = [f"received {text}" for text in _received(entry)]
    references = [f"references: {text}" for text in islice(_references(entry), 1)]
    phases = ", ".join(f"{phase.name} {human_duration(phase.elapsed_s)}" for phase in entry.phases)
    left = ", ".join(entry.leftovers[:_LISTED_IN_SHORT])
    more = f" and {len(entry.leftovers) - _LISTED_IN_SHORT:,} more" if len(entry.leftovers) > _LISTED_IN_SHORT else ""
    last = [f"phases: {phases}"] if phases else []
    last += [f"may have left {left}{more}"] if left else []
    return [
        printable(line)
        for line in (
            f"{head}: {entry.sentence}" if entry.sentence else head,
            *([f"    {', '.join((*received, *references, *changes))}"] if received or references or changes else []),
            *([f"    {'; '.join(last)}"] if last else []),
        )
    ]


def cut_off_lines(entries: Iterable[LedgerEntry]) -> list[str]:
    """Return one sentence for each action that was cut off: which, since when, and what it may have left."""
    return [printable(_cut_off(entry)) for entry in entries]


def phase_lines(phases: Iterable[Phase]) -> list[str]:
    """Return a line for each phase: name, a bar from where it began to where it ended, and its duration."""
    known = [phase for phase in phases if phase.elapsed_s >= 0]
    total_s = sum(phase.elapsed_s for phase in known)
    name_width = max((len(phase.name) for phase in known), default=0)
    lines, begun_s = [], 0.0
    for phase in known:
        first = _cells(begun_s, total_s)
        begun_s += phase.elapsed_s
        bar = " " * min(first, _BAR_WIDTH - 1) + "#" * max(_cells(begun_s, total_s) - first, 1)
        lines.append(f"{phase.name:<{name_width}} |{bar:<{_BAR_WIDTH}}| {human_duration(phase.elapsed_s)}")
    return lines


def _cells(moment_s: float, total_s: float) -> int:
    return round(_BAR_WIDTH * moment_s / total_s) if total_s > 0 else 0


def _head(entry: LedgerEntry, now_s: float, *, names_path: bool) -> str:
    outcome = entry.outcome.value
    if entry.reason is not None and entry.reason.value != outcome:
        outcome += f" ({entry.reason.value})"
    where = f"{printable_path(entry.path)}: " if names_path else ""
    when = f"{moment_text(entry.started_at_s)} ({ago_text(now_s - entry.started_at_s)})"
    return f"{when}  {where}{action_name(entry)}: {outcome}{_took(entry)}"


def _took(entry: LedgerEntry) -> str:
    """Return how long it took, figures before and after with it; nothing of what was not begun."""
    if entry.elapsed_s is None or entry.outcome is Outcome.REFUSED:
        return ""
    return f", {human_duration(entry.elapsed_s)}"


def _part(label: str, texts: Iterable[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield f"    {'' if number else label:<{_LABEL_WIDTH}}{text}".rstrip()


def _figure_changes(before: StoreFigures | None, after: StoreFigures | None) -> list[str]:
    """Return what is known of before and after on one line; a figure that stayed is said once."""
    changes = _figure_texts(before, after)
    return [", ".join(changes)] if changes else []


def _figure_texts(before: StoreFigures | None, after: StoreFigures | None) -> list[str]:
    changes = []
    for label, name, shown in _FIGURES:
        values = [getattr(figures, name) if figures is not None else None for figures in (before, after)]
        if values == [None, None]:
            continue
        first, last = ("?" if value is None else shown(value) for value in values)
        changes.append(f"{label} {first} -> {last}" if values[0] != values[1] else f"{label} {first}")
    return changes


def _received(entry: LedgerEntry) -> list[str]:
    parts = []
    if entry.received_objects is not None:
        parts.append(counted(entry.received_objects, "object"))
    if entry.received_bytes is not None:
        parts.append(human_bytes(entry.received_bytes))
    return [", ".join(parts)] if parts else []


def _references(entry: LedgerEntry) -> Iterator[str]:
    changes = entry.reference_changes
    if not changes:
        return
    kinds = ", ".join(f"{human_count(count)} {kind}" for kind, count in Counter(one.kind for one in changes).items())
    total = max(entry.reference_change_count, len(changes))
    # what else there was of which kind, the sentence says
    yield kinds if total == len(changes) else f"{total:,}; the first {len(changes):,} of them are kept"
    yield from _listed(tuple(_reference(change) for change in changes))


def _reference(change: ReferenceChange) -> str:
    ids = " -> ".join(object_id[:12] if object_id else "none" for object_id in (change.old, change.new))
    return f"{change.kind} {change.name} {ids}"


def _listed(texts: tuple[str, ...]) -> Iterator[str]:
    yield from texts[:_LISTED_COUNT]
    if len(texts) > _LISTED_COUNT:
        yield f"and {len(texts) - _LISTED_COUNT:,} more; --format json has them all"


def _first(names: Sequence[str], count: int) -> Iterator[str]:
    """Yield the first of some names, and how many more there are: `count` of all, or what is kept."""
    yield from names[:_LISTED_COUNT]
    more = max(count, len(names)) - _LISTED_COUNT
    if more > 0:
        kept = "them all" if count <= len(names) else f"the first {len(names):,}"
        yield f"and {more:,} more; --format json has {kept}"


def _command(command: RecordedCommand) -> Iterator[str]:
    yield shlex.join(command.argv)
    parts = [human_duration(command.elapsed_s)] if command.elapsed_s is not None else []
    if command.exit_code is not None:
        parts.append(f"exit code {command.exit_code}")
    if command.ending is not None:
        parts.append(command.ending)
    yield "  " + (", ".join(parts) or "not ended")
    for line in command.stderr.splitlines()[-_STDERR_LINES:]:
        yield f"  {line}"


def _cut_off(entry: LedgerEntry) -> str:
    begun = f"{action_name(entry)} of {printable_path(entry.path)}, begun {moment_text(entry.started_at_s)}"
    ran = f"; the last that it began was {shlex.join(entry.commands[-1].short_argv)}" if entry.commands else ""
    left = ", ".join(_listed(entry.leftovers))
    what_is_left = f"it may have left {left}" if left else "it has left nothing that is seen"
    return f"{Outcome.CUT_OFF}: {begun}{ran}; {what_is_left}"
