"""How the dashboard leaves, and what it stands: git processes that run, a terminal that closes or changes its size."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gitdash.errors import ExitCode
from tests.support.processes import children_where, left_after
from tests.support.pty_session import LIMIT_S, PtySession
from tests.support.repositories import GIT, GitRepository
from tests.support.terminal_screen import screen_lines

PROJECT = os.fspath(Path(__file__).parents[2])
QUIT_LIMIT_S = 1.0
HANG_UP_LIMIT_S = 2.0
WATCHDOG_LIMIT_S = 10.0
PROCESS_COUNT = 4
FIRST_ROW = b"g"


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """A dashboard with four size queries at once over six repositories, each of which takes a minute."""
    fleet = tmp_path / "fleet"
    for number in range(6):
        repository = GitRepository.init(fleet / f"{number}.git")
        repository.commit({"file": f"content of {number}"})
    slow_git = tmp_path / "slow-git"
    # a child of its own, as git has for what it lets others do
    slow_git.write_text(f'#!/bin/sh\ncase "$*" in *rev-list*) sleep 60; exit 1;; esac\nexec {GIT} "$@"\n')
    slow_git.chmod(0o755)
    config = tmp_path / "config.toml"
    config.write_text(f"[size]\nworkers = {PROCESS_COUNT}\n")
    options = ["--no-state", "--config", os.fspath(config), "--git", os.fspath(slow_git)]
    return [sys.executable, "-m", "gitdash", *options, os.fspath(fleet)]


def _sleeping(pid: int) -> list[psutil.Process]:
    return children_where(lambda child: child.name() == "sleep", pid)


def _measuring(session: PtySession) -> list[psutil.Process]:
    """Wait until all queries run, and return every process below the dashboard."""
    session.wait_for_text("measuring")
    session.wait_for(lambda _: len(_sleeping(session.pid)) == PROCESS_COUNT)
    return psutil.Process(session.pid).children(recursive=True)


@pytest.mark.safety
@pytest.mark.parametrize(
    ("leave", "code"),
    [
        (lambda session: session.send(b"q"), ExitCode.DONE),
        (lambda session: session.send(b"\x03"), ExitCode.INTERRUPTED),
        (lambda session: os.kill(session.pid, signal.SIGTERM), ExitCode.INTERRUPTED),
    ],
    ids=["q", "ctrl+c", "SIGTERM"],
)
def test_leaving_takes_a_second_at_most_while_four_git_processes_run_and_leaves_none(
    command: list[str], leave: Callable[[PtySession], None], code: ExitCode
) -> None:
    with PtySession(command, folder=PROJECT) as session:
        children = _measuring(session)
        began_s = time.monotonic()
        leave(session)
        assert session.wait_for_exit(limit_s=10) == code
        elapsed_s = time.monotonic() - began_s
        assert left_after(children, QUIT_LIMIT_S) == []
    assert elapsed_s <= QUIT_LIMIT_S
    assert b"Traceback" not in session.output
    assert session.output.rindex(b"\x1b[?1049l") > session.output.rindex(b"\x1b[?1049h")


@pytest.mark.safety
@pytest.mark.parametrize("shell", ['exec "$@" 2>"$0"', 'exec "$@"', 'trap "" HUP; exec "$@" 2>"$0"'])
def test_terminal_that_closes_ends_the_dashboard_and_all_that_runs_for_it(
    command: list[str], tmp_path: Path, shell: str
) -> None:
    talk = tmp_path / "talk"
    talk.touch()
    with PtySession(["/bin/sh", "-c", shell, os.fspath(talk), *command], folder=PROJECT) as session:
        children = _measuring(session)
        began_s = time.monotonic()
        session.hang_up()
        assert session.wait_for_exit(limit_s=10) == ExitCode.INTERRUPTED
        elapsed_s = time.monotonic() - began_s
        assert left_after(children, HANG_UP_LIMIT_S) == []
    assert elapsed_s <= HANG_UP_LIMIT_S
    assert "Traceback" not in talk.read_text()


@pytest.mark.safety
def test_killed_dashboard_leaves_no_process(command: list[str]) -> None:
    with PtySession(command, folder=PROJECT) as session:
        children = _measuring(session)
        os.kill(session.pid, signal.SIGKILL)
        assert session.wait_for_exit() == -signal.SIGKILL
        assert left_after(children, WATCHDOG_LIMIT_S) == []


def _still(columns: int, lines: int) -> PtySession:
    argv = [sys.executable, "-m", "tests.support.moving_fleet", "0", "0"]
    return PtySession(argv, columns=columns, lines=lines, folder=PROJECT)


def _screen_when_quiet(session: PtySession, start: int, columns: int, lines: int) -> list[str]:
    """Return what stands on the screen once the whole of it is drawn and nothing more comes."""
    session.wait_for(lambda output: b"quit" in output and b"gitdash" in output, start=start)
    while session.read_available(0.3):
        pass
    return screen_lines(bytes(session.output), columns=columns, lines=lines)


def _screen_at_last(session: PtySession, expected: list[str], columns: int, lines: int) -> list[str]:
    """Return the expected screen, with the cursor on the first row, as soon as it stands; else what stands at last.

    Under load the notice that a smaller terminal got, which also says how to quit, may come a while before the rest.
    No key moves the cursor before that: it is sent again.
    """
    deadline_s = time.monotonic() + LIMIT_S
    screen = _screen_when_quiet(session, 0, columns, lines)
    while screen != expected and time.monotonic() < deadline_s:
        session.send(FIRST_ROW)
        screen = _screen_when_quiet(session, 0, columns, lines)
    return screen


def test_screen_is_right_after_a_storm_of_sizes(tmp_path: Path) -> None:
    with _still(100, 30) as session:
        session.wait_for_text("quit")
        # under load the first frame may be drawn before the terminal has its size
        deadline_s = time.monotonic() + LIMIT_S
        while "quit" not in (expected := _screen_when_quiet(session, 0, 100, 30))[-1]:
            assert time.monotonic() < deadline_s
    assert "gitdash" in expected[0]
    with _still(80, 24) as session:
        session.wait_for_text("quit")
        for columns, lines in [(200, 60), (50, 12), (80, 24), (50, 12), (200, 60), (80, 24)] * 5:
            session.resize(columns, lines)
            # one of the two may come while the terminal is too small for keys: then the cursor has moved at the end
            session.send(b"jk")
            session.read_available(0.01)
        session.resize(100, 30)
        assert _screen_at_last(session, expected, 100, 30) == expected
        session.send(b"q")
        assert session.wait_for_exit() == 0
