"""The screens in `screenshots/`: written by this test, looked at by people, shown in the README.

Each is kept as text, which reads well in a diff, and as SVG with its colours. `pytest tests/tui/test_screenshots.py
--snapshot-update` writes them anew; then look at them. They change when Textual's version does.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot
from textual.widgets import Input

from gitdash.model.summary import RepositorySummary
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.source import SurveyProgress
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries, many_summaries
from tests.tui.source_double import SourceDouble

FOLDER = Path(__file__).parents[2] / "screenshots"
DEPLOY = ROOT + b"/infra/deploy.git"

SCREENS = {
    "fleet-80x24": ((80, 24), "textual-dark", ()),
    "fleet-120x40": ((120, 40), "textual-dark", ()),
    "fleet-200x60": ((200, 60), "textual-dark", ()),
    "fleet-light-120x40": ((120, 40), "textual-light", ()),
    "filter-80x24": ((80, 24), "textual-dark", ("slash", *"strange", "down")),
    "repository-120x40": ((120, 40), "textual-dark", ("enter",)),
    "help-80x24": ((80, 24), "textual-dark", ("question_mark",)),
    "small-50x12": ((50, 12), "textual-dark", ()),
}


class TextScreen(SingleFileSnapshotExtension):
    """A screen as a grid of characters, in `screenshots/` under its own name."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    @classmethod
    def dirname(cls, **_: object) -> str:
        return str(FOLDER)

    @classmethod
    def get_snapshot_name(cls, *, index: object = 0, **_: object) -> str:
        return str(index)


class SvgScreen(TextScreen):
    """A screen with its colours."""

    file_extension = "svg"


@pytest.fixture(autouse=True)
def _steady_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)


@pytest.mark.parametrize("name", SCREENS)
async def test_screen_is_as_kept(name: str, snapshot: SnapshotAssertion) -> None:
    size, theme, keys = SCREENS[name]
    text, svg = await _draw(fixed_summaries(), size, theme, keys, cursor=DEPLOY)
    assert text == snapshot(name=name, extension_class=TextScreen)
    assert svg == snapshot(name=name, extension_class=SvgScreen)


async def test_screen_of_ten_thousand_rows_is_as_kept(snapshot: SnapshotAssertion) -> None:
    text, _ = await _draw(many_summaries(10_240), (120, 40), "textual-dark", ("pagedown", "j"), cursor=None)
    assert text == snapshot(name="large-120x40", extension_class=TextScreen)


async def test_screen_of_an_empty_fleet_is_as_kept(snapshot: SnapshotAssertion) -> None:
    text, _ = await _draw([], (80, 24), "textual-dark", (), cursor=None)
    assert text == snapshot(name="empty-80x24", extension_class=TextScreen)


def test_every_kept_screen_is_one_that_is_compared() -> None:
    compared = {f"{name}.{kind}" for name in SCREENS for kind in ("txt", "svg")}
    assert {path.name for path in FOLDER.iterdir()} == compared | {"large-120x40.txt", "empty-80x24.txt"}


async def _draw(
    summaries: Sequence[RepositorySummary],
    size: tuple[int, int],
    theme: str,
    keys: Sequence[str],
    *,
    cursor: bytes | None,
) -> tuple[str, str]:
    source = SourceDouble(fixed_reports())
    app = Dashboard([ROOT], summaries, source, lambda: NOW_S)
    app.theme = theme
    app.animation_level = "none"
    async with app.run_test(size=size) as pilot:
        while not source.started:
            await pilot.pause()
        count = len(summaries)
        source.happen().progress = SurveyProgress(
            step="inspected", done_count=count // 2, known_count=count, complete=False, elapsed_s=0.1
        )
        if cursor is not None:
            app.fleet_screen.go_to(cursor)
        for _ in range(3):
            app.flush()
            await pilot.pause()
        await _type(app, pilot, keys)
        text = "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()) + "\n"
        svg = re.sub(r"terminal-\d+", "terminal", app.export_screenshot(title="gitdash"))
        return text, "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


async def _type(app: Dashboard, pilot: Pilot[int], keys: Sequence[str]) -> None:
    for key in keys:
        await pilot.press(key)
    for _ in range(3):
        await pilot.pause()
        app.flush()
    await pilot.pause()
