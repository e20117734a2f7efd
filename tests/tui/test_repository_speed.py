"""What it costs to open the screen of a repository with 1,000 packs, in CPU time of the dashboard's thread."""

import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from gitdash.survey.summarize import summarize
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.drawing.items import Page
from gitdash.tui.repository.packs import packs_page
from gitdash.tui.repository.view import RepositoryView
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_summaries, no_family
from tests.tui.many_packs import report_of, thousand_packs
from tests.tui.source_double import SourceDouble

OPEN_LIMIT_S = 0.100
SHOW_LIMIT_S = 0.030
SLACK = 3
"""Between a quiet machine and a busy one, for CPU time."""


async def _opened_s(tab: str | None) -> float:
    """The least CPU time of a few openings, from the key until everything is drawn."""
    report = report_of(thousand_packs(), loose_count=412)
    app = Dashboard([ROOT], [*fixed_summaries(), summarize(report)], SourceDouble([report]), lambda: NOW_S)
    times_s = []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        app.go_to(report.repository.path)
        await pilot.pause()
        for _ in range(4):
            start_s = time.thread_time()
            await pilot.press("enter", *([tab] if tab else []))
            await pilot.pause()
            app.flush()
            await pilot.pause()
            app.screen._compositor.render_strips()
            times_s.append(time.thread_time() - start_s)
            assert app.screen is not app.fleet_screen
            await pilot.press("q")
            await pilot.pause()
    return min(times_s)


@pytest.mark.parametrize("tab", [None, "3"])
async def test_repository_with_thousand_packs_opens_at_once(tab: str | None) -> None:
    assert await _opened_s(tab) <= OPEN_LIMIT_S * SLACK


_OPENED = """
import asyncio, sys
from gitdash.tui.dashboard import Dashboard
from tests.support.idle import until
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_summaries
from tests.tui.source_double import SourceDouble

def is_loaded():
    return "gitdash.tui.repository.screen" in sys.modules

async def main():
    assert not is_loaded(), "the first paint waits for it"
    async with Dashboard([ROOT], fixed_summaries(), SourceDouble(), lambda: NOW_S).run_test():
        await until(is_loaded, "it is loaded without a key")

asyncio.run(main())
"""


def test_what_opening_a_repository_needs_is_loaded_after_the_first_paint_and_before_any_key() -> None:
    done = subprocess.run([sys.executable, "-c", _OPENED], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def _cpu_s(work: Callable[[], object], runs: int = 5) -> float:
    times_s = []
    for _ in range(runs):
        start_s = time.thread_time()
        work()
        times_s.append(time.thread_time() - start_s)
    return min(times_s)


def test_page_of_thousand_packs_composes_only_what_is_looked_at() -> None:
    report = report_of(thousand_packs())
    view = RepositoryView(summary=summarize(report), report=report, now_s=NOW_S, family=no_family, repository_count=1)
    pages: list[Page] = []
    assert _cpu_s(lambda: pages.append(packs_page(view, 120))) <= SHOW_LIMIT_S
    assert len(pages[0].items) == 1_000
    assert pages[0].lines == pages[1].lines
