"""What git was asked and what became of it, by repository: the last commands of each, in memory only.

Whoever works for a repository says so with `commands_for`; that holds in the thread that says it. Commands of nobody,
such as `git version`, are filed under None. Bounded, so that a survey of 100,000 repositories does not fill memory.
This module starts nothing and reads no stderr: `runner` and `objects` report to it.
"""

import contextlib
import itertools
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Final

import msgspec

from gitdash.model.command import CommandRecord
from gitdash.units import printable

KEPT_FOR_EACH: Final = 200
"""Commands of one repository: a size takes one to four."""
KEPT_IN_ALL: Final = 20_000
"""Some 20 MB where none complained, 100 MB where each did at length."""
STDERR_LIMIT_BYTES: Final = 4096
"""Of what a command said: the half of it from the beginning, and from the end."""

_path: Final[ContextVar[bytes | None]] = ContextVar("path", default=None)
_listener: Final[ContextVar[Callable[[int], None] | None]] = ContextVar("listener", default=None)


@contextlib.contextmanager
def commands_for(path: bytes, on_begin: Callable[[int], None] | None = None) -> Iterator[None]:
    """File the commands that this thread runs inside the block under a repository.

    `on_begin` hears the number of each just before it starts.
    """
    token, listener_token = _path.set(path), _listener.set(on_begin)
    try:
        yield
    finally:
        _path.reset(token)
        _listener.reset(listener_token)


class CommandLog:
    """The last commands of each repository; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_number = itertools.count(1)
        self._records: OrderedDict[int, CommandRecord] = OrderedDict()
        self._numbers: dict[bytes | None, deque[int]] = {}
        self._versions: dict[bytes | None, int] = {}

    def records_of(self, path: bytes | None) -> tuple[CommandRecord, ...]:
        """Return what ran for a repository, the newest last; None for what ran for none."""
        with self._lock:
            return tuple(self._records[number] for number in self._numbers.get(path, ()))

    def record(self, number: int) -> CommandRecord | None:
        """Return what `begin` gave this number; None if it was dropped."""
        with self._lock:
            return self._records.get(number)

    def version_of(self, path: bytes | None) -> int:
        """Return a number that grows with each change of what `records_of` returns."""
        with self._lock:
            return self._versions.get(path, 0)

    def begin(self, argv: Sequence[str]) -> int:
        """File a command that is about to start, with credentials masked already, and return its number for `end`."""
        path, shown = _path.get(), tuple(map(printable, argv))
        with self._lock:
            record = CommandRecord(
                number=next(self._next_number),
                path=path,
                argv=shown,
                started_s=time.monotonic(),
                elapsed_s=None,
                exit_code=None,
            )
            self._records[record.number] = record
            numbers = self._numbers.setdefault(path, deque())
            numbers.append(record.number)
            self._changed(path)
            if len(numbers) > KEPT_FOR_EACH:
                del self._records[numbers.popleft()]
            elif len(self._records) > KEPT_IN_ALL:
                self._drop_oldest()
        if (listener := _listener.get()) is not None:
            listener(record.number)
        return record.number

    def end(self, number: int, *, exit_code: int | None, ending: str | None = None, stderr: str = "") -> None:
        """Say what became of a command; a negative exit code is a signal. `stderr` has its credentials masked."""
        ended_s = time.monotonic()
        if exit_code is not None and exit_code < 0:
            ending, exit_code = ending or f"signal {-exit_code}", None
        said = _bounded(stderr) if stderr else ""
        with self._lock:
            record = self._records.get(number)
            if record is None:
                return
            elapsed_s = ended_s - record.started_s
            self._records[number] = msgspec.structs.replace(
                record, elapsed_s=elapsed_s, exit_code=exit_code, ending=ending, stderr=said
            )
            self._changed(record.path)

    def _changed(self, path: bytes | None) -> None:
        self._versions[path] = self._versions.get(path, 0) + 1

    def _drop_oldest(self) -> None:
        _, record = self._records.popitem(last=False)
        numbers = self._numbers[record.path]
        numbers.popleft()
        if not numbers:
            del self._numbers[record.path]
        self._changed(record.path)


def _bounded(stderr: str) -> str:
    """Return it printable, and cut in the middle where it is too long."""
    text = "\n".join(map(printable, stderr.rstrip("\n").split("\n")))
    data = text.encode()
    if len(data) <= STDERR_LIMIT_BYTES:
        return text
    mark = f"\n[... {len(data)} bytes in all ...]\n"
    part_bytes = (STDERR_LIMIT_BYTES - len(mark)) // 2
    # a character that was cut in two is left out
    return data[:part_bytes].decode(errors="ignore") + mark + data[-part_bytes:].decode(errors="ignore")


COMMAND_LOG: Final = CommandLog()
"""What this process has run."""
