"""Lines some of which belong to items that a person can choose among: a cursor stands on one, and it can be opened."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip
from typing_extensions import override

from gitdash.tui.drawing.cells import Line, cut_line
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.drawing.styles import CURSOR_CLASS


@dataclass(frozen=True, slots=True)
class Page:
    """Lines, and where the items among them begin."""

    lines: Sequence[Line]
    items: Sequence[int] = ()
    """Line number of the head of each item, ascending; empty if there is nothing to choose."""
    pinned: Line | None = None
    """The head of a table: it stays at the top when the one above the first item has scrolled off."""
    names: Sequence[Hashable] = ()
    """One for each item, by which the cursor stays on its item when others come before it; empty if none ever do."""
    unfolds: bool = False
    """The lines depend on the item under the cursor, so they are composed anew when it moves."""


class ItemsView(LinesView):
    """A page to scroll, or, where it has items, to move a cursor over."""

    class Opened(Message):
        """An item was clicked twice."""

    class HeadClicked(Message):
        """The head of a table was clicked, at cell `x`."""

        def __init__(self, x: int) -> None:
            super().__init__()
            self.x = x

    def __init__(self, compose_page: Callable[[int], Page], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(self._lines_of, id=id)
        self._compose_page = compose_page
        self._items: Sequence[int] = ()
        self._pinned: Line | None = None
        self._names: Sequence[Hashable] = ()
        self._unfolds = False
        self.selected = 0
        """Which item the cursor is on; 0 if there is none."""
        self.chosen: Hashable | None = None
        """The name of that item; None if it has none."""

    def _lines_of(self, width: int) -> Sequence[Line]:
        page = self._compose_page(width)
        self._items = page.items
        self._pinned = page.pinned
        self._names, self._unfolds = page.names, page.unfolds
        if self.chosen in page.names:
            self.selected = page.names.index(self.chosen)
        else:
            self.selected = 0 if page.names else max(min(self.selected, len(page.items) - 1), 0)
            self.chosen = page.names[0] if page.names else None
        return page.lines

    @override
    def renew(self, *, from_top: bool = False) -> None:
        """Compose the lines again; an item that has a name stays where it is on the screen, if that can be."""
        line = self.cursor_line()
        was_visible = line is not None and 0 <= line < self.size.height
        super().renew(from_top=from_top)
        moved_to = self.cursor_line()
        if self._names and was_visible and moved_to is not None and line is not None and line != moved_to:
            if self.scroll_offset.y:
                self._scroll_lines_to(self.scroll_offset.y + moved_to - line)
            self._keep_visible()

    def start_over(self) -> None:
        """Show another page from its top."""
        self.selected, self.chosen, self._names = 0, None, ()
        self.renew(from_top=True)

    def cursor_line(self) -> int | None:
        """Return the line of the view that the cursor is on, which may be above or below it; None without items."""
        return self._items[self.selected] - self.scroll_offset.y if self._items else None

    def move(self, distance: int) -> None:
        """Move the cursor by items, or the page by lines if there are none."""
        if self._items:
            self.select(self.selected + distance)
        else:
            self._scroll_lines_to(self.scroll_offset.y + distance)

    def move_half_pages(self, count: int) -> None:
        """Move by half pages."""
        if not self._items:
            self._scroll_lines_to(self.scroll_offset.y + count * self.size.height // 2)
            return
        line = self._items[self.selected] + count * self.size.height // 2
        before = [number for number, first in enumerate(self._items) if first <= line]
        number = before[-1] if before else 0
        self.select(number if number != self.selected else self.selected + (1 if count > 0 else -1))

    def move_to_end(self, *, is_end: bool) -> None:
        """Move to the first or the last item, or to the top or the end."""
        if self._items:
            self.select(len(self._items) - 1 if is_end else 0)
        else:
            self._scroll_lines_to(self.virtual_size.height if is_end else 0)

    def select(self, number: int) -> None:
        """Put the cursor on an item, or the nearest there is, and scroll it into sight with all its lines."""
        if not self._items:
            return
        self.selected = max(min(number, len(self._items) - 1), 0)
        if self._names:
            self.chosen = self._names[self.selected]
        if self._unfolds:
            self.renew()
        self._keep_visible()
        self.refresh()

    @override
    def on_resize(self) -> None:
        """The item under the cursor stays in sight, too."""
        self.renew()
        if self._items:
            self._keep_visible()

    def _keep_visible(self) -> None:
        first, last = self._span()
        top, height = self.scroll_offset.y, self.size.height
        pinned_height = 0 if self._pinned is None else 1
        if self.selected == 0:
            first = 0
        if first < top + pinned_height or last - first >= height - pinned_height:
            self._scroll_lines_to(first - pinned_height)
        elif last >= top + height:
            self._scroll_lines_to(last - height + 1)

    def _span(self) -> tuple[int, int]:
        """The first and the last line of the item under the cursor."""
        following = self.selected + 1
        end = self._items[following] if following < len(self._items) else len(self.lines)
        return self._items[self.selected], end - 1

    def _scroll_lines_to(self, y: int) -> None:
        self.scroll_to(y=max(y, 0), animate=False, immediate=True)

    def _is_pinned(self, y: int) -> bool:
        """Tell whether the head stands on a line of the screen."""
        return self._pinned is not None and y == 0 and bool(self._items) and self.scroll_offset.y >= self._items[0]

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, two on the same item open it; one on the head of a table is told of."""
        offset = event.get_content_offset(self)
        if offset is None or not self._items:
            return
        line = offset.y + self.scroll_offset.y
        if self._is_pinned(offset.y) or (self._pinned is not None and line == self._items[0] - 1):
            self.post_message(self.HeadClicked(offset.x))
            return
        before = [number for number, first in enumerate(self._items) if first <= line]
        if not before or line >= len(self.lines):
            return
        self.select(before[-1])
        if event.chain == 2:
            self.post_message(self.Opened())

    @override
    def render_line(self, y: int) -> Strip:
        """Draw one line; the head of the item under the cursor stands out."""
        number = y + self.scroll_offset.y
        if self._pinned is not None and self._is_pinned(y):
            width = self.line_width
            return Strip(self._styles_of.segments(cut_line(self._pinned, width)), width)
        if self._items and number == self._items[self.selected] and number < len(self.lines):
            width = self.line_width
            return Strip(self._styles_of.segments(cut_line(self.lines[number], width), CURSOR_CLASS), width)
        return super().render_line(y)
