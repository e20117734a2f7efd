"""The line with the titles of the tabs."""

from collections.abc import Callable, Sequence

from textual import events

from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.repository.tabs import TABS


class TabsView(LinesView):
    """The titles of the tabs on one line, as many as fit; a click chooses."""

    def __init__(self, shown: Callable[[], int], choose: Callable[[int], None]) -> None:
        super().__init__(self._tab_lines, id="tabs")
        self._shown = shown
        self._choose = choose

    def _tab_lines(self, width: int) -> Sequence[Line]:
        shown = self._shown()
        numbers = tabs_that_fit(shown, width)
        pieces = [Piece("<", Tone.DIM)] if numbers[0] else []
        for number in numbers:
            tab = TABS[number]
            is_shown = number == shown
            mark = ("[", "]") if is_shown else (" ", " ")
            tone = Tone.SORTED if is_shown else Tone.DIM
            pieces += [
                Piece(f"{mark[0]}{number + 1} ", Tone.KEY if not is_shown else tone),
                Piece(tab.title + mark[1], tone),
            ]
        if numbers[-1] < len(TABS) - 1:
            pieces.append(Piece(">", Tone.DIM))
        return [pieces]

    def on_click(self, event: events.Click) -> None:
        """Show the tab below the pointer."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        numbers = tabs_that_fit(self._shown(), self.size.width)
        left = 1 if numbers[0] else 0
        if offset.x < left:
            self._choose(numbers[0] - 1)
            return
        for number in numbers:
            left += _tab_width(number)
            if offset.x < left:
                self._choose(number)
                return
        if offset.x == left and numbers[-1] < len(TABS) - 1:
            self._choose(numbers[-1] + 1)


def tabs_that_fit(shown: int, width: int) -> range:
    """Return the numbers of the tabs whose titles fit into `width` cells, the one that is shown among them.

    Where there is no room for all, a sign for more stands at either end.
    """
    if sum(map(_tab_width, range(len(TABS)))) <= width:
        return range(len(TABS))
    first, last = 0, shown
    left = width - 2 - sum(map(_tab_width, range(first, last + 1)))
    while left < 0 and first < last:
        left += _tab_width(first)
        first += 1
    while last + 1 < len(TABS) and _tab_width(last + 1) <= left:
        last += 1
        left -= _tab_width(last)
    return range(first, last + 1)


def _tab_width(number: int) -> int:
    return len(TABS[number].title) + 4
