"""One question to an inspection worker of its own, for what a survey does not ask.

A file system may not answer, and a thread that waits for it in the kernel cannot be ended: so a process waits, which
can be, or is left to itself. Many repositories are asked for by `workers`.
"""

import os
import select
import threading
import time
from typing import Final

from gitdash.gitcmd.workers import WorkerProcess, start_worker
from gitdash.inspection.messages import EMPTY, complete_message
from gitdash.model.repository import Unreadable
from gitdash.survey import workers
from gitdash.survey.patience import silence

_TICK_MS: Final = 50
"""How late a cancel may be noticed."""
_READ_BYTES: Final = 1 << 20


def ask_worker(message: bytes, *, time_limit_s: float, cancel: threading.Event) -> bytes | Unreadable:
    """Return the body of the worker's reply, and end the worker; its start does not count for the time limit.

    Raises GitError if no worker can be started.
    """
    process = start_worker(workers.WORKER_MODULE)
    try:
        is_up = _ask(process, EMPTY, workers.START_LIMIT_S, cancel) is not None
        body = _ask(process, message, time_limit_s, cancel) if is_up else None
    except OSError:
        return Unreadable("the process to read it ended")
    finally:
        process.stop()
    if cancel.is_set():
        return Unreadable("cancelled")
    if not is_up:
        return Unreadable("the process to read it did not start")
    return Unreadable(silence(time_limit_s)) if body is None else body


def _ask(process: WorkerProcess, message: bytes, time_limit_s: float, cancel: threading.Event) -> bytes | None:
    """Send a message, shorter than a pipe holds, and return the answer's body; None if none came in time.

    Raises OSError if the worker ended.
    """
    deadline_s = time.monotonic() + time_limit_s
    process.stdin.write(message)
    process.stdin.flush()
    received = bytearray()
    poll = select.poll()
    poll.register(process.stdout, select.POLLIN)
    while (body := complete_message(received, 0)) is None:
        if cancel.is_set() or time.monotonic() >= deadline_s:
            return None
        if poll.poll(_TICK_MS):
            chunk = os.read(process.stdout.fileno(), _READ_BYTES)
            if not chunk:
                raise BrokenPipeError
            received += chunk
    return body
