"""The packs of a repository against the geometric progression that a geometric repack keeps: a picture and words. Pure.

Bars are drawn on a logarithmic scale of objects, the largest pack first. The mark on each is the least that a
progression wants there: twice the next smaller pack, and for the smallest that stays twice all that would be joined.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.measurement.geometric import FACTOR, GeometricPlan
from gitdash.model.inspection import LooseFacts, PackFile
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit, shorten_middle
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.repository.size_bar import cell_of
from gitdash.units import counted, human_bytes, human_count, printable

_MARK: Final = "┃"
_STAYS: Final = ("█", Tone.OK, "stays")
_JOINED: Final = ("▒", Tone.WARNING, "joined")
_STAYING_SHOWN: Final = 6
_JOINED_SHOWN: Final = 3
_NAME_WIDTH: Final = 14
_COUNT_WIDTH: Final = 8
_WORD_WIDTH: Final = 7
_SCALE_CELLS_MOST: Final = 120
_PRECISION: Final = 1 << 20
"""Steps of the logarithmic scale, so that cells are found as for sizes."""


def progression_lines(plan: GeometricPlan, loose: LooseFacts | Unreadable, width: int) -> list[Line]:
    """Return in words what a geometric repack would do, and the picture of it if there is more than one pack."""
    lines = [*wrapped(_sentence(plan), Tone.PLAIN, width)]
    for more in (*_loose_sentences(loose), *_outside_sentences(plan.outside)):
        lines += wrapped(more, Tone.DIM, width)
    if len(plan.joined) + len(plan.intact) > 1:
        lines += [[], *_picture(plan, width)]
    return lines


def _sentence(plan: GeometricPlan) -> str:
    intact_count, joined_count = len(plan.intact), len(plan.joined)
    if intact_count + joined_count < FACTOR:
        packs = "There is one pack" if intact_count + joined_count else "No pack stands"
        return f"{packs} in a geometric progression: a geometric repack would join none."
    if not joined_count:
        return (
            f"The {human_count(intact_count)} packs form a geometric progression, each with at least twice the objects"
            " of the next smaller: a geometric repack would join none."
        )
    they_are = "it is" if intact_count == 1 else "they are"
    left = f"{human_count(intact_count)} as {they_are}" if intact_count else "none"
    return (
        f"A geometric repack would join {human_count(joined_count)} of {human_count(intact_count + joined_count)} packs"
        f" to one of at most {counted(plan.joined_object_count, 'object')}, rewrite about"
        f" {human_bytes(plan.joined_bytes)}, and leave {left}."
    )


def _loose_sentences(loose: LooseFacts | Unreadable) -> Iterator[str]:
    if isinstance(loose, LooseFacts) and loose.count:
        yield f"{counted(loose.count, 'loose object')} of {human_bytes(loose.bytes)} would go into a pack, too."


def _outside_sentences(packs: Sequence[PackFile]) -> Iterator[str]:
    if not packs:
        return
    kinds = (
        ("kept", lambda pack: pack.kept),
        ("cruft", lambda pack: pack.cruft),
        ("promisor", lambda pack: pack.promisor),
        ("without a readable index", lambda pack: pack.object_count is None),
    )
    counts = [(word, sum(map(applies, packs))) for word, applies in kinds]
    listed = ", ".join(f"{human_count(count)} {word}" for word, count in counts if count)
    yield f"Outside the progression: {listed}."
    if any(pack.promisor for pack in packs):
        yield "git 2.47 and older join promisor packs with the others, and lose the mark that a promisor sent them."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bar:
    name: str
    object_count: int
    least_count: int | None
    """What a progression wants here; None for the smallest pack of all."""
    kind: tuple[str, Tone, str]


def _picture(plan: GeometricPlan, width: int) -> Iterator[Line]:
    bars = _bars(plan)
    scale = max(max(bar.object_count, bar.least_count or 0) for bar in bars)
    cells = max(min(width - _NAME_WIDTH - _COUNT_WIDTH - _WORD_WIDTH - 6, _SCALE_CELLS_MOST), 8)
    staying = [bar for bar in bars if bar.kind is _STAYS]
    joined = [bar for bar in bars if bar.kind is _JOINED]
    yield from (_bar_line(bar, scale, cells) for bar in staying[:_STAYING_SHOWN])
    yield from _rest(staying[_STAYING_SHOWN:], "stay")
    yield from (_bar_line(bar, scale, cells) for bar in joined[:_JOINED_SHOWN])
    yield from _rest(joined[_JOINED_SHOWN:], "joined")
    legend = f"objects, logarithmic; {_MARK} the least for a progression: twice the next smaller pack"
    if staying and joined:
        legend += ", for the smallest that stays twice all that are joined"
    if any(bar.least_count is not None and bar.object_count >= bar.least_count for bar in joined):
        legend += "; a pack beyond its mark is joined, too, where the smaller ones together outweigh it"
    yield from wrapped(legend, Tone.DIM, width)


def _bars(plan: GeometricPlan) -> list[_Bar]:
    """Return a bar for each pack in the progression, the largest first."""
    bars: list[_Bar] = []
    before: int | None = None
    for packs, kind in ((plan.joined, _JOINED), (plan.intact, _STAYS)):
        if plan.joined and kind is _STAYS:
            before = plan.joined_object_count
        for pack in packs:
            count = pack.object_count or 0
            least = None if before is None else FACTOR * before
            bars.append(_Bar(name=pack.name, object_count=count, least_count=least, kind=kind))
            before = count
    return bars[::-1]


def _bar_line(bar: _Bar, scale: int, cells: int) -> Line:
    glyph, tone, word = bar.kind
    length = _log_cell(bar.object_count, scale, cells)
    drawn = glyph * length + " " * (cells + 1 - length)
    pieces = [
        Piece(f" {fit(shorten_middle(printable(bar.name), _NAME_WIDTH), _NAME_WIDTH)}", Tone.DIM),
        Piece(f" {human_count(bar.object_count):>{_COUNT_WIDTH}}", Tone.PLAIN),
        Piece(f"  {word:<{_WORD_WIDTH}}", tone),
    ]
    if bar.least_count is None:
        return [*pieces, Piece(drawn, tone)]
    mark = _log_cell(bar.least_count, scale, cells)
    return [*pieces, Piece(drawn[:mark], tone), Piece(_MARK, Tone.STRONG), Piece(drawn[mark + 1 :], tone)]


def _log_cell(count: int, scale: int, cells: int) -> int:
    steps, all_steps = (round(math.log2(1 + number) * _PRECISION) for number in (count, scale))
    return cell_of(steps, all_steps, cells)


def _rest(bars: Sequence[_Bar], word: str) -> Iterator[Line]:
    if bars:
        total = sum(bar.object_count for bar in bars)
        word = {"stay": "stays"}.get(word, word) if len(bars) == 1 else word
        text = f" … and {human_count(len(bars))} more {word}, {counted(total, 'object')} together"
        yield [Piece(text, Tone.DIM)]
