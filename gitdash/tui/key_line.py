"""The key line at the bottom: the most used keys, each of which can be clicked."""

from textual import events

from gitdash.tui.actions import KeyLine, key_line
from gitdash.tui.drawing.lines import LinesView


class KeyLineView(LinesView):
    """One line of keys and labels."""

    def __init__(self) -> None:
        super().__init__(lambda width: [key_line(width).pieces], id="keys")

    async def on_click(self, event: events.Click) -> None:
        """Do what the label below the pointer says."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        shown: KeyLine = key_line(self.size.width)
        for first, end, name in shown.spans:
            if first <= offset.x < end:
                await self.app.run_action(name)
