"""What is not offered where nothing may be changed, or where there is no terminal to give to another program."""

import pytest
from rich.cells import cell_len

from gitdash.export.columns import COLUMNS
from gitdash.tui.actions.action import Scope
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.options import Options
from gitdash.tui.pages.help import help_lines
from gitdash.tui.screen import DashboardScreen
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.source_double import SourceDouble

STARTS_PROGRAMS = {"Open a shell in this repository", "Open this repository with lazygit or tig"}


def dashboard(options: Options) -> Dashboard:
    return Dashboard([ROOT], fixed_summaries(), SourceDouble(fixed_reports()), lambda: NOW_S, options)


def text_of(lines: object) -> str:
    return "\n".join("".join(piece.text for piece in line) for line in lines)  # type: ignore[attr-defined]


def keys_of(screen: DashboardScreen, width: int = 200) -> str:
    return text_of([screen.key_view._key_line(width).pieces])


def titles(app: Dashboard) -> set[str]:
    return {command.title for command in app.get_system_commands(app.screen)}


@pytest.mark.parametrize("screen_key", ["", "enter", "p", "J"])
async def test_read_only_is_in_the_title_and_what_starts_programs_is_nowhere(screen_key: str) -> None:
    app = dashboard(Options(read_only=True))
    async with app.run_test(size=(200, 40)) as pilot:
        if screen_key:
            await pilot.press(screen_key)
            await pilot.pause()
        screen = app.screen
        assert isinstance(screen, DashboardScreen)
        for width in (60, 120):
            (title,) = screen._title_lines(width)
            assert cell_len(text_of([title])) == width
            assert text_of([title]).endswith(" read-only ")
        assert "shell" not in keys_of(screen)
        assert not STARTS_PROGRAMS & titles(app)
        columns = [(column.key, column.help) for column in COLUMNS]
        assert "Open a shell" not in text_of(help_lines(screen.SCOPE, app.shown_keys, columns, 100))


async def test_without_a_terminal_nothing_is_offered_that_needs_one() -> None:
    app = dashboard(Options(has_terminal=False))
    async with app.run_test(size=(200, 40)) as pilot:
        screen = app.screen
        assert isinstance(screen, DashboardScreen)
        assert "read-only" not in text_of(screen._title_lines(120))
        assert "shell" not in keys_of(screen)
        assert not STARTS_PROGRAMS & titles(app)
        assert "suspend" not in app.shown_keys
        await pilot.press("exclamation_mark", "o", "ctrl+z")
        await pilot.pause()
        drawn_elsewhere = "the dashboard is drawn elsewhere."
        assert [toast.message for toast in app._notifications] == [
            f"There is no terminal to hand over: {drawn_elsewhere}",
            f"There is no terminal to hand over: {drawn_elsewhere}",
            f"There is no shell to go back to: {drawn_elsewhere}",
        ]


async def test_with_a_terminal_both_are_offered() -> None:
    app = dashboard(Options())
    async with app.run_test(size=(200, 40)):
        assert isinstance(app.screen, DashboardScreen)
        assert "shell" in keys_of(app.screen)
        assert titles(app) > STARTS_PROGRAMS
        assert {"suspend", "open_shell", "open_with"} <= app.shown_keys.keys()
        assert "Open a shell" in text_of(help_lines(Scope.FLEET, app.shown_keys, (), 100))


@pytest.mark.parametrize("key", ["exclamation_mark", "o"])
async def test_read_only_is_said_before_anything_else_that_is_in_the_way(key: str) -> None:
    options = Options(read_only=True, has_terminal=False, shell="/nonexistent/shell", open_with=("nolazygit",))
    app = Dashboard([ROOT], (), SourceDouble(()), lambda: NOW_S, options)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert [toast.message for toast in app._notifications] == ["Read-only: no other program is started."]
