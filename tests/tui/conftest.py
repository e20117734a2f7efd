"""What all tests of the dashboard share: a pilot that waits for work only, and a limit for each test."""

import asyncio
import functools
import gc
import inspect
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import textual.app
import textual.pilot
from textual.widgets import Input

from tests.support.idle import until_idle

LIMIT_S: Final = 60.0
"""For one test that runs in an event loop; none takes a tenth of it."""
_LEAVING_LIMIT_S: Final = 5.0
_RARELY: Final = (50_000, 20, 100)
_HERE = Path(__file__).parent


@pytest.fixture(autouse=True, scope="module")
def _rare_collections() -> Iterator[None]:
    """Let the garbage collector look rarely: each time it goes over all that pytest has loaded, too."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*_RARELY)
    yield
    gc.set_threshold(*thresholds)


@pytest.fixture(autouse=True)
def _quick_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual.app, "wait_for_idle", until_idle)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", until_idle)


@pytest.fixture(autouse=True)
def _steady_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no picture depend on when the cursor of an input blinks."""
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let no test that awaits something wait for ever."""
    for item in items:
        if isinstance(item, pytest.Function) and _HERE in item.path.parents and inspect.iscoroutinefunction(item.obj):
            item.obj = _limited(item.obj)


def _limited(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def limited(*arguments: object, **named: object) -> None:
        watch = _Watch()
        try:
            await test(*arguments, **named)
        except asyncio.CancelledError:
            if not watch.waiting:
                raise
        finally:
            watch.end()
        if watch.waiting:
            pytest.fail(f"not done after {LIMIT_S:.0f} s; what its tasks wait for:\n{watch.waiting}", pytrace=False)

    return limited


class _Watch:
    """Ends the task that makes it when that takes too long, and says what all tasks waited for then."""

    def __init__(self) -> None:
        self.waiting = ""
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(LIMIT_S, self._give_up)

    def end(self) -> None:
        self._timer.cancel()

    def _give_up(self) -> None:
        self.waiting = self.waiting or "\n".join(
            f"{task.get_name()}\n{_waits_in(task)}" for task in asyncio.all_tasks()
        )
        self._task.cancel()
        # the way out of a test may wait as well
        self._timer = self._loop.call_later(_LEAVING_LIMIT_S, self._give_up)


def _waits_in(task: "asyncio.Task[object]") -> str:
    """Return the places in which a task waits, the innermost last."""
    places = []
    awaited = task.get_coro()
    while (frame := getattr(awaited, "cr_frame", None)) is not None:
        places.append(f"    {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}")
        awaited = awaited.cr_await
    return "\n".join(places)
