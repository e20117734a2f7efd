"""To wait for what may never answer, such as a dead network file system: the wait ends, whatever the system does.

A system call that hangs cannot be ended. The thread that hangs in it is left behind: it is a daemon, and what it finds
later nobody reads.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

_T = TypeVar("_T")
_LOOK_INTERVAL_S: Final = 0.05
NOTED_S: Final = 3.0
"""A silence that is worth a word."""


def within(limit_s: float, work: Callable[[], _T], *, cancel: threading.Event | None = None) -> _T:
    """Return what `work` returns, or raise what it raises; TimeoutError if it takes too long or `cancel` is set."""
    answers: queue.SimpleQueue[tuple[_T, None] | tuple[None, Exception]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(), None))
        except Exception as error:  # noqa: BLE001 - it is raised again where somebody waits
            answers.put((None, error))

    deadline_s = time.monotonic() + limit_s
    threading.Thread(target=run, name="within", daemon=True).start()
    while (left_s := deadline_s - time.monotonic()) > 0 and not (cancel is not None and cancel.is_set()):
        try:
            answer, error = answers.get(timeout=min(left_s, _LOOK_INTERVAL_S))
        except queue.Empty:
            continue
        if error is not None:
            raise error
        return answer  # type: ignore[return-value]
    raise TimeoutError


def silence(limit_s: float) -> str:
    """Return what is said of something that did not answer."""
    return f"did not answer within {limit_s:g} s"


def is_below_any(path: bytes, folders: Iterable[bytes]) -> bool:
    """Tell whether a path is one of some folders, or lies below one, by the text of their paths alone."""
    return any(path == folder or path.startswith(folder.rstrip(b"/") + b"/") for folder in folders)
