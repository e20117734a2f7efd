"""When a dashboard under test has nothing left to do: told by its event loop, instead of by time that passes.

Textual's pilot sleeps 20 ms or more for each key and each pause, and longer while the machine is busy with other work.
Here the loop is asked: a wait ends when the work is done, which is earlier on a quiet machine and surer on a busy one.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Final

from textual._context import active_app
from textual.app import App

SOON_S: Final = 0.01
"""A timer that is due within this time belongs to the work, such as that which looks at the source after a wake-up."""
_TIMERS_AT_MOST: Final = 4
"""What repeats all the time, such as an animation, is not waited for any longer."""
_LIMIT_S: Final = 5.0
_LOOK_S: Final = 0.002
_QUIET_ROUNDS: Final = 3
"""In each round the loop looks at sockets, at what threads have sent and at timers once."""


async def until_idle(_min_s: float = 0.0, limit_s: float = _LIMIT_S) -> None:
    """Wait until all is handled and painted and no timer is due soon; in place of Textual's `wait_for_idle`."""
    deadline_s = time.monotonic() + limit_s
    app = _application()
    for _ in range(_TIMERS_AT_MOST):
        await _until_nothing_is_ready(deadline_s)
        if app is not None:
            await _until_workers_are_done(app, deadline_s)
            _paint(app)
        await _until_nothing_is_ready(deadline_s)
        wait_s = _until_next_timer_s()
        if wait_s > SOON_S:
            return
        await asyncio.sleep(max(wait_s, 0.0))


async def _until_nothing_is_ready(deadline_s: float) -> None:
    loop = asyncio.get_running_loop()
    quiet_rounds = 0
    while quiet_rounds < _QUIET_ROUNDS:
        await asyncio.sleep(0)
        quiet_rounds = 0 if loop._ready else quiet_rounds + 1  # type: ignore[attr-defined]
        assert time.monotonic() < deadline_s, "the dashboard goes on and on without any pause"


def _application() -> App[object] | None:
    """Return the application under test while it runs."""
    with contextlib.suppress(LookupError):
        app = active_app.get()
        if app._running and not app._exit and app._screen_stack:
            return app
    return None


async def _until_workers_are_done(app: App[object], deadline_s: float) -> None:
    """Wait for what the palette searches: it looks for the end of it every 100 ms."""
    while not all(worker.is_finished for worker in app.workers):
        await asyncio.sleep(0.001)
        assert time.monotonic() < deadline_s, "a worker of the dashboard does not end"


def _paint(app: App[object]) -> None:
    """Do now what Textual does at the next frame."""
    if app._screen_stack:
        app.screen._on_timer_update()


def _until_next_timer_s() -> float:
    loop = asyncio.get_running_loop()
    timers = loop._scheduled  # type: ignore[attr-defined]
    due_s = min((timer.when() for timer in timers if not timer.cancelled()), default=float("inf"))
    return float(due_s - loop.time())


async def until(is_reached: Callable[[], object], what: str, limit_s: float = 20.0) -> None:
    """Wait until something holds, `what` in words, and until that is handled and painted."""
    deadline_s = time.monotonic() + limit_s
    await until_idle()
    while not is_reached():
        assert time.monotonic() < deadline_s, f"waited {limit_s:.0f} s in vain: {what}"
        await asyncio.sleep(_LOOK_S)
        await until_idle()
