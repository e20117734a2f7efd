"""A `gitdash serve` in a process of its own, and what it has started."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlsplit

import psutil

PROJECT = os.fspath(Path(__file__).parents[2])
LIMIT_S = 20.0


class Serving:
    """A server that runs; a context manager that ends it and what it left behind."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], *, before: str = "", say: int = subprocess.PIPE
    ) -> None:
        """Start `gitdash arguments`; `before` is Python that is run first. Waits for the URL."""
        code = f"{before}\nimport sys\nfrom gitdash.__main__ import main\nsys.exit(main())"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env={**environment, "PYTHONPATH": PROJECT, "PYTHONWARNINGS": "error"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=say,
        )
        try:
            self.url = self._read_line()
        except BaseException:
            self.close()
            raise
        parts = urlsplit(self.url)
        self.origin = f"http://{parts.netloc}"
        self.host = parts.netloc
        self.token = parse_qs(parts.query)["token"][0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def socket_url(self, token: str | None = None) -> str:
        return f"ws://{self.host}/ws/{token or self.token}?width=100&height=30"

    def dashboards(self) -> list[psutil.Process]:
        """The dashboards that it has started and that are alive."""
        found = []
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.Error):
                if "--served" in child.cmdline() and is_alive(child):
                    found.append(child)
        return found

    def wait_for_dashboards(self, count: int) -> list[psutil.Process]:
        wait_for(lambda: len(self.dashboards()) == count, f"there are {count} dashboards")
        return self.dashboards()

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C; return the exit code and what was said."""
        self.process.send_signal(signal.SIGINT)
        rest, said = self.process.communicate(timeout=LIMIT_S)
        assert rest == b""
        return self.process.returncode, said.decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait()

    def _read_line(self) -> str:
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], LIMIT_S)
        assert readable, "no URL"
        line = os.read(self.process.stdout.fileno(), 4096).decode()
        assert line.count("\n") == 1, (line, self.process.stderr and self.process.stderr.read())
        return line.rstrip("\n")


def wait_for(condition: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
    deadline_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline_s, f"not so within {limit_s} s: {what}"
        time.sleep(0.01)


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; nobody may reap orphans here."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for_end(process: psutil.Process, limit_s: float = LIMIT_S) -> None:
    wait_for(lambda: not is_alive(process), f"{process.pid} has ended", limit_s)


@contextlib.contextmanager
def killed_afterwards(process: psutil.Process) -> Iterator[None]:
    try:
        yield
    finally:
        if is_alive(process):
            process.kill()
