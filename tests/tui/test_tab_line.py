"""The line of tabs: all of them where there is room, and else signs that there are more."""

import pytest

from gitdash.tui.repository.tabs import TABS
from gitdash.tui.repository.tabs_view import TabsView, tabs_that_fit
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
        first = driven.lines()[1]
        assert first.startswith("[1 Overview]")
        assert first.endswith(" >")
        await driven.press("9")
        last = driven.lines()[1]
        assert last.startswith("< ")
        assert last.endswith("[9 History]")
        await driven.pilot.click("#tabs", offset=(0, 0))
        await driven.pilot.pause()
        shown = driven.app.screen.tab  # type: ignore[attr-defined]
        assert shown == tabs_that_fit(8, 60)[0] - 1
        await driven.press("1")
        await driven.pilot.click("#tabs", offset=(len(first) - 1, 0))
        await driven.pilot.pause()
        assert driven.app.screen.tab == tabs_that_fit(0, 60)[-1] + 1  # type: ignore[attr-defined]


def test_where_all_tabs_fit_only_side_by_side_the_shown_one_is_still_in_brackets() -> None:
    drawn_tabs = ((0, "[1 Overview]2 Findings "), (1, " 1 Overview[2 Findings]3 Packs "), (8, " 8 Log[9 History]"))
    for shown, text in drawn_tabs:
        (line,) = TabsView(lambda shown=shown: shown, lambda _number: None)._tab_lines(80)
        drawn = "".join(piece.text for piece in line)
        assert text in drawn
        assert len(drawn) == 80


@pytest.mark.parametrize("width", [80, 120])
async def test_click_on_a_title_shows_its_tab(width: int) -> None:
    async with driven_fleet([row("a")], size=(width, 24)) as driven:
        await driven.press("enter")
        for number, tab in enumerate(TABS):
            line = driven.lines()[1]
            for cell in (line.index(tab.title), line.index(tab.title) + len(tab.title) - 1):
                await driven.press("1" if number else "2")
                await driven.pilot.click("#tabs", offset=(cell, 0))
                await driven.pilot.pause()
                assert driven.app.screen.tab == number  # type: ignore[attr-defined]


async def test_tabs_have_the_whole_line_also_when_the_terminal_was_wider_before() -> None:
    async with driven_fleet([row("a")], size=(120, 24)) as driven:
        await driven.press("enter")
        await driven.pilot.resize_terminal(80, 24)
        await driven.pilot.pause()
        assert "9 History" in driven.lines()[1]
