"""Which processes run, and what is left of them."""

import contextlib
import time
from collections.abc import Callable, Sequence

import psutil


def children_where(is_meant: Callable[[psutil.Process], bool], pid: int | None = None) -> list[psutil.Process]:
    """Return the descendants, of this process or another, that are meant; one that ends meanwhile is not."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if is_meant(child):
                found.append(child)
    return found


def left_after(processes: Sequence[psutil.Process], limit_s: float) -> list[psutil.Process]:
    """Return those that still run after a while; one that only waits for its parent to hear of its end does not."""
    deadline_s = time.monotonic() + limit_s
    while left := [process for process in processes if _runs(process)]:
        if time.monotonic() > deadline_s:
            break
        time.sleep(0.01)
    return left


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
