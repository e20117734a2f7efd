"""What is put into a line to type on cannot act on the terminal, and has an end."""

import asyncio

import pytest
from textual import events
from textual.widgets import Input

from gitdash.model.view import View
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.options import Options
from gitdash.tui.text_input import LONGEST_TEXT, pasted_text
from tests.tui.driven_fleet import until
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.source_double import SourceDouble

HOSTILE = "a\x1b]0;PWN\x07\x9b31m\u202eb"
VISIBLE = r"a\x1b]0;PWN\x07\x9b31m\u202eb"

pytestmark = pytest.mark.safety


@pytest.fixture(autouse=True)
def steady_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Input, "_toggle_cursor", lambda _self: None)


def dashboard(*views: View) -> Dashboard:
    source = SourceDouble(fixed_reports())
    return Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S, Options(views=views))


@pytest.mark.parametrize(
    "keys", [("slash",), ("ctrl+p",), ("enter", "6", "slash"), ("w",)], ids=["filter", "palette", "id", "name"]
)
async def test_what_is_pasted_is_made_visible(keys: tuple[str, ...]) -> None:
    app = dashboard()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*keys)
        await until(lambda: isinstance(app.focused, Input), "an input")
        app.post_message(events.Paste(HOSTILE))
        await until(lambda: isinstance(app.focused, Input) and app.focused.value == VISIBLE, "the text")
        assert app.focused.cursor_position == len(VISIBLE)  # type: ignore[union-attr]


async def test_filter_of_a_view_is_made_visible() -> None:
    app = dashboard(View(name="evil", filter=HOSTILE))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("1")
        await until(lambda: app.fleet_screen.filter_bar.input.value == VISIBLE, "the view")
        assert app.fleet_screen.viewing.name == "evil"
        assert app.fleet.filter.text == VISIBLE


@pytest.mark.parametrize("keys", [("slash",), ("ctrl+p",)], ids=["filter", "palette"])
async def test_line_has_an_end(keys: tuple[str, ...]) -> None:
    app = dashboard()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*keys)
        await until(lambda: isinstance(app.focused, Input), "an input")
        focused = app.focused
        assert isinstance(focused, Input)
        focused.value = "x" * LONGEST_TEXT
        await pilot.press("y")
        await asyncio.sleep(0)
        assert "y" not in focused.value


def test_first_line_of_what_is_pasted_is_taken_up_to_an_end() -> None:
    assert pasted_text("one\ntwo") == "one"
    assert pasted_text("") == ""
    assert pasted_text("x" * 10**6) == "x" * LONGEST_TEXT
