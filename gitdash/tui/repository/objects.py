"""The tab Objects: how long look-ups take here, who holds deleted packs, and what git said of single objects. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len

from gitdash.model.inspection import Inspection, PackFacts
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit, shorten_middle
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.repository.held import held_lines
from gitdash.tui.repository.missing import missing_lines
from gitdash.tui.repository.size_bar import cell_of
from gitdash.tui.repository.view import Need, RepositoryView, ago
from gitdash.units import counted, human_bytes, human_duration, printable

_LABEL_WIDTH: Final = 9
_BAR_WIDTHS: Final = range(8, 41)
_BESIDE_BAR: Final = 62
"""Cells of a line besides its bar."""
_NANOSECONDS: Final = 1_000_000_000
_SMALL: Final = "▏"
_BASE_WIDTH: Final = 132
"""From this width on the delta base stands on the line of its object."""
_TYPE_WIDTH: Final = 6
_NUMBER_WIDTH: Final = 8
_FIXED_WIDTH: Final = 1 + 2 + _TYPE_WIDTH + 3 * (2 + _NUMBER_WIDTH)
"""Cells of an answer besides the id."""
_ID_WIDTH_LEAST: Final = 12
_BESIDE_PROBLEM: Final = 4
"""Cells around what was asked and why there is no answer."""
_TYPES: Final = {"commit": Tone.ACCENT, "tag": Tone.ACCENT, "tree": Tone.NOTICE, "blob": Tone.PLAIN}


def objects_page(view: RepositoryView, width: int) -> Page:
    """Return the page; its items are the answers, the latest first."""
    lines: list[Line] = [*missing_lines(view, width)]
    if view.report is None or not isinstance(view.report.inspection, Inspection):
        return Page(lines)
    lines += [*_times(view, width), [], *_with_space(held_lines(view, width))]
    lines += _waiting(view, width)
    if not view.answers:
        return Page(lines)
    return _with_answers(view, lines, width)


def object_ids(view: RepositoryView, item: int) -> Sequence[str]:
    """Return the id of the object that an item is, or what was asked for if there is none."""
    if item >= len(view.answers):
        return ()
    answer = view.answers[item]
    return (answer.object_id or answer.asked,)


def _with_answers(view: RepositoryView, lines: list[Line], width: int) -> Page:
    # counted from the first, so that an answer keeps its name when later ones come before it
    names = tuple(range(view.answer_count, view.answer_count - len(view.answers), -1))
    chosen = view.chosen if view.chosen in names else names[0]
    head = _answer_head(view.answers, width)
    lines.append(head)
    items = []
    for name, answer in zip(names, view.answers, strict=True):
        items.append(len(lines))
        lines.append(_answer_line(answer, _id_width(view.answers, width), width))
        if name == chosen:
            lines += _unfolded(answer, width)
    return Page(lines, items, pinned=head, names=names, unfolds=True)


def _with_space(lines: Iterator[Line]) -> Sequence[Line]:
    found = [*lines]
    return [*found, []] if found else found


def _times(view: RepositoryView, width: int) -> Iterator[Line]:
    since_s = view.waiting_since_s.get(Need.LOOKUP_TIMES)
    if since_s is not None:
        waited_s = max(0, int(view.monotonic_s - since_s))
        yield from wrapped(f"Opening a reader and timing it … {waited_s} s", Tone.DIM, width)
    times = view.lookup_times
    if isinstance(times, Unreadable):
        yield from wrapped(f"Look-ups could not be timed: {times.reason}", Tone.WARNING, width)
    elif times is not None:
        yield from _time_lines(view, times, width)


def _time_lines(view: RepositoryView, times: LookupTimes, width: int) -> Iterator[Line]:
    at_s = view.answered_at_s.get(Need.LOOKUP_TIMES)
    key = view.key("rescan")
    when = "" if at_s is None else f", {ago(view.monotonic_s - at_s)}"
    again = f" · {key} times it again" if key else ""
    yield [Piece(" How long one object takes", Tone.STRONG), Piece(f"  by a fresh cat-file{when}{again}", Tone.DIM)]
    rows = (
        ("first", times.first_s, "the first object: packs are opened"),
        ("warm", times.warm_s, "the same one again, a median"),
        ("missing", times.missing_s, "one that nobody has, a median"),
    )
    longest_s = max(duration_s for _, duration_s, _ in rows)
    bar_width = max(min(_BAR_WIDTHS[-1], width - _BESIDE_BAR), _BAR_WIDTHS[0])
    for label, duration_s, words in rows:
        cells = cell_of(round(duration_s * _NANOSECONDS), round(longest_s * _NANOSECONDS), bar_width)
        yield [
            Piece(f" {label:<{_LABEL_WIDTH}}", Tone.PLAIN),
            Piece(f"{human_duration(duration_s):>{_NUMBER_WIDTH}}  ", Tone.STRONG),
            Piece(fit("█" * cells or _SMALL, bar_width), Tone.ACCENT),
            Piece(f"  {words}", Tone.DIM),
        ]
    yield from wrapped(_what_they_mean(view, times), Tone.DIM, width)


def _what_they_mean(view: RepositoryView, times: LookupTimes) -> str:
    count = times.pack_count
    packs = ""
    if count is not None:
        packs = f"{counted(count, 'pack')}{_with_lenders(view, count)}. "
    return (
        f"{packs}Before git calls an object missing it lists objects/pack anew and searches once more: the more packs,"
        " the longer. A multi-pack-index makes the first look-up fast, and hardly this one."
    )


def _with_lenders(view: RepositoryView, count: int) -> str:
    inspection = view.report.inspection if view.report is not None else None
    own = inspection.packs if isinstance(inspection, Inspection) else None
    return ", those of lenders too" if isinstance(own, PackFacts) and count > own.count else ""


def _waiting(view: RepositoryView, width: int) -> Iterator[Line]:
    for text, since_s in view.looking_up:
        waited_s = max(0, int(view.monotonic_s - since_s))
        shown = shorten_middle(printable(text), max(width - 24, 8))
        yield [Piece(f" · {shown}", Tone.PLAIN), Piece(f"  looking up … {waited_s} s", Tone.DIM)]


def _id_width(answers: Sequence[ObjectAnswer], width: int) -> int:
    longest = max(len(answer.object_id or "") for answer in answers)
    return max(min(longest, width - _FIXED_WIDTH), _ID_WIDTH_LEAST)


def _answer_head(answers: Sequence[ObjectAnswer], width: int) -> Line:
    titles = "".join(f"  {title:>{_NUMBER_WIDTH}}" for title in ("size", "stored", "time"))
    return [Piece(f" {fit('object', _id_width(answers, width))}  {'type':<{_TYPE_WIDTH}}{titles}", Tone.HEAD)]


def _answer_line(answer: ObjectAnswer, id_width: int, width: int) -> Line:
    if answer.object_id is None:
        said = answer.problem or "missing"
        asked = shorten_middle(answer.asked, max(width - cell_len(said) - _BESIDE_PROBLEM, _ID_WIDTH_LEAST))
        return [Piece(f" {asked}", Tone.STRONG), Piece(f"  {said}", Tone.WARNING)]
    kind = answer.type or ""
    has_base_column = width >= _BASE_WIDTH and answer.delta_base is not None
    return [
        Piece(" ", Tone.PLAIN),
        Piece(fit(shorten_middle(answer.object_id, id_width), id_width), Tone.STRONG),
        Piece(f"  {kind:<{_TYPE_WIDTH}}", _TYPES.get(kind, Tone.PLAIN)),
        Piece(f"  {_bytes(answer.bytes):>{_NUMBER_WIDTH}}", Tone.PLAIN),
        Piece(f"  {_bytes(answer.stored_bytes):>{_NUMBER_WIDTH}}", Tone.DIM),
        Piece(f"  {human_duration(answer.elapsed_s):>{_NUMBER_WIDTH}}", Tone.PLAIN),
        Piece(f"  delta of {answer.delta_base}" if has_base_column else "", Tone.DIM),
    ]


def _bytes(size_bytes: int | None) -> str:
    return "?" if size_bytes is None else human_bytes(size_bytes)


def _unfolded(answer: ObjectAnswer, width: int) -> Iterator[Line]:
    for text in _sentences(answer):
        yield from wrapped(text, Tone.DIM, width, indent=3, hanging=2)


def _sentences(answer: ObjectAnswer) -> Iterator[str]:
    object_id = answer.object_id
    if object_id is None:
        if answer.problem is None:
            yield f"neither here nor in a lender; git took {human_duration(answer.elapsed_s)} to say so"
        return
    if answer.asked != object_id:
        yield f"asked for as {answer.asked}; the whole id is {object_id}"
    yield f"{_exact(answer.bytes)} inflated, {_exact(answer.stored_bytes)} in its pack or file"
    base = answer.delta_base
    yield f"stored as a delta of {base}" if base is not None else "stored whole, not as a delta"


def _exact(size_bytes: int | None) -> str:
    return "unknown" if size_bytes is None else f"{size_bytes:,} B"
