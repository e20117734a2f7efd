"""The command palette while its list is filled: keys and clicks may come before what is held is drawn."""

import pytest
from rich.style import Style
from textual import events
from textual.command import CommandList

from gitdash.tui.palette import Palette
from tests.support.idle import until
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, row


def _listed(driven: DrivenFleet) -> int:
    screen = driven.app.screen
    return screen.query_one(CommandList).option_count if isinstance(screen, Palette) else 0


@pytest.mark.parametrize("keys", [("pagedown", "pageup"), ("down", "pagedown"), ("down", "end", "pageup")])
async def test_keys_for_pages_move_nothing_where_no_line_is_drawn(keys: tuple[str, ...]) -> None:
    async with driven_fleet([row("a.git")], size=(60, 4)) as driven:
        await driven.pilot.press("ctrl+p")
        await until(lambda: _listed(driven) > 1, "commands are listed")
        await driven.pilot.press(*keys)
        assert isinstance(driven.app.screen, Palette)


async def test_click_on_a_line_that_is_no_longer_held_chooses_nothing() -> None:
    async with driven_fleet([row("a.git")], size=(80, 24)) as driven:
        await driven.pilot.press("ctrl+p")
        await until(lambda: _listed(driven) > 1, "commands are listed")
        commands = driven.app.screen.query_one(CommandList)
        gone = Style(meta={"option": commands.option_count})
        commands.post_message(events.Click(commands, 1, 1, 0, 0, 1, False, False, False, *commands.region.offset, gone))
        await driven.pilot.pause()
        assert isinstance(driven.app.screen, Palette)
