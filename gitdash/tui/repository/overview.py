"""The tab Overview: the five sizes on one scale, how each was obtained, why they differ, and the main facts. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.measurement.explain import explain_difference
from gitdash.model.sizes import Bound
from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import flow, wrapped
from gitdash.tui.repository.facts import fact_columns
from gitdash.tui.repository.missing import missing_lines
from gitdash.tui.repository.nesting import LEGEND, SizeRow, size_rows
from gitdash.tui.repository.size_bar import OPEN_ENDS, bar_pieces
from gitdash.tui.repository.sizes import NOT_MEASURED, value_tone
from gitdash.tui.repository.view import RepositoryView

_LABEL_WIDTH: Final = 14
_TEXT_WIDTH: Final = len(NOT_MEASURED)
_BAR_LEFT: Final = 1 + _LABEL_WIDTH + _TEXT_WIDTH + 2
_BESIDE_WIDTH: Final = 132
"""From this width on the notes stand beside the bars."""
_END_WORDS: Final = {
    Bound.LOWER: "the true one may be higher",
    Bound.UPPER: "the true one may be lower",
    Bound.UNKNOWN: "the true one may be higher or lower",
}


def overview_page(view: RepositoryView, width: int) -> Page:
    """Return the page."""
    lines: list[Line] = [*missing_lines(view, width)]
    if lines:
        lines.append([])
    lines += _sizes(view, width)
    if view.report is not None:
        lines += [*_explanation(view, width), [], *fact_columns(view.report, width, view.now_s)]
    return Page(lines)


def _sizes(view: RepositoryView, width: int) -> list[Line]:
    rows = size_rows(view)
    scale_bytes = max((row.bar.end_bytes for row in rows if row.bar is not None), default=0)
    lines = [line for row in rows for line in _row_lines(row, scale_bytes, width)]
    return [*lines, [], *_legend(rows, width)]


def _row_lines(row: SizeRow, scale_bytes: int, width: int) -> Iterator[Line]:
    is_beside = width >= _BESIDE_WIDTH
    bar_width = (width - _BAR_LEFT) // 2 if is_beside else width - _BAR_LEFT - 1
    bar = bar_pieces(row.bar, scale_bytes, bar_width) if row.bar is not None else []
    first = [
        Piece(f" {'  ' * row.depth + row.label:<{_LABEL_WIDTH}}", Tone.DIM if row.depth else Tone.PLAIN),
        Piece(f"{row.text:>{_TEXT_WIDTH}}  ", value_tone(row.text)),
        *bar,
    ]
    if not is_beside:
        yield first
        yield from wrapped(row.note, Tone.DIM, width, indent=3 + 2 * row.depth)
        return
    left = _BAR_LEFT + bar_width + 1
    notes = wrapped(row.note, Tone.DIM, width, indent=left)
    yield [*cut_line(first, left), *(notes[0][1:] if notes else ())]
    yield from notes[1:]


def _legend(rows: Sequence[SizeRow], width: int) -> list[Line]:
    shown = {part.glyph for row in rows if row.bar is not None for part in row.bar.parts if part.bytes}
    groups = [
        [Piece(f"{glyph} ", tone), Piece(words, Tone.DIM)] for (glyph, tone), words in LEGEND.items() if glyph in shown
    ]
    ends = dict.fromkeys(row.bar.bound for row in rows if row.bar is not None)
    groups += [
        [Piece(f"{OPEN_ENDS[bound]} ", Tone.WARNING), Piece(_END_WORDS[bound], Tone.DIM)]
        for bound in ends
        if bound is not Bound.EXACT
    ]
    return flow(groups, width)


def _explanation(view: RepositoryView, width: int) -> Iterator[Line]:
    key = view.key("explain_sizes")
    if not view.explains_sizes:
        if key:
            yield []
            yield [Piece(f" {key} ", Tone.KEY), Piece("why do they differ?", Tone.PLAIN)]
        return
    yield []
    yield [Piece(" Why they differ", Tone.ACCENT), Piece(f"   {key} hides it" if key else "", Tone.DIM)]
    if view.report is None:
        return
    for text in explain_difference(view.report):
        is_step = text.startswith(" ")
        yield from wrapped(text, Tone.DIM if is_step else Tone.PLAIN, width, indent=5 if is_step else 3, hanging=2)
