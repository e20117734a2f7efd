"""A served dashboard ends by itself when nobody is there any more, whichever way it can notice that."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.web.serving import LIMIT_S, PROJECT, wait_for_end

KEY = b"D\x00\x00\x00\x01j"
NO_SIGNAL = "import gitdash.tui.web.driver as driver; driver.ask_for_signal_at_parents_death = lambda: None"
NO_POLL = "import gitdash.tui.web.parent as parent; parent._POLL_INTERVAL_S = 1000.0"

DEAF = """
import signal, types
import gitdash.tui.web.parent as parent
parent.signal = types.SimpleNamespace(SIGTERM=0, SIGKILL=signal.SIGKILL)
"""
"""Nothing comes of the signal that asks it to leave, as if it were stuck."""


class Served:
    """A dashboard that this test serves, or that a parent between it and this test does."""

    def __init__(self, root: Path, environment: dict[str, str], options: list[str], *, before: str, between: bool):
        code = f"{before}\nimport sys\nfrom gitdash.__main__ import main\nsys.exit(main())"
        command = [sys.executable, "-c", code, "--served", *options, "--", os.fspath(root)]
        if between:
            command = [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])", *command]
        self.process = subprocess.Popen(
            command,
            env={**environment, "PYTHONPATH": PROJECT, "COLUMNS": "80", "ROWS": "24"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.written = b""
        """All that it wrote so far."""
        self.dashboard = psutil.Process(self.process.pid)
        try:
            self.wait_for(b"__GANGLION__\n")
            self.wait_for(b"quokka")
            if between:
                (self.dashboard,) = self.dashboard.children()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for process in (self.dashboard, self.process):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def wait_for(self, text: bytes) -> None:
        assert self.process.stdout is not None
        deadline_s = time.monotonic() + LIMIT_S
        while text not in self.written:
            left_s = max(0, deadline_s - time.monotonic())
            readable, _, _ = select.select([self.process.stdout], [], [], left_s)
            assert readable, self.written[-500:]
            self.written += os.read(self.process.stdout.fileno(), 1 << 16)


@pytest.fixture
def served(
    fleet: Path, environment: dict[str, str], options: list[str], request: pytest.FixtureRequest
) -> Iterator[Served]:
    before, between = request.param
    one = Served(fleet, environment, options, before=before, between=between)
    yield one
    one.close()


alone = pytest.mark.parametrize("served", [("", False)], indirect=True)


@alone
def test_it_ends_when_its_stdin_ends(served: Served) -> None:
    assert served.process.stdin is not None
    served.process.stdin.close()
    served.wait_for(b'{"type": "exit"}')
    assert served.process.wait(LIMIT_S) == 130


@alone
def test_it_ends_when_nobody_reads_what_it_draws(served: Served) -> None:
    assert served.process.stdin is not None
    assert served.process.stdout is not None
    served.process.stdout.close()
    served.process.stdin.write(KEY)
    served.process.stdin.flush()
    assert served.process.wait(LIMIT_S) == 130


@alone
def test_it_ends_when_both_its_pipes_are_broken(served: Served) -> None:
    assert served.process.stdin is not None
    assert served.process.stdout is not None
    served.process.stdout.close()
    served.process.stdin.close()
    assert served.process.wait(LIMIT_S) == 130


@pytest.mark.parametrize("served", [(NO_SIGNAL, True), (NO_POLL, True)], ids=["poll", "signal"], indirect=True)
def test_it_ends_when_its_parent_is_killed_though_its_pipes_stay_open(served: Served) -> None:
    served.process.send_signal(signal.SIGKILL)
    wait_for_end(served.dashboard)


@pytest.mark.parametrize("served", [(DEAF, False)], ids=["deaf"], indirect=True)
def test_it_is_killed_if_it_cannot_leave(served: Served) -> None:
    assert served.process.stdin is not None
    served.process.stdin.close()
    assert served.process.wait(LIMIT_S) == -signal.SIGKILL
