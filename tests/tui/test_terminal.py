"""The dashboard in a real pseudo-terminal: what reaches it, how fast, and how the dashboard leaves it."""

import os
import re
import signal
import statistics
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.support.memory import peak_bytes
from tests.support.pty_session import LIMIT_S, PtySession, controls_in
from tests.support.terminal_screen import screen_lines
from tests.tui.fixture_fleet import HOSTILE_NAMES

PROJECT = os.fspath(Path(__file__).parents[2])
MEMORY_LIMIT_BYTES = 150_000_000
KEY_TO_PAINT_LIMIT_S = 0.016
SLACK = 4
"""The limit is for a quiet machine; a test runs on a busy one."""
QUIET_S = 0.3
"""A screen is painted when nothing more has come for this long: escape waits for that, to see what itself does."""
BACK = (b"\x1b", "quit")
"""A key, and what is written once it has acted: escape and a key right after it would be one key with alt."""
SEARCHED = (b"strange/", "go to strange/")
"""The palette paints what it finds piece by piece, and marks the letters that were typed."""
VISITED = (
    (b"O", "▲"),
    (b"d", "▌"),
    (b"d", "▌"),
    *[(b"z", f"by {group}") for group in ("root", "pool", "state", "findings")],
    (b"G", "▌"),
    (b"/cleared", "1/27"),
    (b"\r", "group"),
    (b"\r", "do they differ"),
    (b"2", "No findings"),
    (b"3", "in their indexes"),
    (b"4", "It reads no objects"),
    (b"5", "packed-refs"),
    (b"6", "takes an object id"),
    (b"7", "could run a program"),
    (b"8", "No git command has run"),
    BACK,
    (b"\x1b", "lost.git"),
    (b"p", "Lenders and their members"),
    BACK,
    (b"J", "Jobs"),
    BACK,
    (b"c", "Columns"),
    BACK,
    (b"V", "Views"),
    BACK,
    (b"\x10", "Search"),
    SEARCHED,
    BACK,
    (b"?", "Help"),
    BACK,
    (b"/strange", f"{len(HOSTILE_NAMES)}/27"),
    (b"\r", "group"),
    (b"g", "▌"),
    *[(b"j", "▌")] * len(HOSTILE_NAMES),
)


def _dashboard(rows: int, updates_per_s: int, *, columns: int = 120, lines: int = 40) -> PtySession:
    argv = [sys.executable, "-m", "tests.support.moving_fleet", str(rows), str(updates_per_s)]
    return PtySession(argv, columns=columns, lines=lines, folder=PROJECT)


def _wait_until_it_stands(session: PtySession, text: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not any(text in line for line in screen_lines(bytes(session.output), columns=200, lines=60)):
        assert time.monotonic() < deadline_s
        while session.read_available(QUIET_S):
            pass


@pytest.mark.safety
def test_no_part_of_a_name_reaches_the_terminal_as_a_control() -> None:
    with _dashboard(0, 0, columns=200, lines=60) as session:
        session.wait_for_text("quit")
        for keys, text in VISITED:
            while keys == b"\x1b" and session.read_available(QUIET_S):
                pass
            if (keys, text) == SEARCHED:
                session.send(keys)
                _wait_until_it_stands(session, text)
            else:
                session.key_to_paint(keys, text)
        session.send(b"q")
        assert session.wait_for_exit() == 0
    assert controls_in(bytes(session.output)) == set()
    assert b"\x1b[2Jcleared" not in session.output
    assert rb"\x1b[2Jcleared" in session.output
    assert rb"\u202efdp.tig" in session.output


@pytest.mark.parametrize(
    "smuggled",
    [
        b"\x1b]52;c;cHduZWQ=\x07",
        b"\x1b]0;title\x07",
        b"\x1bc",
        "\x9b31m".encode(),
        "\u202e".encode(),
        b"\x00",
        b"\xe9",
        b"\x08",
    ],
)
def test_what_a_terminal_acts_on_is_told_from_drawing(smuggled: bytes) -> None:
    drawing = b"\x1b[?1049h\x1b[38;2;1;2;3mtext\x1b[0m\x1b(B\r\n" + "日本▌".encode()
    assert controls_in(drawing) == set()
    assert controls_in(drawing + smuggled) != set()


@pytest.mark.slow
def test_key_is_painted_within_a_frame_while_200_rows_a_second_change() -> None:
    with _dashboard(10_000, 200, columns=160, lines=50) as session:
        session.wait_for_text("quit")
        session.wait_for_text("inspecting")
        times_s = [session.key_to_paint(b"j", "▌") for _ in range(40)]
        assert statistics.median(times_s) <= KEY_TO_PAINT_LIMIT_S * SLACK
        assert peak_bytes(session.pid) <= MEMORY_LIMIT_BYTES
        session.send(b"q")
        assert session.wait_for_exit(limit_s=5) == 0


def test_keys_of_one_burst_reach_the_filter_that_the_first_of_them_opens() -> None:
    with _dashboard(0, 0) as session:
        session.wait_for_text("quit")
        start = len(session.output)
        session.send(b"/dq team\r")
        session.wait_for_text("No repository contains all of these words", start=start)
        start = len(session.output)
        session.send(b"\x1b")
        session.wait_for_text("infra/", start=start)
        session.send(b"/team cri\r")
        session.wait_for_text("1/27", start=start)
        session.send(b"q")
        assert session.wait_for_exit() == 0


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda session: session.send(b"q"), 0),
        (lambda session: session.send(b"\x11"), 0),
        (lambda session: session.send(b"\x03"), 130),
    ],
    ids=["q", "ctrl+q", "ctrl+c"],
)
def test_terminal_is_given_back_as_it_was(end, code: int) -> None:
    with _dashboard(0, 0) as session:
        session.wait_for_text("quit")
        end(session)
        assert session.wait_for_exit(limit_s=10) == code
    assert b"\x1b[?1049h" in session.output
    assert session.output.rindex(b"\x1b[?1049l") > session.output.rindex(b"\x1b[?1049h")
    assert session.output.rindex(b"\x1b[?25h") > session.output.rindex(b"\x1b[?25l")


