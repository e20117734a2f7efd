"""The dashboard's clock: the one place in it where the time of day is read."""

import time
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]
"""Returns seconds since the epoch."""


def wall_clock() -> float:
    """Return the time of day in seconds since the epoch."""
    return time.time()  # noqa: TID251 - this is the clock that the rule points to
