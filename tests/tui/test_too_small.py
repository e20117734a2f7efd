"""A terminal that has no room for the dashboard: nothing is done there that nobody sees."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gitdash.errors import ExitCode
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.pages.page_screen import PageScreen
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.source_double import SourceDouble

SMALL = (40, 10)


@asynccontextmanager
async def dashboard(size: tuple[int, int]) -> AsyncIterator[Driven]:
    source = SourceDouble(fixed_reports())
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S)
    async with app.run_test(size=size, notifications=True) as pilot:
        yield Driven(app, source, pilot)


async def test_no_key_acts_where_nothing_is_drawn() -> None:
    async with dashboard(SMALL) as driven:
        await driven.press("a", "f", "f", "s", "r", "R", "m", "J", "space", "enter", "slash", "ctrl+p")
        source = driven.source
        assert (source.fetched, source.measured, source.planned) == ([], [], [])
        assert source.rescanned == []
        assert len(driven.app.screen_stack) == 1
        await driven.pilot.resize_terminal(120, 40)
        await driven.settle()
        await driven.press("f")
        assert [len(paths) for paths, _ in source.fetched] == [1]


async def test_nothing_is_typed_into_a_page_that_has_become_too_small() -> None:
    async with dashboard((120, 40)) as driven:
        await driven.press("F")
        await driven.pilot.resize_terminal(*SMALL)
        await driven.settle()
        await driven.press("enter")
        assert driven.source.fetched == []


@pytest.mark.parametrize(("key", "code"), [("q", ExitCode.DONE), ("ctrl+q", ExitCode.DONE), ("ctrl+c", 130)])
async def test_keys_that_quit_are_heard_while_something_is_typed_too(key: str, code: int) -> None:
    async with dashboard((120, 40)) as driven:
        await driven.press("slash")
        await driven.pilot.resize_terminal(*SMALL)
        await driven.settle()
        await driven.pilot.press(key)
        assert driven.app.return_value == code


async def test_help_opens_scrolls_and_closes() -> None:
    async with dashboard(SMALL) as driven:
        await driven.press("question_mark")
        assert isinstance(driven.app.screen, PageScreen)
        first = driven.text()
        await driven.press("down", "down")
        assert driven.text() != first
        await driven.press("escape")
        assert len(driven.app.screen_stack) == 1
        assert driven.app.return_value is None
