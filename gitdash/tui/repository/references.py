"""The tab Refs: all references, and a line for each namespace; the one under the cursor tells what it is for. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len

from gitdash.assessment.sentences import listed
from gitdash.export.columns import ABSENT, UNREADABLE
from gitdash.model.inspection import Inspection, ReferenceBackend, ReferenceFacts
from gitdash.model.namespaces import ReferenceNamespace, ReferenceNamespaces
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import MARGIN, Line, Piece, Tone, fit, shorten_middle
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.repository.facts import labelled, unlisted_text
from gitdash.tui.repository.missing import missing_lines
from gitdash.tui.repository.namespace_meanings import meaning_of
from gitdash.tui.repository.size_bar import cell_of
from gitdash.tui.repository.view import Need, RepositoryView, ago
from gitdash.units import counted, human_bytes, human_count, human_duration, printable

_ROOT: Final = "(root)"
"""What lies outside of refs: git counts it to no total."""
_NAME_WIDTHS: Final = range(13, 41)
_NUMBER_WIDTH: Final = 6
_NUMBERS: Final = ("refs", "loose", "packed", "broken", "share")
_QUIET: Final = frozenset({ABSENT, "0", ""})
_BAR_WIDTHS: Final = range(9, 61)
_GAP: Final = 2
_LOOSE: Final = ("▒", Tone.WARNING)
_PACKED: Final = ("█", Tone.ACCENT)
_SMALL: Final = "▏"
_BROKEN: Final = (
    "git passes over broken ones: a bad name, a file that holds no object id, a symbolic reference that leads nowhere"
)


def references_page(view: RepositoryView, width: int) -> Page:
    """Return the page; its items are the namespaces, the largest first."""
    lines: list[Line] = [*missing_lines(view, width)]
    inspection = view.report.inspection if view.report is not None else None
    if not isinstance(inspection, Inspection):
        return Page(lines)
    lines += labelled(_facts(view, inspection), width)
    found = view.namespaces
    if isinstance(found, Unreadable):
        return Page([*lines, [], *wrapped(f"They could not be counted: {found.reason}", Tone.WARNING, width)])
    if found is None:
        return Page(lines)
    if found.incomplete:
        lines += wrapped(f"Some may be missing: {found.incomplete}", Tone.WARNING, width)
    if not found.namespaces:
        return Page(lines)
    return _with_table(view, found, [*lines, [], *_legend(found)], width)


def _with_table(view: RepositoryView, found: ReferenceNamespaces, lines: list[Line], width: int) -> Page:
    names = tuple(one.name for one in found.namespaces)
    chosen = view.chosen if view.chosen in names else names[0]
    table = _Table(found.namespaces, width)
    lines.append(table.head())
    items = []
    for one in found.namespaces:
        items.append(len(lines))
        lines.append(table.row(one))
        if one.name == chosen:
            lines += _unfolded(one, width)
    return Page(lines, items, pinned=table.head(), names=names, unfolds=True)


def _facts(view: RepositoryView, inspection: Inspection) -> Iterator[tuple[str, str]]:
    found = view.namespaces
    yield "references", _sum(inspection, found if isinstance(found, ReferenceNamespaces) else None)
    yield from _stored(inspection)
    yield "HEAD", _head(inspection, found if isinstance(found, ReferenceNamespaces) else None)
    yield "counted", _counted(view)


def _sum(inspection: Inspection, found: ReferenceNamespaces | None) -> str:
    references = inspection.references
    if found is None:
        return references.reason if isinstance(references, Unreadable) else _sum_of_facts(references)
    inside = [one for one in found.namespaces if one.name != _ROOT]
    total = human_count(sum(one.count for one in inside))
    broken_count = sum(one.broken_count for one in found.namespaces)
    broken = f", {human_count(broken_count)} broken" if broken_count else ""
    if inspection.reference_backend is ReferenceBackend.REFTABLE:
        return f"{total}{broken}"
    loose = human_count(sum(one.loose_count or 0 for one in inside))
    both = sum((one.loose_count or 0) + (one.packed_count or 0) - one.count for one in inside)
    twice = f" ({counted(both, 'is', 'are')} both, and the loose one counts)" if both > 0 else ""
    if any(one.packed_count is None for one in inside):
        return f"{total} read: {loose} loose{broken}"
    packed = human_count(sum(one.packed_count or 0 for one in inside))
    return f"{total}: {loose} loose, {packed} packed{twice}{broken}"


def _sum_of_facts(references: ReferenceFacts) -> str:
    if references.count is None:
        return "in a reftable"
    loose, packed = human_count(references.loose_count), human_count(references.packed_count or 0)
    return f"{human_count(references.count)}: {loose} loose, {packed} packed{unlisted_text(references)}"


def _stored(inspection: Inspection) -> Iterator[tuple[str, str]]:
    references = inspection.references
    if isinstance(references, Unreadable):
        return
    if inspection.reference_backend is ReferenceBackend.REFTABLE:
        yield "reftable", _tables(references)
        return
    packed_bytes = references.packed_bytes
    yield "packed-refs", human_bytes(packed_bytes) if packed_bytes else "none"
    if references.empty_loose_names:
        names = list(map(printable, references.empty_loose_names))
        shown = listed(names, len(names), of_count=references.empty_loose_count)
        yield "empty files", f"{shown}: what a power loss leaves"


def _tables(references: ReferenceFacts) -> str:
    sizes = references.reftable_bytes
    words = [counted(len(sizes), "table")]
    if sizes:
        words.append(f"{human_bytes(sum(sizes))} ({', '.join(map(human_bytes, sizes))})")
    if references.reftable_missing_count:
        words.append(f"{human_count(references.reftable_missing_count)} listed and not there")
    if references.reftable_unlisted_count:
        words.append(f"{human_count(references.reftable_unlisted_count)} there and not listed")
    return ", ".join(words)


def _head(inspection: Inspection, found: ReferenceNamespaces | None) -> str:
    if found is not None:
        return found.head or "cannot be read"
    if isinstance(inspection.head, Unreadable):
        return inspection.head.reason
    return "in a reftable" if inspection.head is None else printable(inspection.head)


def _counted(view: RepositoryView) -> str:
    since_s = view.waiting_since_s.get(Need.NAMESPACES)
    if since_s is not None:
        return f"counting … {max(0, int(view.monotonic_s - since_s))} s"
    found, at_s = view.namespaces, view.answered_at_s.get(Need.NAMESPACES)
    if at_s is None:
        return "not yet"
    took = f"in {human_duration(found.elapsed_s)}, " if isinstance(found, ReferenceNamespaces) else ""
    key = view.key("rescan")
    return f"{took}{ago(view.monotonic_s - at_s)}" + (f" · {key} counts again" if key else "")


def _legend(found: ReferenceNamespaces) -> list[Line]:
    if all(one.loose_count is None for one in found.namespaces):
        return []
    return [[Piece(" ", Tone.DIM), *_words(_PACKED, "packed"), Piece("   ", Tone.DIM), *_words(_LOOSE, "loose")]]


def _words(glyph: tuple[str, Tone], text: str) -> list[Piece]:
    return [Piece(glyph[0], glyph[1]), Piece(f" {text}", Tone.DIM)]


class _Table:
    """The widths and the scale that all lines share."""

    def __init__(self, namespaces: Sequence[ReferenceNamespace], width: int) -> None:
        longest = max(cell_len(one.name) for one in namespaces)
        self._numbers = [name for name in _NUMBERS if name != "broken" or any(one.broken_count for one in namespaces)]
        self._total = sum(one.count for one in namespaces if one.name != _ROOT)
        numbers_width = len(self._numbers) * (_NUMBER_WIDTH + _GAP)
        room = width - 2 * MARGIN - numbers_width
        self._name_width = max(min(longest, _NAME_WIDTHS[-1], room - _GAP - _BAR_WIDTHS[0]), _NAME_WIDTHS[0])
        self._bar_width = min(room - self._name_width - _GAP, _BAR_WIDTHS[-1])

    def head(self) -> Line:
        """Return the titles."""
        titles = "".join(f"  {name:>{_NUMBER_WIDTH}}" for name in self._numbers)
        return [Piece(f" {fit('namespace', self._name_width)}{titles}", Tone.HEAD)]

    def row(self, one: ReferenceNamespace) -> Line:
        """Return the line of one namespace."""
        texts = {
            "refs": human_count(one.count),
            "loose": _count_text(one.loose_count, ABSENT),
            "packed": _count_text(one.packed_count, ABSENT if one.loose_count is None else UNREADABLE),
            "broken": human_count(one.broken_count),
            "share": self._share(one),
        }
        name = fit(shorten_middle(one.name, self._name_width), self._name_width)
        pieces = [Piece(" " * MARGIN, Tone.PLAIN), Piece(name, Tone.STRONG)]
        for key in self._numbers:
            text = texts[key]
            tone = Tone.WARNING if text == UNREADABLE or (key == "broken" and one.broken_count) else Tone.PLAIN
            pieces.append(Piece(f"  {text:>{_NUMBER_WIDTH}}", Tone.DIM if text in _QUIET else tone))
        return [*pieces, *self._bar(one)]

    def _share(self, one: ReferenceNamespace) -> str:
        if one.name == _ROOT or not self._total:
            return ""
        percent = 100 * one.count / self._total
        return "<0.1%" if 0 < percent < 0.1 else f"{percent:.1f}%"

    def _bar(self, one: ReferenceNamespace) -> list[Piece]:
        if one.name == _ROOT or self._bar_width < _BAR_WIDTHS[0]:
            return []
        loose_count = one.loose_count or 0
        pieces = [Piece(" " * _GAP, Tone.PLAIN)]
        for count, (glyph, tone) in ((one.count - loose_count, _PACKED), (loose_count, _LOOSE)):
            cells = cell_of(count, self._total, self._bar_width - 1)
            if count > 0:
                pieces.append(Piece(glyph * cells or _SMALL, tone))
        return pieces


def _count_text(count: int | None, without: str) -> str:
    return without if count is None else human_count(count)


def _unfolded(one: ReferenceNamespace, width: int) -> Iterator[Line]:
    meaning = meaning_of(one.name)
    if meaning:
        yield from wrapped(meaning, Tone.DIM, width, indent=3)
    for name in one.examples:
        yield [Piece("   ", Tone.DIM), Piece(shorten_middle(name, max(width - 4, 8)), Tone.PLAIN)]
    left_count = one.count + one.broken_count - len(one.examples)
    if one.examples and left_count > 0:
        yield [Piece(f"   and {human_count(left_count)} more", Tone.DIM)]
    if one.broken_count:
        yield from wrapped(f"{human_count(one.broken_count)} broken: {_BROKEN}", Tone.WARNING, width, indent=3)
