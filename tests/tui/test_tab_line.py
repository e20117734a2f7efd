"""The line of tabs: all of them where there is room, and else signs that there are more."""

import pytest

from gitdash.tui.repository.tabs import TABS
from gitdash.tui.repository.tabs_view import tabs_that_fit
from tests.tui.driven_fleet import driven_fleet, row


@pytest.mark.parametrize("width", [60, 68, 76])
@pytest.mark.parametrize("shown", range(len(TABS)))
def test_shown_tab_is_always_among_those_that_fit(width: int, shown: int) -> None:
    numbers = tabs_that_fit(shown, width)
    assert shown in numbers
    assert sum(len(TABS[number].title) + 4 for number in numbers) + 2 <= width


def test_all_tabs_fit_into_eighty_cells() -> None:
    assert tabs_that_fit(0, 80) == range(len(TABS))


async def test_narrow_line_says_that_there_are_more_tabs_and_a_click_on_the_sign_shows_the_next() -> None:
    async with driven_fleet([row("a")], size=(60, 24)) as driven:
        await driven.press("enter")
        first = driven.screen_lines()[1]
        assert first.startswith("[1 Overview]")
        assert first.endswith(" >")
        await driven.press("8")
        last = driven.screen_lines()[1]
        assert last.startswith("< ")
        assert last.endswith("[8 Log]")
        await driven.pilot.click("#tabs", offset=(0, 0))
        await driven.pilot.pause()
        shown = driven.app.screen.tab  # type: ignore[attr-defined]
        assert shown == tabs_that_fit(7, 60)[0] - 1
        await driven.press("1")
        await driven.pilot.click("#tabs", offset=(len(first) - 1, 0))
        await driven.pilot.pause()
        assert driven.app.screen.tab == tabs_that_fit(0, 60)[-1] + 1  # type: ignore[attr-defined]
