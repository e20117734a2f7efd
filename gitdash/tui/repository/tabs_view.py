"""The line with the titles of the tabs."""

from collections.abc import Callable, Sequence

from textual import events

from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.repository.tabs import TABS


class TabsView(LinesView):
    """The titles of the tabs on one line; a click chooses."""

    def __init__(self, shown: Callable[[], int], choose: Callable[[int], None]) -> None:
        super().__init__(self._tab_lines, id="tabs")
        self._shown = shown
        self._choose = choose

    def _tab_lines(self, _width: int) -> Sequence[Line]:
        pieces: list[Piece] = []
        for number, tab in enumerate(TABS):
            is_shown = number == self._shown()
            mark = ("[", "]") if is_shown else (" ", " ")
            tone = Tone.SORTED if is_shown else Tone.DIM
            pieces += [
                Piece(f"{mark[0]}{number + 1} ", Tone.KEY if not is_shown else tone),
                Piece(tab.title + mark[1], tone),
            ]
        return [pieces]

    def on_click(self, event: events.Click) -> None:
        """Show the tab below the pointer."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        left = 0
        for number, tab in enumerate(TABS):
            left += len(tab.title) + 4
            if offset.x < left:
                self._choose(number)
                return
