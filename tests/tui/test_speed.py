"""What the dashboard costs at ten thousand rows, in CPU time of its thread, with slack for a busy machine."""

import time
from collections.abc import Callable

import msgspec
import pytest

from gitdash.export.columns import FLEET_COLUMNS
from gitdash.model.view import Grouping
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.table.fleet import Fleet
from tests.support.idle import until
from tests.tui.driven_fleet import KEY_NAMES
from tests.tui.fixture_fleet import NOW_S, ROOT, many_summaries
from tests.tui.source_double import SourceDouble

ROW_COUNT = 10_000
SORT_LIMIT_S = 0.060
FILTER_LIMIT_S = 0.030
FLUSH_LIMIT_S = 0.010
SLACK = 3
"""Between a quiet machine and a busy one, for CPU time."""


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    fleet = Fleet(FLEET_COLUMNS)
    for summary in many_summaries(ROW_COUNT):
        fleet.put(summary)
    fleet.arrange()
    return fleet


def _cpu_s(work: Callable[[], object], runs: int = 5) -> float:
    """The least CPU time of some runs."""
    times_s = []
    for _ in range(runs):
        start_s = time.thread_time()
        work()
        times_s.append(time.thread_time() - start_s)
    return min(times_s)


@pytest.mark.parametrize("key", [column.key for column in FLEET_COLUMNS])
def test_sorting_ten_thousand_rows_is_not_felt(fleet: Fleet, key: str) -> None:
    assert _cpu_s(lambda: fleet.sort_by(key), runs=3) <= SORT_LIMIT_S * SLACK


@pytest.mark.parametrize(("kind", "group_count"), [("pool", 3_334), ("root", 1)])
async def test_sorting_ten_thousand_rows_in_groups_is_not_felt(kind: Grouping, group_count: int) -> None:
    app = Dashboard([ROOT], many_summaries(ROW_COUNT), SourceDouble(), lambda: NOW_S)
    async with app.run_test(size=(160, 50)) as pilot:
        app.fleet_screen.folding.group_by(kind)
        await pilot.pause()
        assert len(app.fleet.groups.ordered) == group_count
        times_s = {}
        for key in ("name", "state", "disk", "loose"):
            for run in range(3):
                start_s = time.thread_time()
                app.fleet_screen.sort_by(key)
                await pilot.pause()
                app.screen._compositor.render_strips()
                times_s[key, run] = time.thread_time() - start_s
        for key, _ in times_s:
            assert min(times_s[key, run] for run in range(3)) <= SORT_LIMIT_S * SLACK


def test_filtering_ten_thousand_rows_keeps_up_with_typing(fleet: Fleet) -> None:
    assert _cpu_s(lambda: fleet.set_filter("pool 00ff")) <= FILTER_LIMIT_S * SLACK
    fleet.set_filter("")


@pytest.mark.parametrize("text", ["pool 00ff", "=packs > 50 and role = 'plain'"])
async def test_each_letter_of_a_filter_over_ten_thousand_rows_keeps_up_with_typing(text: str) -> None:
    app = Dashboard([ROOT], many_summaries(ROW_COUNT), SourceDouble(), lambda: NOW_S)
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause()
        times_s: dict[str, list[float]] = {}
        for _ in range(3):
            await pilot.press("slash")
            for length, letter in enumerate(text, 1):
                start_s = time.thread_time()
                await pilot.press(KEY_NAMES.get(letter, letter))
                await pilot.pause()
                app.screen._compositor.render_strips()
                times_s.setdefault(text[:length], []).append(time.thread_time() - start_s)
            assert app.fleet.filter.text == text
            await pilot.press("escape")
            await pilot.pause()
        assert max(map(min, times_s.values())) <= FILTER_LIMIT_S * SLACK


async def test_flush_of_200_changes_is_a_fraction_of_a_frame() -> None:
    rows = many_summaries(ROW_COUNT)
    source = SourceDouble()
    app = Dashboard([ROOT], rows, source, lambda: NOW_S)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(lambda: source.started, "the survey begins")
        app.live.may_arrange = lambda: False
        times_s = []
        for run in range(5):
            for row in rows[run * 200 : run * 200 + 200]:
                source.happen().summaries[row.path] = msgspec.structs.replace(row, pack_count=run)
            start_s = time.thread_time()
            app.flush()
            times_s.append(time.thread_time() - start_s)
            await pilot.pause()
        assert min(times_s) <= FLUSH_LIMIT_S * SLACK


async def test_change_of_a_row_that_is_not_on_screen_draws_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = many_summaries(1_000)
    source = SourceDouble()
    app = Dashboard([ROOT], rows, source, lambda: NOW_S)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: source.started, "the survey begins")
        app.flush()
        await pilot.pause()
        app.live.may_arrange = lambda: False
        drawn: list[int] = []
        original = app.table.render_line
        monkeypatch.setattr(app.table, "render_line", lambda y: drawn.append(y) or original(y))
        hidden = app.fleet.rows[app.fleet.view[-1]].summary
        source.happen().summaries[hidden.path] = msgspec.structs.replace(hidden, pack_count=9)
        app.flush()
        await pilot.pause()
        assert drawn == []
        shown = app.fleet.rows[app.fleet.view[4]].summary
        source.happen().summaries[shown.path] = msgspec.structs.replace(shown, pack_count=9)
        app.flush()
        await pilot.pause()
        assert set(drawn) == {5}