def test_resizing_the_terminal_draws_anew() -> None:
    with _dashboard(0, 0) as session:
        session.wait_for_text("quit")
        start = len(session.output)
        session.resize(50, 12)
        os.kill(session.pid, signal.SIGWINCH)
        session.wait_for_text("gitdash needs", start=start)
        start = len(session.output)
        session.resize(80, 24)
        os.kill(session.pid, signal.SIGWINCH)
        session.wait_for_text("infra/", start=start)


@pytest.mark.parametrize("opened", [b"", b"?"])
def test_suspended_dashboard_leaves_the_screen_and_comes_back_painted(opened: bytes) -> None:
    with _dashboard(100, 0) as session:
        session.wait_for_text("quit")
        process = psutil.Process(session.pid)
        session.send(opened)
        session.send(b"\x1a")
        session.wait_for(lambda output: b"\x1b[?1049l" in output)
        while process.status() != psutil.STATUS_STOPPED:
            session.read_available(0.01)
        suspended = len(session.output)
        os.kill(session.pid, signal.SIGCONT)
        session.wait_for_text("repositories", start=suspended)
        assert b"\x1b[?1049h" in session.output[suspended:]
        session.send(b"\x11")
        assert session.wait_for_exit() == 0


@pytest.mark.parametrize("stop", [signal.SIGSTOP, signal.SIGTSTP])
def test_dashboard_that_was_stopped_from_elsewhere_comes_back_painted_and_hears_each_key(stop: signal.Signals) -> None:
    with _dashboard(100, 0) as session:
        session.wait_for_text("quit")
        process = psutil.Process(session.pid)
        for reversed_mark in ("▲", "▼", "▲"):
            while session.read_available(QUIET_S):
                pass
            os.kill(session.pid, stop)
            while process.status() != psutil.STATUS_STOPPED:
                session.read_available(0.01)
            stopped = len(session.output)
            os.kill(session.pid, signal.SIGCONT)
            session.wait_for_text("\x1b[?1049h", start=stopped)
            session.wait_for_text("repositories", start=stopped)
            session.key_to_paint(b"O", reversed_mark)
        session.send(b"q")
        assert session.wait_for_exit() == 0


_CHANGES_WHILE_ITS_SIZE_IS_READ = """
import fcntl, struct, sys, termios
from textual.app import App
from gitdash.tui.terminal import TerminalDriver

class Driver(TerminalDriver):
    def _get_terminal_size(self):
        size = super()._get_terminal_size()
        if size == (90, 30):
            fcntl.ioctl(sys.__stdin__, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 70, 0, 0))
        return size

class Sized(App):
    def on_resize(self, event):
        sys.__stdout__.write(f"<{event.size.width}>")
        sys.__stdout__.flush()

Sized(driver_class=Driver).run()
"""


def test_size_that_changes_while_it_is_read_is_the_one_that_stays() -> None:
    argv = [sys.executable, "-c", _CHANGES_WHILE_ITS_SIZE_IS_READ]
    with PtySession(argv, columns=80, lines=24, folder=PROJECT) as session:
        session.wait_for_text("<80>")
        session.resize(90, 30)
        session.wait_for_text("<70>")
        while session.read_available(QUIET_S):
            pass
        assert re.findall(rb"<(\d+)>", session.output)[-1] == b"70"
        session.send(b"\x11")
        assert session.wait_for_exit() == 0
