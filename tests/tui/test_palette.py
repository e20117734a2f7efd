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


@pytest.mark.parametrize(
    "moves", [("page_down", "page_up"), ("cursor_down", "page_down"), ("cursor_down", "last", "page_up")]
)
async def test_list_moves_by_no_page_where_no_line_is_drawn(moves: tuple[str, ...]) -> None:
    async with driven_fleet([row("a.git")], size=(60, 15)) as driven:
        await driven.pilot.press("ctrl+p")
        await until(lambda: _listed(driven) > 1, "commands are listed")
        await driven.pilot.resize_terminal(60, 4)
        commands = driven.app.screen.query_one(CommandList)
        for move in moves:
            getattr(commands, f"action_{move}")()
        await driven.pilot.pause()
        assert isinstance(driven.app.screen, Palette)


async def test_palette_of_themes_is_as_patient_as_that_of_commands() -> None:
    async with driven_fleet([row("a.git")]) as driven:
        driven.app.search_themes()
        await until(lambda: _listed(driven) > 1, "themes are listed")
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
