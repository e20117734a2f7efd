"""The screens in `screenshots/`: written by this test, looked at by people, shown in the README.

Each is kept as text, which reads well in a diff, and as SVG with its colours, dark and light. `pytest
tests/tui/test_screenshots.py --snapshot-update` writes them anew; then look at them. They change when Textual's version
does.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot

from gitdash.model.repository import NotRepository
from gitdash.model.summary import RepositorySummary
from gitdash.survey.summarize import summarize
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.source import SurveyProgress
from tests.support.idle import until
from tests.tui.fixture_answers import (
    ANSWERS,
    COMMANDS,
    JOBS,
    LOOKUP_TIMES,
    MEMBER,
    MONOTONIC_S,
    NAMESPACES,
    SKIPPED,
    UNREADABLE,
    pictured_reports,
)
from tests.tui.fixture_fleet import NOW_S, ROOT, many_summaries
from tests.tui.fixture_lab_pictures import pictured_lab
from tests.tui.fixture_ledger import ACTING_JOBS, ENTRIES
from tests.tui.fixture_plans import PLANS
from tests.tui.source_double import SourceDouble

pytestmark = pytest.mark.filterwarnings(r"ignore:\s*Can not relate snapshot")
"""Syrupy would have the name of the test in the name of the file."""

FOLDER = Path(__file__).parents[2] / "screenshots"
SIZES = ((80, 24), (120, 40), (200, 60))
THEMES = {"dark": "textual-dark", "light": "textual-light"}

SCREENS: dict[str, tuple[str, ...]] = {
    "fleet": (),
    "groups": ("z", "z", "z", "right", "down", "space"),
    "filter": ("slash", *"=packs > 1 and ", "down"),
    "overview": ("enter", "w"),
    "findings": ("enter", "2"),
    "packs": ("enter", "3"),
    "pool": ("enter", "4"),
    "refs": ("enter", "5"),
    "objects": ("enter", "6"),
    "config": ("enter", "7"),
    "log": ("enter", "8", "down"),
    "history": ("enter", "9"),
    "pools": ("p", "right"),
    "jobs": ("J",),
    "details": ("J", "G", "k", "plus"),
    "fetch": ("F", "down", "down", "space"),
    "plans": ("m",),
    "task": ("m",),
    "lab": ("b",),
    "lab-experiment": ("b",),
    "lab-boxes": ("b",),
    "lab-asked": ("b",),
    "help": ("question_mark",),
    "palette": ("ctrl+p",),
    "columns": ("c",),
    "views": ("V",),
    "save": ("slash", *"@hashed", "enter", "w", *"projects of the forge"),
    "skipped": ("e",),
    "unreadable": ("enter",),
}
LATER = {
    "plans": ("down", "down", "down", "down", "enter"),
    "task": ("t",),
    "lab-experiment": ("enter",),
    "lab-boxes": ("enter",),
    "lab-asked": ("enter",),
}
"""Keys that are pressed once the source has answered."""
LAST = {"lab-experiment": ("end", "k", "enter"), "lab-boxes": ("p", "end"), "lab-asked": ("R",)}
"""Keys that are pressed once it has answered again."""
MARKED = {"plans": tuple(PLANS)}
"""Repositories that are marked."""
CURSORS = {"unreadable": UNREADABLE}
"""Repositories that keys act on, where it is not MEMBER."""
TEXT_ONLY = ("small-50x12", "large-120x40", "empty-80x24")


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


@pytest.mark.parametrize("name", SCREENS)
async def test_screen_is_as_kept(name: str, snapshot: SnapshotAssertion) -> None:
    source = _source()
    app = _dashboard(_summaries(), source)
    async with app.run_test(size=SIZES[1]) as pilot:
        candidates = SKIPPED if name == "skipped" else ()
        app.fleet.marks.add(app.fleet.number_of(path) or 0 for path in MARKED.get(name, ()))
        await _show(
            app,
            pilot,
            source,
            SCREENS[name],
            later=LATER.get(name, ()),
            last=LAST.get(name, ()),
            path=CURSORS.get(name, MEMBER),
            skipped=candidates,
        )
        for columns, lines in SIZES:
            await pilot.resize_terminal(columns, lines)
            await until(lambda size=(columns, lines): app.screen.size == size, "the screen has its size")
            await _settle(app, pilot)
            texts = set()
            for theme, theme_name in THEMES.items():
                app.theme = theme_name
                await _settle(app, pilot)
                # Textual's palette does not draw again what shines through it when that has its new layout.
                app.screen.refresh()
                await _settle(app, pilot)
                picture = f"{name}-{columns}x{lines}-{theme}"
                assert _svg(app) == snapshot(name=picture, extension_class=SvgScreen)
                texts.add(_text(app))
            assert len(texts) == 1
            assert texts.pop() == snapshot(name=f"{name}-{columns}x{lines}", extension_class=TextScreen)


async def test_terminal_that_is_too_small_gets_a_notice(snapshot: SnapshotAssertion) -> None:
    text = await _drawn(_summaries(), (50, 12), ())
    assert text == snapshot(name="small-50x12", extension_class=TextScreen)


async def test_screen_of_ten_thousand_rows_is_as_kept(snapshot: SnapshotAssertion) -> None:
    text = await _drawn(many_summaries(10_240), (120, 40), ("pagedown", "j"))
    assert text == snapshot(name="large-120x40", extension_class=TextScreen)


async def test_screen_of_an_empty_fleet_is_as_kept(snapshot: SnapshotAssertion) -> None:
    text = await _drawn([], (80, 24), ())
    assert text == snapshot(name="empty-80x24", extension_class=TextScreen)


def test_every_kept_screen_is_one_that_is_compared() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(_kept_names())


def _kept_names() -> Iterator[str]:
    for name in SCREENS:
        for columns, lines in SIZES:
            yield f"{name}-{columns}x{lines}.txt"
            yield from (f"{name}-{columns}x{lines}-{theme}.svg" for theme in THEMES)
    yield from (f"{name}.txt" for name in TEXT_ONLY)


def _summaries() -> list[RepositorySummary]:
    return [summarize(report) for report in pictured_reports()]


def _source() -> SourceDouble:
    source = SourceDouble(pictured_reports())
    source.commands_by_path[MEMBER] = COMMANDS
    return source


def _dashboard(summaries: Sequence[RepositorySummary], source: SourceDouble) -> Dashboard:
    app = Dashboard([ROOT], summaries, source, lambda: NOW_S)
    app.context.monotonic = lambda: MONOTONIC_S
    app.animation_level = "none"
    return app


async def _drawn(summaries: Sequence[RepositorySummary], size: tuple[int, int], keys: Sequence[str]) -> str:
    source = _source()
    app = _dashboard(summaries, source)
    async with app.run_test(size=size) as pilot:
        await _show(app, pilot, source, keys)
        return _text(app)


async def _show(
    app: Dashboard,
    pilot: Pilot[int],
    source: SourceDouble,
    keys: Sequence[str],
    *,
    later: Sequence[str] = (),
    last: Sequence[str] = (),
    path: bytes = MEMBER,
    skipped: tuple[NotRepository, ...] = (),
) -> None:
    await until(lambda: source.started, "the survey begins")
    count = len(app.fleet.rows)
    changes = source.happen()
    changes.progress = SurveyProgress(
        step="inspected",
        done_count=count // 2,
        known_count=count,
        complete=False,
        elapsed_s=0.1,
        other_count=len(skipped),
    )
    changes.skipped = skipped
    changes.jobs = JOBS | ACTING_JOBS if count else {}
    if app.fleet.number_of(path) is not None:
        app.fleet_screen.go_to(path)
    await _settle(app, pilot)
    for key in keys:
        await pilot.press(key)
    await _settle(app, pilot)
    changes = source.happen()
    changes.namespaces[MEMBER] = NAMESPACES
    changes.lookup_times[MEMBER] = LOOKUP_TIMES
    changes.objects[MEMBER] = list(ANSWERS)
    changes.entries[MEMBER] = ENTRIES
    changes.plans = {path: PLANS[path] for paths, _ in source.planned for path in paths}
    changes.experiments = {path: pictured_lab() for path in source.experiments_asked}
    await _settle(app, pilot)
    for key in later:
        await pilot.press(key)
    await _settle(app, pilot)
    if last:
        source.happen().experiments = {path: pictured_lab() for path in source.experiments_asked}
        await _settle(app, pilot)
        for key in last:
            await pilot.press(key)
        await _settle(app, pilot)


async def _settle(app: Dashboard, pilot: Pilot[int]) -> None:
    for _ in range(4):
        await pilot.pause()
        app.flush()
    await pilot.pause()


def _text(app: Dashboard) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()) + "\n"


def _svg(app: Dashboard) -> str:
    svg = re.sub(r"terminal-\d+", "terminal", app.export_screenshot(title="gitdash"))
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
