"""Talks to one child over its three pipes until it ends, a deadline passes, or somebody cancels.

Reading never outlives the child: what it wrote stands in the pipes when it ends, and an escaped grandchild that holds
them open is not waited for. Source: poll(2), pidfd_open(2).
"""

import contextlib
import enum
import errno
import os
import selectors
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Final

from gitdash.gitcmd.groups import ProcessGroup
from gitdash.gitcmd.output import BoundedText

_TICK_S: Final = 0.04
"""How late a cancel may be noticed."""
_CHUNK_BYTES: Final = 64 * 1024
_PIPE_CAPACITY_BYTES: Final = 1024 * 1024
"""The most that an unprivileged process can make a pipe hold (pipe(7), /proc/sys/fs/pipe-max-size)."""


class Ending(enum.Enum):
    """Why the talk ended, in the words of a record; an ordinary end needs none."""

    FINISHED = None
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    TOO_MUCH = "wrote too much"
    """More on stdout than the caller wants."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What goes into a child and what comes out."""

    stdin: bytes
    """All that the child gets; then its stdin is closed."""
    stdout_limit_bytes: int
    """More than this ends the talk."""
    stdout: bytearray = field(default_factory=bytearray)
    """What was read; at most one chunk above the limit."""
    stderr: BoundedText = field(default_factory=BoundedText)
    """What was read, its middle left out if it is long."""
    written_bytes: int = 0
    """How much of `stdin` is written."""
    on_stderr: Callable[[bytes], None] | None = None
    """Hears each piece of stderr as it comes, before its middle is left out; in the thread that talks."""
    keep: Callable[[bytes], bytes] | None = None
    """Takes each piece of stderr, and returns what is to be kept by then; None keeps all."""
    on_wake: Callable[[], float] | None = None
    """Called whenever the talk wakes up, as long as the child is not reaped: at the latest after a tick, or after as
    many seconds as it returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipes:
    """Our ends of a child's pipes."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]

    def close(self) -> None:
        """Close all three."""
        for pipe in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(OSError):
                pipe.close()


def talk(
    exchange: Exchange, pipes: Pipes, group: ProcessGroup, *, deadline_s: float, cancel: threading.Event | None
) -> Ending:
    """Fill `exchange` until the child has ended. `deadline_s` is a time of the monotonic clock."""
    with selectors.DefaultSelector() as selector:
        _register(selector, exchange, pipes, group)
        pause_s = _TICK_S
        while True:
            if exchange.on_wake is not None:
                pause_s = exchange.on_wake()
            ready = selector.select(max(0.0, min(_TICK_S, pause_s, deadline_s - time.monotonic())))
            ended = group.has_ended()
            for key, _ in ready:
                _transfer(exchange, pipes, key, selector)
            if len(exchange.stdout) > exchange.stdout_limit_bytes:
                return Ending.TOO_MUCH
            if ended:
                return _drain(exchange, pipes)
            if cancel is not None and cancel.is_set():
                return Ending.CANCELLED
            if time.monotonic() >= deadline_s:
                return Ending.TIMED_OUT


def _register(selector: selectors.BaseSelector, exchange: Exchange, pipes: Pipes, group: ProcessGroup) -> None:
    for pipe in (pipes.stdin, pipes.stdout, pipes.stderr):
        os.set_blocking(pipe.fileno(), False)
    selector.register(pipes.stdout, selectors.EVENT_READ)
    selector.register(pipes.stderr, selectors.EVENT_READ)
    if group.exit_descriptor is not None:
        selector.register(group.exit_descriptor, selectors.EVENT_READ)
    if exchange.stdin:
        selector.register(pipes.stdin, selectors.EVENT_WRITE)
    else:
        pipes.stdin.close()


def _transfer(exchange: Exchange, pipes: Pipes, key: selectors.SelectorKey, selector: selectors.BaseSelector) -> None:
    """Move one chunk through the pipe that is ready, and leave the pipe when nothing will follow."""
    if key.fileobj is pipes.stdin:
        if not _write(exchange, pipes.stdin):
            selector.unregister(pipes.stdin)
            pipes.stdin.close()
    elif key.fileobj in (pipes.stdout, pipes.stderr) and not _read(exchange, pipes, key.fd):
        selector.unregister(key.fileobj)


def _write(exchange: Exchange, pipe: IO[bytes]) -> bool:
    """Write one chunk; return whether there is more to write."""
    start = exchange.written_bytes
    try:
        exchange.written_bytes += os.write(pipe.fileno(), exchange.stdin[start : start + _CHUNK_BYTES])
    except BlockingIOError:
        return True
    except OSError:
        # The child does not read any more; its exit code and stderr say why.
        return False
    return exchange.written_bytes < len(exchange.stdin)


def _read(exchange: Exchange, pipes: Pipes, descriptor: int) -> bool:
    """Read one chunk of stdout or stderr; return False at the end of the file."""
    try:
        data = os.read(descriptor, _CHUNK_BYTES)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        # how a terminal says that nobody has its other end any more
        data = b""
    if descriptor == pipes.stdout.fileno():
        exchange.stdout += data
    else:
        exchange.stderr.append(data if exchange.keep is None else exchange.keep(data))
        if exchange.on_stderr is not None:
            exchange.on_stderr(data)
    return bool(data)


def _drain(exchange: Exchange, pipes: Pipes) -> Ending:
    """Read what an ended child left in its pipes, but no more than pipes hold: a grandchild may go on writing."""
    for pipe in (pipes.stdout, pipes.stderr):
        with contextlib.suppress(BlockingIOError):
            for _ in range(_PIPE_CAPACITY_BYTES // _CHUNK_BYTES):
                if not _read(exchange, pipes, pipe.fileno()):
                    break
    return Ending.TOO_MUCH if len(exchange.stdout) > exchange.stdout_limit_bytes else Ending.FINISHED
