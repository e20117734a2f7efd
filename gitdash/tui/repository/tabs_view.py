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
        is_dense = _is_dense(width)
        for number in numbers:
            is_shown = number == shown
            tone = Tone.SORTED if is_shown else Tone.DIM
            if is_dense:
                mark, end = "[" if is_shown else "]" if number == shown + 1 else " ", ""
            else:
                mark, end = ("[", "]") if is_shown else (" ", " ")
            pieces += [
                Piece(mark, Tone.SORTED),
                Piece(f"{number + 1} ", Tone.KEY if not is_shown else tone),
                Piece(TABS[number].title + end, tone),
            ]
        if is_dense:
            pieces.append(Piece("]" if shown == len(TABS) - 1 else " ", Tone.SORTED))
        if numbers[-1] < len(TABS) - 1:
            pieces.append(Piece(">", Tone.DIM))
        return [pieces]

    def on_click(self, event: events.Click) -> None:
        """Show the tab below the pointer."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        numbers = tabs_that_fit(self._shown(), self.size.width)
        spare = 1 if _is_dense(self.size.width) else 0
        left = 1 if numbers[0] else 0
        if offset.x < left:
            self._choose(numbers[0] - 1)
            return
        for number in numbers:
            left += _tab_width(number) - spare
            if offset.x < left:
                self._choose(number)
                return
        if offset.x == left and numbers[-1] < len(TABS) - 1:
            self._choose(numbers[-1] + 1)


def tabs_that_fit(shown: int, width: int) -> range:
    """Return the numbers of the tabs whose titles fit into `width` cells, the one that is shown among them.

    Where there is no room for all, a sign for more stands at either end.
    """
    if _is_dense(width) or _whole_width() <= width:
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


def _is_dense(width: int) -> bool:
    """Tell whether all titles fit only if two beside each other share the cell between them."""
    return _whole_width() > width >= _whole_width() - len(TABS) + 1


def _whole_width() -> int:
    return sum(map(_tab_width, range(len(TABS))))


def _tab_width(number: int) -> int:
    return len(TABS[number].title) + 4
