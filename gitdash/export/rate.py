"""How fast a job is, and how long the rest of it will take. Pure."""

from typing import Final

from gitdash.units import human_bytes, human_duration

_STEADY_S: Final = 0.2
"""Before this a rate says nothing."""


def rate_text(done_count: int, elapsed_s: float) -> str | None:
    """Return what is done in a second, such as `612/s`; None while that cannot be told."""
    if not done_count or elapsed_s < _STEADY_S:
        return None
    rate = done_count / elapsed_s
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def byte_rate_text(done_bytes: int, elapsed_s: float) -> str | None:
    """Return what is received in a second, such as `2.10 MiB/s`; None while that cannot be told."""
    return f"{human_bytes(int(done_bytes / elapsed_s))}/s" if done_bytes and elapsed_s >= _STEADY_S else None


def left_text(done_count: int, known_count: int, elapsed_s: float) -> str | None:
    """Return the time that the rest takes if each takes as long as the others did; None while that cannot be told."""
    if not done_count or elapsed_s < _STEADY_S or known_count <= done_count:
        return None
    return f"{human_duration((known_count - done_count) * elapsed_s / done_count)} left"
