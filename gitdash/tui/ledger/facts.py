"""What an action changed, in groups of words that stand beside one another. Pure."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from gitdash.model.ledger import LedgerEntry, Outcome, StoreFigures
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.differences import Figure, difference_groups
from gitdash.units import counted, human_bytes, human_count, printable

_FIGURES: Final = (
    Figure[StoreFigures]("packs", lambda figures: figures.pack_count),
    Figure[StoreFigures]("in packs", lambda figures: figures.pack_bytes, is_bytes=True),
    Figure[StoreFigures]("loose objects", lambda figures: figures.loose_count),
    Figure[StoreFigures]("in them", lambda figures: figures.loose_bytes, is_bytes=True),
    Figure[StoreFigures]("disk", lambda figures: figures.disk_bytes, is_bytes=True),
    Figure[StoreFigures]("garbage", lambda figures: figures.garbage_bytes, is_bytes=True),
    Figure[StoreFigures]("all references", lambda figures: figures.reference_count),
    Figure[StoreFigures]("bitmap", lambda figures: figures.bitmap and printable(figures.bitmap), unknown="none"),
    Figure[StoreFigures]("findings", lambda figures: figures.finding_count),
)
_KINDS: Final = ("new", "updated", "forced", "pruned", "tag", "rejected")
_KIND_TONES: Final = {"forced": Tone.WARNING, "pruned": Tone.NOTICE, "rejected": Tone.CRITICAL}
OUTCOME_TONES: Final = {
    Outcome.RUNNING: Tone.ACCENT,
    Outcome.DONE: Tone.OK,
    Outcome.NOTHING_TO_DO: Tone.OK,
    Outcome.SKIPPED: Tone.NOTICE,
    Outcome.REFUSED: Tone.WARNING,
    Outcome.FAILED: Tone.CRITICAL,
    Outcome.TIMED_OUT: Tone.CRITICAL,
    Outcome.CANCELLED: Tone.NOTICE,
    Outcome.CUT_OFF: Tone.WARNING,
}


def outcome_piece(entry: LedgerEntry) -> Piece:
    """Return how an action ended, with the reason where that says more: `failed (authentication)`."""
    text = entry.outcome.value
    if entry.reason is not None and entry.reason.value != text:
        text += f" ({entry.reason.value})"
    return Piece(text, OUTCOME_TONES[entry.outcome])


def fact_groups(entry: LedgerEntry) -> list[Line]:
    """Return what was received and what changed, each a group; empty if nothing is known of it."""
    return [
        *_received_groups(entry),
        *_reference_groups(entry),
        *difference_groups(_FIGURES, entry.before, entry.after, most_stayed=0),
        *_removed_groups(entry),
    ]


def _received_groups(entry: LedgerEntry) -> Iterator[Line]:
    parts = []
    if entry.received_objects is not None:
        parts.append(counted(entry.received_objects, "object"))
    if entry.received_bytes is not None:
        parts.append(human_bytes(entry.received_bytes))
    if parts:
        yield [Piece("received ", Tone.DIM), Piece(", ".join(parts), Tone.STRONG)]


def _reference_groups(entry: LedgerEntry) -> Iterator[Line]:
    """How many references of each kind, or, where not all are known one by one, how many there are."""
    counts = Counter(change.kind for change in entry.reference_changes)
    if not counts:
        return
    kinds = sorted(counts, key=lambda kind: (_KINDS.index(kind) if kind in _KINDS else len(_KINDS), kind))
    pieces = [Piece("would change " if entry.is_preview else "references ", Tone.DIM)]
    if entry.reference_change_count > len(entry.reference_changes):
        # what else there was of which kind, the sentence says
        text = f"{entry.reference_change_count:,}; the first {len(entry.reference_changes):,} of them are kept"
        yield [*pieces, Piece(text, Tone.STRONG)]
        return
    for number, kind in enumerate(kinds):
        text = counted(counts[kind], "tag") if kind == "tag" else f"{human_count(counts[kind])} {printable(kind)}"
        pieces += [Piece(", " if number else "", Tone.PLAIN), Piece(text, _KIND_TONES.get(kind, Tone.STRONG))]
    yield pieces


def _removed_groups(entry: LedgerEntry) -> Iterator[Line]:
    if entry.removed:
        count = max(entry.removed_count, len(entry.removed))
        yield [Piece("removed ", Tone.DIM), Piece(counted(count, "file"), Tone.STRONG)]
    if entry.dropped_ids:
        count = max(entry.dropped_count, len(entry.dropped_ids))
        yield [Piece("dropped ", Tone.DIM), Piece(counted(count, "object"), Tone.STRONG)]
