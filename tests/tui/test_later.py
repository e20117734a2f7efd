"""What is done after a time: not before it, and in any case."""

import asyncio
import time

import msgspec
import pytest
from textual.timer import Timer

from gitdash.tui.later import later
from tests.support.idle import until
from tests.tui.driven_fleet import driven_fleet
from tests.tui.fixture_fleet import many_summaries


async def test_it_is_not_done_before_its_time() -> None:
    async with driven_fleet([]) as driven:
        late_s: list[float] = []
        for delay_s in (0.0, 0.0004, 0.0011, 0.003, 0.0101):
            due_s = time.monotonic() + delay_s
            later(driven.app, delay_s, lambda due_s=due_s: late_s.append(time.monotonic() - due_s))
        await until(lambda: len(late_s) == 5, "all five are done")
    # the event loop counts in nanoseconds
    assert min(late_s) > -1e-8


async def test_what_happened_is_shown_though_every_timer_of_textual_that_fires_once_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = many_summaries(3)
    run = Timer._run

    async def run_if_it_repeats(timer: Timer) -> None:
        if timer._repeat is None:
            await run(timer)

    monkeypatch.setattr(Timer, "_run", run_if_it_repeats)
    async with driven_fleet(rows) as driven:
        for loose_count in (71, 72):
            driven.source.happen().summaries[rows[0].path] = msgspec.structs.replace(rows[0], loose_count=loose_count)
            await until(lambda: driven.source.pending is None, "the change is taken", 5.0)
            assert driven.fleet.rows[0].summary.loose_count == loose_count


async def test_nothing_is_done_once_the_dashboard_has_ended() -> None:
    async with driven_fleet([]) as driven:
        pass
    done: list[str] = []
    over = asyncio.Event()
    later(driven.app, 0.0, lambda: done.append("shown"))
    asyncio.get_running_loop().call_later(0.002, over.set)
    await over.wait()
    assert done == []
