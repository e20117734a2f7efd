"""The fleet table: a `ScrollView` that draws single lines, because no stock widget keeps up with a moving fleet.

It keeps nothing of a row but finished lines, keyed by everything that they depend on. A change of a row
redraws its line and no other. Lines are those of `Fleet`: rows and heads of groups. The cursor stands on a row or on a
group, not on a place: it stays there when lines move, and goes to the nearest line when its own is gone.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override

from gitdash.export.columns import FLEET_COLUMNS
from gitdash.tui.drawing.cells import LEFT_MARGIN, TableLayout, choose_layout
from gitdash.tui.drawing.chosen_columns import chosen_layout
from gitdash.tui.drawing.styles import COMPONENT_CLASSES
from gitdash.tui.table.drawn_lines import DrawnLines
from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.group import Group
from gitdash.tui.table.group_head import ROW_INDENT
from gitdash.tui.table.nearest import nearest_line

HEAD_HEIGHT: Final = 1


class FleetTable(ScrollView, can_focus=True, inherit_bindings=False):
    """The lines of the fleet below a head line.

    `on_cursor` is called directly when the cursor comes to another line, and `on_rearranged` when lines or columns are
    others, with which other rows may belong to the group under the cursor: messages would arrive two frames later.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENT_CLASSES)

    class HeadClicked(Message):
        """The head of a column was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class LineOpened(Message):
        """A line was clicked twice, or the sign of a group once."""

    class LineMarked(Message):
        """A line was clicked that is to be marked; with `first` all lines from that one on."""

        def __init__(self, first: int | None) -> None:
            super().__init__()
            self.first = first

    def __init__(self, fleet: Fleet, *, now_s: float) -> None:
        super().__init__(id="table")
        self.fleet = fleet
        self.table_layout: TableLayout = choose_layout((), 0)
        self.chosen_columns: tuple[str, ...] = ()
        """Keys of the columns that a person has chosen, in their order; empty: those that fit, by their priority."""
        self.cursor: int | None = None
        """The line under the cursor as `Fleet` numbers them: a row, or the head of a group; None if there is none."""
        self.cursor_is_placed = False
        """A person has moved the cursor: it stays on its row. Until then it stays on the first line."""
        self.range_start: int | None = None
        """The line from which on lines are to be marked up to the cursor; None while no range is chosen."""
        self.empty_text = ""
        """What stands in place of rows where there are none. Printable."""
        self.on_cursor: Callable[[], None] = lambda: None
        self.on_rearranged: Callable[[], None] = lambda: None
        self._former_lines: list[int] = fleet.lines
        """The lines when the cursor last stood on one of them."""
        self._former_position = 0
        self._drawn = DrawnLines(self, fleet, now_s)

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
        """The cursor's place among the lines; None if its line is not there."""
        return None if self.cursor is None else self.fleet.positions.get(self.cursor)

    @property
    def cursor_number(self) -> int | None:
        """The row under the cursor; None if there is none, or a group."""
        return self.cursor if self.cursor is not None and self.cursor >= 0 else None

    @property
    def cursor_group(self) -> Group | None:
        """The group whose head the cursor is on."""
        return None if self.cursor is None else self.fleet.group_at(self.cursor)

    @property
    def cursor_path(self) -> bytes | None:
        """The repository under the cursor."""
        number = self.cursor_number
        if number is None or number not in self.fleet.positions:
            return None
        return self.fleet.rows[number].summary.path

    def visible_lines(self) -> list[int]:
        """Return the lines on screen, from the top."""
        top = self.scroll_offset.y
        return self.fleet.lines[top : top + self.page_height]

    def visible_numbers(self) -> list[int]:
        """Return the row numbers on screen, from the top."""
        return [line for line in self.visible_lines() if line >= 0]

    def on_resize(self) -> None:
        """Columns depend on the width."""
        self._place_columns()
        self.fleet.fit(self.page_height)
        self.rearranged()

    def choose_columns(self, keys: tuple[str, ...]) -> None:
        """Show these columns, the one of names among them; none stands for those that fit."""
        self.chosen_columns = keys
        if self.size.height:
            self._place_columns()
            self.refresh()

    def _place_columns(self) -> None:
        columns = [self.fleet.columns[key] for key in self.chosen_columns]
        width = self.line_width
        layout = chosen_layout(columns, width) if columns else choose_layout(FLEET_COLUMNS, width)
        if layout != self.table_layout:
            self.table_layout = layout
            self._drawn.clear()

    def hidden_columns(self) -> list[str]:
        """Return the keys of those chosen columns that do not fit."""
        shown = {placed.column.key for placed in self.table_layout.columns}
        return [key for key in self.chosen_columns if key not in shown]

    def hidden_order(self) -> str | None:
        """Return the column that rows are sorted by, with its arrow, if it is not among those shown; else None."""
        key, is_descending = self.fleet.order[0]
        shown = [placed.column.key for placed in self.table_layout.columns]
        return None if key in shown or not shown else f"{self.fleet.columns[key].title} {'▼' if is_descending else '▲'}"

    @override
    def notify_style_update(self) -> None:
        """Colours are looked up anew."""
        self._drawn.forget_styles()
        super().notify_style_update()

    def set_now(self, now_s: float) -> None:
        """Draw ages as of `now_s`, on lines where they read otherwise now."""
        former = {number: self._line(number).text for number in self.visible_numbers()}
        self._drawn.set_now(now_s)
        self.redraw_lines(number for number, text in former.items() if self._line(number).text != text)

    def rearranged(self, *, cursor_line: int | None = None) -> None:
        """Follow new lines; `cursor_line` is the screen line on which the cursor's line should stay."""
        if not self.size.height:
            return
        self._fit_virtual_size()
        lines = self.fleet.lines
        if not self.cursor_is_placed:
            self._set_cursor(lines[0] if lines else None)
            self._scroll_rows_to(0)
        elif self.cursor_position is None:
            self._set_cursor(self._stand_in())
        position = self.cursor_position
        if position is not None and cursor_line is not None and self.cursor_is_placed:
            self._scroll_rows_to(position - cursor_line)
        self._remember_place()
        self._keep_cursor_visible()
        self.refresh()
        self.on_rearranged()

    def _stand_in(self) -> int | None:
        """Return the line for a cursor whose own is gone: the head of its closed group, or the nearest that is left."""
        fleet = self.fleet
        group = None if self.cursor_number is None else fleet.group_of(self.cursor_number)
        if group is not None:
            return group.line
        return nearest_line(self._former_lines, self._former_position, fleet.lines, fleet.positions)

    def _remember_place(self) -> None:
        position = self.cursor_position
        if position is not None:
            self._former_lines, self._former_position = self.fleet.lines, position
        if self.range_start not in self.fleet.positions:
            self.range_start = None

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Follow rows that have other numbers; what is not in `numbers` is gone. Heads of groups keep theirs."""

        def number_now(line: int) -> int | None:
            return line if line < 0 else numbers.get(line)

        self.range_start = None if self.range_start is None else number_now(self.range_start)
        before = [number_now(line) for line in self._former_lines[: self._former_position]]
        after = [number_now(line) for line in self._former_lines[self._former_position :]]
        self._former_position = len(before) - before.count(None)
        self._former_lines = [line for line in (*before, *after) if line is not None]
        self.cursor = None if self.cursor is None else number_now(self.cursor)

    def cursor_line(self) -> int | None:
        """Return the screen line of the cursor's row, counted from the first row; None if it is off screen."""
        position = self.cursor_position
        if position is None:
            return None
        line = position - self.scroll_offset.y
        return line if 0 <= line < self.page_height else None

    def grown(self) -> None:
        """Follow rows that joined the end of the lines.

        Below the last line on screen that waits until the next `rearranged`: another virtual size draws everything
        anew, and while a fleet is discovered rows join many times a second.
        """
        if not self.size.height or self.virtual_size.height - self.scroll_offset.y > self.size.height:
            return
        self._fit_virtual_size()
        if self.cursor_position is None and self.fleet.lines:
            self._set_cursor(self.fleet.lines[0])
        self.refresh()

    def _fit_virtual_size(self) -> None:
        self.virtual_size = Size(self.line_width, len(self.fleet.lines) + HEAD_HEIGHT)

    def redraw_lines(self, numbers: Iterable[int]) -> None:
        """Draw those of these lines that are on screen; others cost nothing."""
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
        """Put the cursor on a line, by its place, or the nearest there is, and scroll it into sight."""
        lines = self.fleet.lines
        if not lines:
            return
        self._fit_virtual_size()
        self.cursor_is_placed = True
        former = self.cursor, self.cursor_position
        self._set_cursor(lines[min(max(position, 0), len(lines) - 1)])
        self._remember_place()
        self._keep_cursor_visible()
        if self.range_start is None:
            self.redraw_lines(line for line in (former[0], self.cursor) if line is not None)
        else:
            passed = sorted((former[1] or 0, self._former_position))
            self.redraw_lines(lines[passed[0] : passed[1] + 1])

    def move_cursor_by(self, distance: int) -> None:
        """Move the cursor by some lines."""
        self.move_cursor((self.cursor_position or 0) + distance)

    def range_span(self) -> tuple[int, int] | None:
        """Return the places of the first and the last line of the range; None if no range is chosen."""
        start = None if self.range_start is None else self.fleet.positions.get(self.range_start)
        end = self.cursor_position
        return None if start is None or end is None else (min(start, end), max(start, end))

    def _set_cursor(self, line: int | None) -> None:
        if line != self.cursor:
            self.cursor = line
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
        """A click on the head sorts, on a line moves the cursor, and twice opens it.

        On the margin or with ctrl it marks, with shift it marks all from the cursor on; on a group's sign it opens.
        """
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y < HEAD_HEIGHT:
            column = self.table_layout.column_at(offset.x)
            if column is not None:
                self.post_message(self.HeadClicked(column.key))
            return
        position = self.scroll_offset.y + offset.y - HEAD_HEIGHT
        if position >= len(self.fleet.lines):
            return
        former = self.cursor
        self.move_cursor(position)
        if event.shift or event.ctrl or offset.x < LEFT_MARGIN:
            self.post_message(self.LineMarked(former if event.shift else None))
        elif event.chain == 2 or (self.cursor_group is not None and offset.x < LEFT_MARGIN + ROW_INDENT):
            self.post_message(self.LineOpened())

    @override
    def render_line(self, y: int) -> Strip:
        """Draw the head or one line."""
        if y < HEAD_HEIGHT:
            return self._drawn.head(self.table_layout)
        position = self.scroll_offset.y + y - HEAD_HEIGHT
        if position < len(self.fleet.lines):
            return self._line(self.fleet.lines[position])
        is_first = y == HEAD_HEIGHT + 1 and not self.fleet.lines
        return self._drawn.blank(self.empty_text if is_first else "", self.line_width)

    def _line(self, line: int) -> Strip:
        span = self.range_span()
        in_range = span is not None and span[0] <= self.fleet.positions.get(line, -1) <= span[1]
        return self._drawn.line(line, self.table_layout, is_cursor=line == self.cursor, in_range=in_range)
