"""Servers that refuse, stall, are slow, or go away in the middle."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.servers.git_daemon import git_daemon
from tests.support.servers.listening import Listener, listening

_CLOSE_WITH_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER on, for 0 s: closing sends RST, see socket(7)."""

PassBack = Callable[[socket.socket, socket.socket, Listener], None]


def stall(connection: socket.socket, listener: Listener) -> None:
    """Accept and say nothing."""
    listener.closing.wait()


def reset(connection: socket.socket, _listener: Listener) -> None:
    """Cut the connection with RST once the client has said something."""
    connection.recv(65536)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSE_WITH_RESET)


def close_at_once(connection: socket.socket, _listener: Listener) -> None:
    """Accept, and close without a word."""
    connection.recv(65536)


@contextlib.contextmanager
def nobody_listens() -> Iterator[int]:
    """Give a port that answers with RST and that nobody else gets: it is bound, but does not listen."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@contextlib.contextmanager
def never_connects() -> Iterator[int]:
    """Give a port where a connection is never made: the queue of those that wait to be accepted is full."""
    with contextlib.ExitStack() as opened:
        full = opened.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(2):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(full.getsockname())
        yield full.getsockname()[1]


@contextlib.contextmanager
def relay(port: int, pass_back: PassBack) -> Iterator[Listener]:
    """Pass on what clients say to `port`; what comes back goes through `pass_back(upstream, client, listener)`."""

    def handle(client: socket.socket, listener: Listener) -> None:
        with socket.create_connection(("127.0.0.1", port)) as upstream:
            asking = threading.Thread(target=_copy, args=(client, upstream), daemon=True)
            asking.start()
            try:
                pass_back(upstream, client, listener)
            finally:
                for one in (client, upstream):
                    with contextlib.suppress(OSError):
                        one.shutdown(socket.SHUT_RDWR)
                asking.join()

    with listening(handle) as listener:
        yield listener


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)


@contextlib.contextmanager
def cut(port: int, after_bytes: int, *, then_stall: bool = False) -> Iterator[Listener]:
    """Pass on, but close, or fall silent with the connection open, after so many bytes that came back on it."""

    def answer(upstream: socket.socket, client: socket.socket, listener: Listener) -> None:
        left = after_bytes
        while left and (part := upstream.recv(min(left, 65536))):
            client.sendall(part)
            left -= len(part)
        if then_stall:
            listener.closing.wait()

    with relay(port, answer) as listener:
        yield listener


@contextlib.contextmanager
def cut_daemon(folder: Path, after_bytes: int, *, then_stall: bool = False) -> Iterator[Listener]:
    """Serve as `git daemon`, and cut."""
    with git_daemon(folder) as daemon, cut(daemon.port, after_bytes, then_stall=then_stall) as listener:
        yield listener


@contextlib.contextmanager
def slow_daemon(folder: Path, *, fast_bytes: int = 0, bytes_per_s: float = 1.0) -> Iterator[Listener]:
    """Serve as `git daemon`: `fast_bytes` at once, and then byte by byte."""

    def answer(upstream: socket.socket, client: socket.socket, listener: Listener) -> None:
        left = fast_bytes
        while left and (part := upstream.recv(left)):
            client.sendall(part)
            left -= len(part)
        while not listener.closing.wait(1 / bytes_per_s) and (part := upstream.recv(1)):
            client.sendall(part)

    with git_daemon(folder) as daemon, relay(daemon.port, answer) as listener:
        yield listener
