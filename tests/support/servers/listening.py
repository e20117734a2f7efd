"""A socket on the loopback that hands every connection to a function, in a thread of its own.

The kernel chooses the port and the socket listens before the address is known to anybody, so nobody has to wait for it.
"""

import contextlib
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

LIMIT_S = 10.0
"""What waits longer for a thread or a process of a test server is a fault of the test."""


@dataclass
class Listener:
    """A socket that accepts, what was accepted, and what serves it."""

    socket: socket.socket
    closing: threading.Event = field(default_factory=threading.Event)
    """Set when the test is over: a function that waits ends then."""
    connections: list[socket.socket] = field(default_factory=list)
    """All that were accepted, open ones and closed ones."""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _accepted: threading.Condition = field(default_factory=threading.Condition)

    @property
    def port(self) -> int:
        return self.socket.getsockname()[1]

    def wait_for_connection(self, count: int = 1) -> None:
        """Wait until so many connections were accepted."""
        with self._accepted:
            assert self._accepted.wait_for(lambda: len(self.connections) >= count, LIMIT_S), "nobody connected"

    def accept(self) -> socket.socket | None:
        """Wait for the next connection; None when the socket was closed."""
        try:
            connection, _address = self.socket.accept()
        except OSError:
            return None
        with self._accepted:
            self.connections.append(connection)
            self._accepted.notify_all()
        return connection

    def close(self) -> None:
        """Stop accepting, cut every connection and end every process, by its id."""
        self.closing.set()
        for one in (self.socket, *self.connections):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for process in self.processes:
            if process.poll() is None:
                # the thread that waits for it may have seen its end meanwhile
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(LIMIT_S)


Handle = Callable[[socket.socket, Listener], None]


@contextlib.contextmanager
def listening(handle: Handle) -> Iterator[Listener]:
    """Listen, and call `handle` for each connection; at the end no thread, process or socket of it is left."""
    with socket.create_server(("127.0.0.1", 0), backlog=32) as opened:
        listener = Listener(opened)
        threads: list[threading.Thread] = []

        def serve(connection: socket.socket) -> None:
            # A client that goes away is what many tests are about.
            with connection, contextlib.suppress(OSError):
                handle(connection, listener)

        def accept() -> None:
            while (connection := listener.accept()) is not None:
                threads.append(thread := threading.Thread(target=serve, args=(connection,), daemon=True))
                thread.start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield listener
        finally:
            listener.close()
            accepting.join(LIMIT_S)
            for thread in threads:
                thread.join(LIMIT_S)
            assert not any(thread.is_alive() for thread in (accepting, *threads))


def program(argv: Sequence[str | os.PathLike[str]], environment: Mapping[str, str], log: str | None = None) -> Handle:
    """Return a function that lets a program talk on the connection as inetd(8) does; its complaints go to `log`."""

    def handle(connection: socket.socket, listener: Listener) -> None:
        with open(log or os.devnull, "ab") as complaints:
            process = subprocess.Popen(
                list(argv),
                stdin=connection,
                stdout=connection,
                stderr=complaints,
                env=dict(environment),
                start_new_session=True,
            )
        listener.processes.append(process)
        if listener.closing.is_set():
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    return handle


def received_until_closed(connection: socket.socket) -> bytes:
    """Read until the peer has closed, and return it all."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)
