"""A dashboard under test with its source, and what every test does with it."""

from textual.pilot import Pilot

from gitdash.tui.dashboard import Dashboard
from tests.tui.source_double import SourceDouble


class Driven:
    """The application with its source."""

    def __init__(self, app: Dashboard, source: SourceDouble, pilot: Pilot[int]) -> None:
        self.app = app
        self.source = source
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait for what the last key or change leads to."""
        await self.pilot.pause()

    def lines(self) -> list[str]:
        """What the terminal shows."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        return "\n".join(self.lines())

    def toasts(self) -> list[str]:
        return [toast.message for toast in self.app._notifications]
