"""The command line's clock: the one place in it where the time of day is read."""

import time


def wall_clock() -> float:
    """Return the time of day in seconds since the epoch."""
    return time.time()  # noqa: TID251 - this is the clock that the rule points to
