"""Sentences that name a key name the one that the configuration gives it."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gitdash.model.repository import NotRepository
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import ACTIONS
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.key_line import key_line
from gitdash.tui.keymap import make_keymap
from gitdash.tui.options import Options
from gitdash.tui.source import SurveyProgress
from tests.support.idle import until
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.source_double import SourceDouble

KEYS = {
    "drop": "f5",
    "open": "f6",
    "show_skipped": "f7",
    "quit": "f8",
    "back": "f9",
    "leave": "f10",
    "view_1": "f11",
    "export_plans": "f12",
    "sort_previous": "[",
}


@asynccontextmanager
async def dashboard(
    size: tuple[int, int] = (120, 40), keys: dict[str, str] = KEYS, **options: object
) -> AsyncIterator[Driven]:
    source = SourceDouble(fixed_reports())
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S, Options(keys=keys, **options))  # type: ignore[arg-type]
    async with app.run_test(size=size, notifications=True) as pilot:
        assert app.problems == () or keys is not KEYS
        yield Driven(app, source, pilot)


async def test_table_names_the_keys_that_show_all_and_what_was_skipped() -> None:
    async with dashboard() as driven:
        progress = SurveyProgress(
            step="surveyed", done_count=9, known_count=9, complete=True, elapsed_s=1.0, other_count=1
        )
        driven.source.happen().progress = progress
        driven.source.happen().skipped = (NotRepository(path=b"/x", reason="empty"),)
        driven.app.flush()
        await driven.press("slash", *"nosuchname")
        assert "1 skipped (F7)" in driven.text()
        assert "No repository contains all of these words. F5 shows all." in driven.text()
        assert " F5 drop" in driven.lines()[-1]
        await driven.press("f5")
        assert driven.app.fleet.filter.text == ""


async def test_low_detail_names_the_key_that_shows_the_rest() -> None:
    async with dashboard((120, 33)) as driven:
        detail = driven.app.fleet_screen.panels.detail
        detail.styles.height = 2
        await driven.settle()
        assert "more lines: F6 opens" in driven.text()


async def test_small_terminal_names_the_key_that_quits_on_any_screen() -> None:
    async with dashboard((60, 10)) as driven:
        assert "Enlarge the terminal, or F8 quits." in driven.text()


async def test_pages_name_the_keys_that_close_them() -> None:
    async with dashboard() as driven:
        await driven.press("question_mark")
        assert "F9 F10 close" in driven.text()
        await driven.press("f9", "w")
        assert "enter save  F9 close" in driven.text()
        await driven.press("f9", "V")
        assert " F11 " in driven.text()


async def test_line_for_ids_names_the_key_that_ends_it() -> None:
    async with dashboard() as driven:
        await driven.press("f6", "slash")
        assert " F9 end" in driven.lines()[-1]


@pytest.mark.parametrize("has_terminal", [True, False])
async def test_read_only_plan_names_the_key_of_a_script_where_one_can_be_written(has_terminal: bool) -> None:
    async with dashboard(read_only=True, has_terminal=has_terminal) as driven:
        await driven.press("m", "R")
        more = " F12 writes a script of it." if has_terminal else ""
        assert driven.toasts() == [f"Read-only: nothing is run.{more}"]


def test_label_of_two_ways_has_the_keys_of_both() -> None:
    shown = make_keymap(ACTIONS, KEYS).shown
    assert " [ > " in "".join(piece.text for piece in key_line(Scope.FLEET, shown, 250).pieces)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_help_names_no_key_that_may_be_another_one(action: object) -> None:
    texts = f"{action.help} {action.series} {action.title}"  # type: ignore[attr-defined]
    assert not re.search(r"\b(esc|escape|enter|del|delete|ctrl|pgup|pgdn)\b", texts, re.IGNORECASE)


@pytest.mark.parametrize("key", ["backspace", "tab", "ctrl+a", "up", "h"])
async def test_line_that_is_typed_on_names_no_key_that_it_takes_itself(key: str) -> None:
    async with dashboard(keys={"drop": key}) as driven:
        await driven.press("slash", "w", "e", "b")
        assert "keep" in driven.lines()[-1]
        assert "drop" not in driven.lines()[-1]


@pytest.mark.parametrize("key", ["backspace", "ctrl+a", "h"])
async def test_page_that_asks_for_a_name_is_left_with_esc_where_the_key_for_that_is_typed(key: str) -> None:
    async with dashboard(keys={"back": key}) as driven:
        await driven.press("w")
        await until(lambda: "enter save  esc close" in driven.text(), "the page is open")
        await driven.press("n", key)
        assert "enter save  esc close" in driven.text()
        await driven.press("escape")
        await until(lambda: driven.app.screen is driven.app.fleet_screen, "the page is closed")
