"""The finished lines of the fleet table, kept by everything that they depend on until something of it changes."""

from typing import Final

from textual.cache import LRUCache
from textual.strip import Strip
from textual.widget import Widget

from gitdash.tui.drawing.cells import Piece, TableLayout, Tone, fit, head_pieces, row_pieces
from gitdash.tui.drawing.styles import CURSOR_CLASS, HEAD_LINE_CLASS, ToneStyles
from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.group_head import ROW_INDENT, group_pieces, indented
from gitdash.tui.table.group_keys import GROUPING_TITLES

_KEPT_LINES: Final = 1024


class DrawnLines:
    """Lines of one table. Another width or another layout needs `clear`."""

    def __init__(self, widget: Widget, fleet: Fleet, now_s: float) -> None:
        self._fleet = fleet
        self._now_s = now_s
        self._styles_of = ToneStyles(widget)
        self._lines: LRUCache[tuple[object, ...], Strip] = LRUCache(_KEPT_LINES)

    def clear(self) -> None:
        """Draw all lines anew."""
        self._lines.clear()

    def forget_styles(self) -> None:
        """Draw all lines anew in other colours."""
        self._styles_of.forget()
        self._lines.clear()

    def set_now(self, now_s: float) -> None:
        """Draw all lines anew, with ages as of `now_s`."""
        self._now_s = now_s
        self._lines.clear()

    def head(self, layout: TableLayout) -> Strip:
        """Return the line of the columns' titles."""
        key, descending = self._fleet.order[0]
        pieces = head_pieces(layout, key, descending=descending, note=GROUPING_TITLES[self._fleet.grouping])
        return Strip(self._styles_of.segments(pieces, HEAD_LINE_CLASS), layout.width)

    def blank(self, text: str, width: int) -> Strip:
        """Return a line below the last, which says something or nothing."""
        return Strip(self._styles_of.segments([Piece(fit(f"  {text}", width), Tone.DIM)]), width)

    def line(self, line: int, layout: TableLayout, *, is_cursor: bool, in_range: bool) -> Strip:
        """Return a row or the head of a group; `in_range` draws it as marked."""
        if line < 0:
            return self._group(line, layout, is_cursor=is_cursor, in_range=in_range)
        fleet = self._fleet
        row = fleet.rows[line]
        is_marked = in_range or line in fleet.marks.numbers
        is_grouped = fleet.grouping != "none"
        key = (row.summary.path, row.version, is_cursor, is_marked, is_grouped)
        strip = self._lines.get(key)
        if strip is None:
            pieces = row_pieces(
                indented(layout, ROW_INDENT) if is_grouped else layout,
                row.summary,
                self._now_s,
                is_cursor=is_cursor,
                is_busy=row.busy,
                is_marked=is_marked,
            )
            strip = self._lines[key] = self._finished(pieces, layout, is_cursor=is_cursor)
        return strip

    def _group(self, line: int, layout: TableLayout, *, is_cursor: bool, in_range: bool) -> Strip:
        fleet = self._fleet
        group = fleet.groups.by_number[~line]
        is_covered = in_range and not group.is_open
        marked_count = len(group.numbers) if is_covered else fleet.marks.count_in(group.numbers)
        key = (line, group.version, group.is_open, is_cursor, marked_count)
        strip = self._lines.get(key)
        if strip is None:
            pieces = group_pieces(
                layout, group, sort_key=fleet.order[0][0], is_cursor=is_cursor, marked_count=marked_count
            )
            strip = self._lines[key] = self._finished(pieces, layout, is_cursor=is_cursor)
        return strip

    def _finished(self, pieces: list[Piece], layout: TableLayout, *, is_cursor: bool) -> Strip:
        return Strip(self._styles_of.segments(pieces, CURSOR_CLASS if is_cursor else None), layout.width)
