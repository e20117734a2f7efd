"""The tab Packs: sums, the packs against a geometric progression, and a line for each. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len

from gitdash.measurement.geometric import geometric_plan
from gitdash.model.inspection import BitmapFacts, Inspection, PackFacts
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import Line, Tone
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.lazy_lines import LazyLines
from gitdash.tui.drawing.wrap import side_by_side, wrapped
from gitdash.tui.repository.facts import bitmap_text, labelled, multi_pack_index_text, packs_text
from gitdash.tui.repository.missing import missing_lines
from gitdash.tui.repository.pack_order import PackOrder
from gitdash.tui.repository.pack_table import PackTable
from gitdash.tui.repository.progression import progression_lines
from gitdash.tui.repository.view import RepositoryView
from gitdash.units import human_bytes, human_count, printable

_AGE_STEP_S: Final = 60
"""Ages are composed anew once in so many seconds."""
_SIDE_BY_SIDE_WIDTH: Final = 150
"""From this width on the sums stand beside the progression."""


def packs_page(view: RepositoryView, width: int) -> Page:
    """Return the page; its items are the packs, in the chosen order."""
    report = view.report
    inspection = report.inspection if report is not None else None
    if report is None or not isinstance(inspection, Inspection):
        return Page(missing_lines(view, width))
    facts = inspection.packs
    if isinstance(facts, Unreadable):
        return Page(wrapped(f"unreadable: {facts.reason}", Tone.CRITICAL, width))
    head = _head(_sums(inspection, facts, report.lender_bitmap), inspection, facts, width)
    if not facts.packs:
        return Page(head)
    table = _table(view, inspection, facts, width)
    lines = LazyLines(
        [*head, [], table.head()],
        view.pack_order.sorted(facts.packs),
        table.row,
        (width, view.now_s // _AGE_STEP_S, inspection.fingerprint),
    )
    return Page(lines, lines.row_numbers, pinned=table.head())


def _table(view: RepositoryView, inspection: Inspection, facts: PackFacts, width: int) -> PackTable:
    return PackTable(
        width=width,
        now_s=view.now_s,
        order=view.pack_order,
        multi_pack_index=inspection.multi_pack_index,
        longest_name=max(cell_len(printable(pack.name)) for pack in facts.packs),
        damaged_names=frozenset(name.rpartition(".")[0] for name in facts.unreadable_names),
    )


def clicked_order(view: RepositoryView, x: int, width: int) -> PackOrder:
    """Return the order after a click on the head of the packs at cell `x`."""
    inspection = view.report.inspection if view.report is not None else None
    if not isinstance(inspection, Inspection) or isinstance(inspection.packs, Unreadable) or not inspection.packs.packs:
        return view.pack_order
    return view.pack_order.clicked(_table(view, inspection, inspection.packs, width).key_at(x))


def _head(sums: Iterable[tuple[str, str]], inspection: Inspection, facts: PackFacts, width: int) -> list[Line]:
    if not facts.packs:
        return labelled(sums, width)
    plan = geometric_plan(facts.packs)
    if width < _SIDE_BY_SIDE_WIDTH:
        return [
            *labelled(sums, width),
            [],
            *progression_lines(plan, inspection.loose, width),
        ]
    left_width = width * 2 // 5
    left = labelled(sums, left_width)
    right = progression_lines(plan, inspection.loose, width - left_width - 1)
    return side_by_side(left, right, left_width, width)


def _sums(inspection: Inspection, facts: PackFacts, lender_bitmap: BitmapFacts | None) -> Iterator[tuple[str, str]]:
    yield "packs", packs_text(facts, inspection.multi_pack_index)
    sizes = (facts.bytes, facts.index_bytes, facts.derived_bytes)
    packs, indexes, others = map(human_bytes, sizes)
    yield "bytes", f"{packs} in packs, {indexes} in their indexes, {others} in derived files"
    counts = [pack.object_count for pack in facts.packs]
    known = [count for count in counts if count is not None]
    unknown_count = len(counts) - len(known)
    unknown = f", without those of {human_count(unknown_count)} that cannot be counted" if unknown_count else ""
    if counts:
        yield "objects", f"{human_count(sum(known))} over all packs{unknown}"
    yield "multi-pack", multi_pack_index_text(inspection.multi_pack_index)
    yield "bitmap", bitmap_text(inspection, lender_bitmap)


def ordered_pack_names(view: RepositoryView) -> list[str]:
    """Return the names of the packs in the order of the page's items."""
    inspection = view.report.inspection if view.report is not None else None
    if not isinstance(inspection, Inspection) or isinstance(inspection.packs, Unreadable):
        return []
    return [pack.name for pack in view.pack_order.sorted(inspection.packs.packs)]
