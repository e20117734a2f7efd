"""The thread that reads keys ends with the terminal and with the program, whatever has become of the dashboard."""

import os
import pty
import sys
from pathlib import Path

import pytest

from gitdash.tui.terminal import _End
from tests.support.pty_session import PtySession

PROJECT = os.fspath(Path(__file__).parents[2])
THREAD = """
import threading, time
from gitdash.tui.terminal import _End
end = _End(0)
print("reading", flush=True)
threading.Thread(target=lambda: [time.sleep(0.01) for _ in iter(end.is_set, True)]).start()
"""

pytestmark = pytest.mark.safety


def test_end_comes_when_it_is_said_or_when_the_terminal_is_closed() -> None:
    terminal, descriptor = pty.openpty()
    try:
        end = _End(descriptor)
        assert not end.is_set()
        end.set()
        assert end.is_set()
        end.clear()
        assert not end.is_set()
        os.close(terminal)
        assert end.is_set()
    finally:
        os.close(descriptor)


def test_thread_does_not_outlive_a_program_that_ends_out_of_order() -> None:
    with PtySession([sys.executable, "-c", THREAD], folder=PROJECT) as session:
        session.wait_for_text("reading")
        assert session.wait_for_exit() == 0


def test_what_is_written_after_the_end_is_dropped() -> None:
    script = """
import sys
from gitdash.tui.terminal import drawn_on_a_terminal
with drawn_on_a_terminal():
    terminal = sys.__stderr__
print("wrote", terminal.write("four"), terminal.flush())
"""
    with PtySession([sys.executable, "-c", script], folder=PROJECT) as session:
        session.wait_for_text("wrote 4 None")
        assert session.wait_for_exit() == 0
