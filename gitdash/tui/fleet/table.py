"""The fleet table: a `ScrollView` that draws single lines, because no stock widget keeps up with a moving fleet.

It keeps nothing of a row but finished lines, keyed by everything that they depend on. A change of a row
redraws its line and no other. Rows are those of `Fleet`; the cursor stands on a row, not on a line.
"""

from collections.abc import Callable, Iterable
from typing import ClassVar, Final

from textual import events
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override

from gitdash.tui.drawing.cells import Piece, TableLayout, Tone, choose_layout, fit, head_pieces, row_pieces
from gitdash.tui.drawing.styles import COMPONENT_CLASSES, CURSOR_CLASS, HEAD_LINE_CLASS, ToneStyles
from gitdash.tui.fleet.fleet import Fleet

HEAD_HEIGHT: Final = 1
_KEPT_LINES: Final = 1024


class FleetTable(ScrollView, can_focus=True, inherit_bindings=False):
    """The rows of the fleet's view below a head line.

    `on_cursor` is called directly when the cursor comes to another row: a message would arrive two frames later.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENT_CLASSES)

    class HeadClicked(Message):
        """The head of a column was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class RowOpened(Message):
        """A row was clicked twice."""

    def __init__(self, fleet: Fleet, *, now_s: float) -> None:
        super().__init__(id="table")
        self.fleet = fleet
        self.table_layout: TableLayout = choose_layout((), 0)
        self.cursor_number: int | None = None
        self.cursor_is_placed = False
        """A person has moved the cursor: it stays on its row. Until then it stays on the first line."""
        self.empty_text = ""
        """What stands in place of rows where there are none. Printable."""
        self.on_cursor: Callable[[], None] = lambda: None
        self._now_s = now_s
        self._lines: LRUCache[tuple[object, ...], Strip] = LRUCache(_KEPT_LINES)
        self._styles_of = ToneStyles(self)

    @property
    def line_width(self) -> int:
        """Cells of a line, without the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def page_height(self) -> int:
        """Rows that fit."""
        return max(self.size.height - HEAD_HEIGHT, 1)

    @property
    def cursor_position(self) -> int | None:
        """The cursor's place in the view; None if its row is not in it."""
        return None if self.cursor_number is None else self.fleet.positions.get(self.cursor_number)

    @property
    def cursor_path(self) -> bytes | None:
        """The repository under the cursor."""
        if self.cursor_number is None or self.cursor_position is None:
            return None
        return self.fleet.rows[self.cursor_number].summary.path

    def visible_numbers(self) -> list[int]:
        """Return the row numbers on screen, from the top."""
        top = self.scroll_offset.y
        return self.fleet.view[top : top + self.page_height]

    def on_resize(self) -> None:
        """Columns depend on the width."""
        self.table_layout = choose_layout(tuple(self.fleet.columns.values()), self.line_width)
        self._lines.clear()
        self.rearranged()

    @override
    def notify_style_update(self) -> None:
        """Colours are looked up anew."""
        self._styles_of.forget()
        self._lines.clear()
        super().notify_style_update()

    def set_now(self, now_s: float) -> None:
        """Draw ages as of `now_s`, on lines where they read otherwise now."""
        former = {number: self._row_line(number).text for number in self.visible_numbers()}
        self._now_s = now_s
        self._lines.clear()
        self.redraw_rows(number for number, text in former.items() if self._row_line(number).text != text)

    def rearranged(self, *, cursor_line: int | None = None) -> None:
        """Follow a new view; `cursor_line` is the screen line on which the cursor's row should stay."""
        if not self.size.height:
            return
        fleet = self.fleet
        self._fit_virtual_size()
        position = self.cursor_position
        if position is None or not self.cursor_is_placed:
            self._set_cursor(fleet.view[0] if fleet.view else None)
            self._scroll_rows_to(0)
        elif cursor_line is not None:
            self._scroll_rows_to(position - cursor_line)
        self._keep_cursor_visible()
        self.refresh()

    def cursor_line(self) -> int | None:
        """Return the screen line of the cursor's row, counted from the first row; None if it is off screen."""
        position = self.cursor_position
        if position is None:
            return None
        line = position - self.scroll_offset.y
        return line if 0 <= line < self.page_height else None

    def grown(self) -> None:
        """Follow rows that joined the end of the view.

        Below the last line on screen that waits until the next `rearranged`: another virtual size draws everything
        anew, and while a fleet is discovered rows join many times a second.
        """
        if not self.size.height or self.virtual_size.height - self.scroll_offset.y > self.size.height:
            return
        self._fit_virtual_size()
        if self.cursor_position is None and self.fleet.view:
            self._set_cursor(self.fleet.view[0])
        self.refresh()

    def _fit_virtual_size(self) -> None:
        self.virtual_size = Size(self.line_width, len(self.fleet.view) + HEAD_HEIGHT)

    def redraw_rows(self, numbers: Iterable[int]) -> None:
        """Draw the lines of rows that are on screen; others cost nothing."""
        top, height, width = self.scroll_offset.y, self.page_height, self.line_width
        positions = self.fleet.positions
        regions = []
        for number in numbers:
            position = positions.get(number)
            if position is not None and top <= position < top + height:
                regions.append(Region(0, HEAD_HEIGHT + position - top, width, 1))
        if regions:
            self.refresh(*regions)

    def move_cursor(self, position: int) -> None:
        """Put the cursor on a line of the view, or the nearest there is, and scroll it into sight."""
        view = self.fleet.view
        if not view:
            return
        self._fit_virtual_size()
        self.cursor_is_placed = True
        former = self.cursor_number
        self._set_cursor(view[min(max(position, 0), len(view) - 1)])
        self._keep_cursor_visible()
        self.redraw_rows(number for number in (former, self.cursor_number) if number is not None)

    def move_cursor_by(self, distance: int) -> None:
        """Move the cursor by some lines."""
        self.move_cursor((self.cursor_position or 0) + distance)

    def _set_cursor(self, number: int | None) -> None:
        if number != self.cursor_number:
            self.cursor_number = number
            self.on_cursor()

    def _keep_cursor_visible(self) -> None:
        position = self.cursor_position
        if position is None:
            return
        top = self.scroll_offset.y
        if position < top:
            self._scroll_rows_to(position)
        elif position >= top + self.page_height:
            self._scroll_rows_to(position - self.page_height + 1)

    def _scroll_rows_to(self, top: int) -> None:
        if max(top, 0) != self.scroll_offset.y:
            self.scroll_to(y=max(top, 0), animate=False, immediate=True)

    def on_click(self, event: events.Click) -> None:
        """A click on the head sorts, on a row moves the cursor, twice on a row opens it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y < HEAD_HEIGHT:
            column = self.table_layout.column_at(offset.x)
            if column is not None:
                self.post_message(self.HeadClicked(column.key))
            return
        position = self.scroll_offset.y + offset.y - HEAD_HEIGHT
        if position >= len(self.fleet.view):
            return
        self.move_cursor(position)
        if event.chain == 2:
            self.post_message(self.RowOpened())

    @override
    def render_line(self, y: int) -> Strip:
        """Draw the head or one row."""
        if y < HEAD_HEIGHT:
            key, descending = self.fleet.order[0]
            head = head_pieces(self.table_layout, key, descending=descending)
            return Strip(self._styles_of.segments(head, HEAD_LINE_CLASS), self.line_width)
        position = self.scroll_offset.y + y - HEAD_HEIGHT
        if position >= len(self.fleet.view):
            return self._blank_line(y)
        return self._row_line(self.fleet.view[position])

    def _row_line(self, number: int) -> Strip:
        row = self.fleet.rows[number]
        is_cursor = number == self.cursor_number
        key = (row.summary.path, row.version, is_cursor)
        line = self._lines.get(key)
        if line is None:
            layout = self.table_layout
            pieces = row_pieces(layout, row.summary, self._now_s, is_cursor=is_cursor, is_busy=row.busy)
            line = Strip(self._styles_of.segments(pieces, CURSOR_CLASS if is_cursor else None), layout.width)
            self._lines[key] = line
        return line

    def _blank_line(self, y: int) -> Strip:
        width = self.line_width
        text = f"  {self.empty_text}" if y == HEAD_HEIGHT + 1 and not self.fleet.view else ""
        return Strip(self._styles_of.segments([Piece(fit(text, width), Tone.DIM)]), width)
