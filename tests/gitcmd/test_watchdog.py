"""What we started ends when we are killed, and at no other time."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from gitdash.gitcmd import groups
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import WATCHDOG, run_git
from gitdash.gitcmd.watchdog import COMMAND, Watchdog

PROJECT = Path(__file__).resolve().parents[2]


TELL_WHEN_TOLD = """
        from gitdash.gitcmd.runner import WATCHDOG
        while not WATCHDOG._live:
            time.sleep(0.001)
        with WATCHDOG._lock:
            print(flush=True)
        time.sleep(300)
"""
"""The moment between the start of a process and this is the one that stays open."""


def told(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"


def wait_for(condition: Callable[[], bool], what: str, time_limit_s: float = 10.0) -> None:
    deadline_s = time.monotonic() + time_limit_s
    while not condition():
        assert time.monotonic() < deadline_s, f"{what} did not happen"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def pid_in(path: Path) -> int:
    wait_for(lambda: path.exists() and path.read_text().endswith("\n"), f"{path.name} is written")
    return int(path.read_text())


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Start a Python that uses the runner."""
    started: list[subprocess.Popen[bytes]] = []

    def start(body: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {"PYTHONPATH": f"{PROJECT}:{tmp_path}"}
        started.append(
            subprocess.Popen([sys.executable, "-c", textwrap.dedent(body)], env=environment, stdout=subprocess.PIPE)
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def fake_git(folder: Path, body: str) -> str:
    path = folder / "fake-git"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return f"GitProgram(path={os.fspath(path)!r}, version=(2, 39, 5), version_text='')"


@pytest.mark.parametrize(
    "body",
    ["echo $$ > PID; exec sleep 300", "trap '' TERM; (sleep 300; :) & echo $! > PID; exec sleep 300"],
    ids=["git itself", "a helper, deaf to SIGTERM"],
)
def test_git_ends_when_we_are_killed(parent: Callable, tmp_path: Path, body: str) -> None:
    program = fake_git(tmp_path, body.replace("PID", os.fspath(tmp_path / "pid")))
    ours = parent(f"""
        import threading, time
        from gitdash.gitcmd.git_program import GitProgram
        from gitdash.gitcmd.runner import run_git
        call = lambda: run_git({program}, ["rev-list"], time_limit_s=300)
        threading.Thread(target=call, daemon=True).start()
        {TELL_WHEN_TOLD}
    """)
    told(ours)
    git = pid_in(tmp_path / "pid")
    watchdogs = [child.pid for child in psutil.Process(ours.pid).children() if os.getsid(child.pid) == child.pid]
    ours.send_signal(signal.SIGKILL)
    ours.wait()
    wait_for(lambda: not is_alive(git), "the end of git")
    wait_for(lambda: not any(map(is_alive, watchdogs)), "the end of the watchdog")


def test_a_worker_that_is_stuck_in_reading_ends_when_we_are_killed(parent: Callable, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "stuck.py").write_text(
        f"import os; open({os.fspath(tmp_path / 'pid')!r}, 'w').write(f'{{os.getpid()}}\\n'); "
        f"open({os.fspath(tmp_path / 'fifo')!r})"
    )
    ours = parent(f"""
        import time
        from gitdash.gitcmd.workers import start_worker
        worker = start_worker("stuck")
        {TELL_WHEN_TOLD}
    """)
    told(ours)
    worker = pid_in(tmp_path / "pid")
    ours.send_signal(signal.SIGKILL)
    ours.wait()
    wait_for(lambda: not is_alive(worker), "the end of the worker")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "300"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def start_shell(started: list[subprocess.Popen[bytes]]) -> Callable[[], int]:
    def start() -> int:
        process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        started.append(process)
        assert process.stdin is not None
        return os.dup(process.stdin.fileno())

    return start


def ended_by(watchdog: Watchdog, started: list[subprocess.Popen[bytes]], leader: subprocess.Popen[bytes]) -> int:
    """Do what our end does, which is to close the pipe, and return how the leader of a group ended."""
    assert watchdog._pipe is not None
    os.close(watchdog._pipe)
    for process in started:
        assert process.stdin is not None
        process.stdin.close()
    exit_code = leader.wait(5)
    for process in started:
        process.wait(10)
    return exit_code


def test_a_group_that_has_ended_is_left_alone_and_the_others_are_not(sleeper: subprocess.Popen[bytes]) -> None:
    other = subprocess.Popen(["sleep", "300"], start_new_session=True)
    started: list[subprocess.Popen[bytes]] = []
    watchdog = Watchdog(start_shell(started))
    for group in (other.pid, sleeper.pid, 999_999_999):
        watchdog.add(group)
    watchdog.remove(sleeper.pid)
    watchdog.remove(999_999_999)
    watchdog.remove(12345)
    assert ended_by(watchdog, started, other) == -signal.SIGTERM
    assert sleeper.poll() is None


def test_a_watchdog_that_was_ended_is_replaced_by_one_that_knows_all(sleeper: subprocess.Popen[bytes]) -> None:
    started: list[subprocess.Popen[bytes]] = []
    watchdog = Watchdog(start_shell(started))
    watchdog.add(sleeper.pid)
    started[0].kill()
    started[0].wait()
    # the reading end is gone now
    started[0].stdin.close()  # type: ignore[union-attr]
    started.pop()
    watchdog.add(999_999_999)
    assert ended_by(watchdog, started, sleeper) == -signal.SIGTERM


def test_without_a_shell_everything_else_works(sleeper: subprocess.Popen[bytes]) -> None:
    def start() -> int:
        raise FileNotFoundError

    watchdog = Watchdog(start)
    watchdog.add(sleeper.pid)
    watchdog.remove(sleeper.pid)


def test_all_calls_share_one_watchdog(tmp_path: Path) -> None:
    path = tmp_path / "git"
    path.write_text("#!/bin/sh\n:\n")
    path.chmod(0o755)
    program = GitProgram(path=os.fspath(path), version=(2, 39, 5), version_text="")
    run_git(program, ["x"], time_limit_s=10)
    before = [child.pid for child in psutil.Process().children()]
    for _ in range(5):
        run_git(program, ["x"], time_limit_s=10)
    assert [child.pid for child in psutil.Process().children()] == before
    assert WATCHDOG._live == {group.pid for group in groups._all()}
