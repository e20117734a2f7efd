import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gitdash.gitcmd import groups
from gitdash.gitcmd.environment import CONFIG_OVERRIDES, VARIABLES
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.runner import run_git, stop_everything
from gitdash.gitcmd.workers import start_worker
from tests.support.repositories import GIT, GitRepository, git_version

Script = Callable[[str], GitProgram]


@pytest.fixture(scope="module")
def program() -> GitProgram:
    return find_git(GIT)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Make a program that stands in for git: a shell script with the overrides shifted away."""

    def make(body: str) -> GitProgram:
        path = tmp_path / "fake-git"
        shift = 2 * len(CONFIG_OVERRIDES)
        path.write_text(f"#!/bin/sh\nshift {shift}\n{textwrap.dedent(body)}\n")
        path.chmod(0o755)
        return GitProgram(path=os.fspath(path), version=(2, 39, 5), version_text="2.39.5")

    return make


def wait_for(condition: Callable[[], bool], what: str, time_limit_s: float = 10.0) -> None:
    deadline_s = time.monotonic() + time_limit_s
    while not condition():
        assert time.monotonic() < deadline_s, f"{what} did not happen"
        time.sleep(0.005)


def pid_in(path: Path) -> int:
    wait_for(lambda: path.exists() and path.read_text().endswith("\n"), f"{path.name} is written")
    return int(path.read_text())


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Background(threading.Thread):
    """Runs a call that is expected to fail, and keeps its error."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.call = call
        self.error: GitError | None = None
        self.start()

    def run(self) -> None:
        try:
            self.call()
        except GitError as error:
            self.error = error

    def failure(self) -> GitError:
        self.join(10)
        assert self.error is not None
        return self.error


# What a call gets


def test_the_environment_is_the_table_and_the_path_and_what_the_call_adds(script: Script) -> None:
    output = run_git(script("env"), ["x"], environment={"GIT_INDEX_FILE": "/i"}, time_limit_s=10)
    seen = dict(line.split("=", 1) for line in output.stdout.decode().splitlines())
    allowed = {variable.name for variable in VARIABLES} | {"PATH", "GIT_INDEX_FILE", "PWD", "OLDPWD", "SHLVL", "_"}
    assert set(seen) <= allowed
    assert seen["PWD"] == "/"
    assert seen["GIT_INDEX_FILE"] == "/i"


@pytest.mark.oracle
@pytest.mark.parametrize(
    "hostile",
    [
        {"GIT_DIR": "OTHER"},
        {"GIT_OBJECT_DIRECTORY": "OTHER/objects"},
        {"GIT_ALTERNATE_OBJECT_DIRECTORIES": "OTHER/objects"},
        {"GIT_COMMON_DIR": "OTHER"},
        {"GIT_NAMESPACE": "other"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "maybe"},
        {"GIT_CONFIG_PARAMETERS": "'core.bare'='maybe'"},
        {"GIT_CONFIG": "/dev/zero"},
        {"GIT_TRACE": "2"},
        {"GIT_TRACE2": "2"},
        {"GIT_SHALLOW_FILE": "OTHER/HEAD"},
        {"GIT_EXEC_PATH": "/nonexistent"},
        {"SUDO_UID": "12345"},
    ],
    ids=lambda hostile: next(iter(hostile)),
)
def test_an_inherited_variable_changes_nothing(
    tmp_path: Path, program: GitProgram, monkeypatch: pytest.MonkeyPatch, hostile: dict[str, str]
) -> None:
    mine = GitRepository.init(tmp_path / "mine.git")
    tip = mine.commit({"a": b"1"})
    other = GitRepository.init(tmp_path / "other.git")
    other.commit({"b": b"2" * 1000})
    for name, value in hostile.items():
        monkeypatch.setenv(name, value.replace("OTHER", os.fspath(other.path)))
    git_dir = os.fsencode(mine.path)
    output = run_git(program, ["for-each-ref", "--format=%(objectname)"], git_dir=git_dir, time_limit_s=10)
    assert (output.stdout.decode().strip(), output.stderr) == (tip, "")
    expected = mine.git("cat-file", "--batch-all-objects", "--batch-check")
    seen = run_git(program, ["cat-file", "--batch-all-objects", "--batch-check"], git_dir=git_dir, time_limit_s=10)
    assert seen.stdout.decode().strip() == expected


def test_added_pairs_beat_the_table_and_the_git_dir_comes_last(script: Script) -> None:
    fake = script('printf "%s\\n" "$@"')
    output = run_git(fake, ["log", b"\xff"], git_dir=b"/r\n", config=[("core.commitGraph", "false")], time_limit_s=10)
    assert output.stdout == b"-c\ncore.commitGraph=false\n--git-dir=/r\n\nlog\n\xff\n"
    assert output.argv == ("git", "-c", "core.commitGraph=false", "--git-dir=/r\n", "log", "\udcff")


def test_a_call_that_names_no_repository_finds_none(
    tmp_path: Path, program: GitProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    GitRepository.init(tmp_path / "r", bare=False)
    monkeypatch.chdir(tmp_path / "r")
    with pytest.raises(GitError, match="not a git repository"):
        run_git(program, ["rev-parse", "--git-dir"], time_limit_s=10)


def test_stdin_is_given_and_ended(script: Script) -> None:
    data = os.urandom(1_000_000)
    assert run_git(script("cat"), ["x"], stdin=data, time_limit_s=20).stdout == data
    assert run_git(script("cat"), ["x"], time_limit_s=20).stdout == b""


def test_a_child_that_does_not_read_its_stdin_is_no_error(script: Script) -> None:
    assert run_git(script("exec true"), ["x"], stdin=b"x" * 1_000_000, time_limit_s=20).exit_code == 0


def test_the_child_has_a_session_of_its_own_and_no_terminal(script: Script) -> None:
    session = int(run_git(script("ps -o sid= -p $$"), ["x"], time_limit_s=10).stdout)
    assert session != os.getsid(0)


def test_our_file_descriptors_are_not_handed_on(script: Script, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        listing = run_git(script("ls -l /proc/self/fd"), ["x"], time_limit_s=10).stdout
    assert os.fsencode(tmp_path / "open") not in listing


# How a call fails


def test_a_failed_command_is_an_error_with_its_parts(program: GitProgram, tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with pytest.raises(GitError) as caught:
        run_git(program, ["rev-parse", "--verify", "nope"], git_dir=os.fsencode(repository.path), time_limit_s=10)
    error = caught.value
    assert str(error) == "git rev-parse failed: Needed a single revision (exit code 128)"
    assert (error.kind, error.exit_code, error.stderr) == (
        GitFailure.FAILED,
        128,
        "fatal: Needed a single revision\n",
    )
    assert error.argv[2:] == ("rev-parse", "--verify", "nope")


def test_without_check_an_exit_code_is_an_answer(program: GitProgram, tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    arguments = ["rev-parse", "--verify", "--quiet", "nope"]
    output = run_git(program, arguments, git_dir=os.fsencode(repository.path), time_limit_s=10, check=False)
    assert output.exit_code == 1


def test_death_by_a_signal_is_said(script: Script) -> None:
    with pytest.raises(GitError, match=r"^git log failed with signal 11$"):
        run_git(script("kill -SEGV $$"), ["log"], time_limit_s=10)


@pytest.mark.parametrize(("code", "said"), [(143, "signal 15"), (129, "exit code 129"), (255, "exit code 255")])
def test_exit_code_that_a_shell_makes_of_a_signal_is_said_as_one(script: Script, code: int, said: str) -> None:
    with pytest.raises(GitError, match=rf"^git log failed with {said}$"):
        run_git(script(f"exit {code}"), ["log"], time_limit_s=10)


def test_what_cannot_be_started_is_told_from_what_is_refused(program: GitProgram) -> None:
    for arguments in (["log", "nul\0"], ["x" * 200_000]):
        with pytest.raises(GitError, match="could not be started") as caught:
            run_git(program, arguments, time_limit_s=10)
        assert caught.value.kind is GitFailure.NOT_STARTED


def test_credentials_are_masked_in_all_that_is_kept(script: Script) -> None:
    fake = script("echo 'fatal: https://u:CANARY@h/ glpat-CANARY12' >&2; exit 1")
    with pytest.raises(GitError) as caught:
        run_git(
            fake,
            ["fetch", "https://u:CANARY@h/"],
            config=[("http.extraHeader", "Authorization: CANARY")],
            time_limit_s=9,
        )
    assert "CANARY" not in f"{caught.value} {caught.value.argv} {caught.value.stderr}"
    assert caught.value.argv[-1] == "https://***@h/"


# Bounds


def test_stderr_counts_although_the_exit_code_is_zero(script: Script) -> None:
    assert run_git(script("echo 'error: lies' >&2"), ["x"], time_limit_s=10).stderr == "error: lies\n"


def test_twenty_thousand_lines_on_stderr_stay_small(script: Script) -> None:
    output = run_git(script("seq -f 'error: alternate %.0f' 20000 >&2"), ["x"], time_limit_s=20)
    assert len(output.stderr) < 40_000
    assert output.stderr.startswith("error: alternate 1\n")
    assert output.stderr.endswith("error: alternate 20000\n")


def test_stdout_over_the_limit_ends_the_call(script: Script) -> None:
    with pytest.raises(GitError, match="wrote more than 100000 bytes") as caught:
        run_git(script("yes"), ["x"], stdout_limit_bytes=100_000, time_limit_s=60)
    assert caught.value.kind is GitFailure.FAILED


def test_stdout_at_the_limit_is_an_answer(script: Script) -> None:
    output = run_git(script("head -c 100000 /dev/zero"), ["x"], stdout_limit_bytes=100_000, time_limit_s=60)
    assert len(output.stdout) == 100_000


def test_memory_of_a_child_is_limited(script: Script) -> None:
    fake = script(f"exec {sys.executable} -c 'x = bytearray(300 * 1024 * 1024)'")
    assert run_git(fake, ["x"], time_limit_s=20).exit_code == 0
    with pytest.raises(GitError) as caught:
        run_git(replace(fake, memory_limit_bytes=128 * 1024**2), ["x"], time_limit_s=20)
    assert caught.value.kind is GitFailure.FAILED
    assert "MemoryError" in caught.value.stderr


def test_a_lower_memory_limit_in_force_stays(script: Script) -> None:
    fake = script("ulimit -d")
    limited = replace(fake, memory_limit_bytes=64 * 1024**2)
    assert run_git(limited, ["x"], time_limit_s=10).stdout == b"65536\n"
    code = (
        "from gitdash.gitcmd.runner import *; import sys;"
        "fake = GitProgram(path=sys.argv[1], version=(2, 39), version_text='', memory_limit_bytes=2**31);"
        "print(run_git(fake, ['x'], time_limit_s=10))"
    )
    command = f'ulimit -d 1000000; exec {sys.executable} -c "{code}" {fake.path}'
    output = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert "stdout=b'1000000\\n', stderr=''" in output.stdout


def test_the_time_limit_covers_the_whole_call_although_output_flows(script: Script) -> None:
    started_s = time.monotonic()
    with pytest.raises(GitError, match=r"^git x did not end within 300 ms$") as caught:
        run_git(script("while :; do echo x; sleep 0.01; done"), ["x"], time_limit_s=0.3)
    assert caught.value.kind is GitFailure.TIMED_OUT
    # output that flows would keep it for ever
    assert time.monotonic() - started_s < 20


def test_after_the_time_limit_git_may_clean_up(script: Script, tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    fake = script(f"trap 'rm {lock}; exit 1' TERM; touch {lock}; while :; do sleep 0.01; done")
    with pytest.raises(GitError):
        run_git(fake, ["x"], time_limit_s=0.5)
    assert not lock.exists()


def test_who_ignores_sigterm_is_killed_after_the_grace_with_all_of_its_group(script: Script, tmp_path: Path) -> None:
    fake = script(f"trap '' TERM; sleep 1000 & echo $! >{tmp_path}/pid; while :; do sleep 1; done")
    started_s = time.monotonic()
    with pytest.raises(GitError) as caught:
        run_git(fake, ["x"], time_limit_s=0.5, grace_s=0.3)
    assert caught.value.exit_code == -signal.SIGKILL
    assert time.monotonic() - started_s < 20
    pid = pid_in(tmp_path / "pid")
    wait_for(lambda: not is_alive(pid), "the end of the grandchild")


def test_a_cancel_is_noticed_soon_and_before_the_start(script: Script, tmp_path: Path) -> None:
    cancel = threading.Event()
    fake = script(f"echo $$ >{tmp_path}/pid; exec sleep 1000")
    background = Background(lambda: run_git(fake, ["x"], time_limit_s=100, cancel=cancel))
    pid = pid_in(tmp_path / "pid")
    started_s = time.monotonic()
    cancel.set()
    assert background.failure().kind is GitFailure.CANCELLED
    # git would go on for 100 s
    assert time.monotonic() - started_s < 5
    assert not is_alive(pid)
    (tmp_path / "pid").unlink()
    with pytest.raises(GitError, match="was cancelled"):
        run_git(fake, ["x"], time_limit_s=100, cancel=cancel)
    assert not (tmp_path / "pid").exists()


@pytest.mark.parametrize("body", ["setsid sleep 1000 & echo $! >PID; echo said", "setsid yes & echo $! >PID"])
def test_an_escaped_grandchild_that_holds_the_pipes_is_not_waited_for(
    script: Script, tmp_path: Path, body: str
) -> None:
    started_s = time.monotonic()
    output = run_git(script(body.replace("PID", f"{tmp_path}/pid")), ["x"], time_limit_s=60)
    assert time.monotonic() - started_s < 5
    assert len(output.stdout) < 10_000_000
    os.kill(pid_in(tmp_path / "pid"), signal.SIGKILL)


def test_pipes_that_are_closed_early_do_not_end_the_call(script: Script) -> None:
    output = run_git(script("exec >&- 2>&-; sleep 0.2; exit 7"), ["x"], time_limit_s=30, check=False)
    assert output.exit_code == 7
    assert output.elapsed_s >= 0.2


@pytest.mark.parametrize("without", [False, True])
def test_calls_leave_no_descriptor_and_no_process(
    script: Script, monkeypatch: pytest.MonkeyPatch, without: bool
) -> None:
    if without:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    fake = script("cat; exit 3")
    # from the first call on there is the watchdog, with its pipe
    run_git(fake, ["x"], time_limit_s=10, check=False)
    processes = {child.pid for child in psutil.Process().children()}
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        assert run_git(fake, ["x"], stdin=b"abc", time_limit_s=10, check=False).stdout == b"abc"
        with pytest.raises(GitError):
            run_git(fake, ["x"], time_limit_s=0)
    assert len(os.listdir("/proc/self/fd")) == before
    assert {child.pid for child in psutil.Process().children()} <= processes


def test_many_threads_run_git_at_once(script: Script) -> None:
    fake = script('head -c 200000 /dev/zero; printf "%s" "$1"')
    results: dict[str, bytes] = {}

    def call(name: str) -> None:
        results[name] = run_git(fake, [name], time_limit_s=60).stdout[200_000:]

    threads = [threading.Thread(target=call, args=(f"n{number}",)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {f"n{number}": f"n{number}".encode() for number in range(24)}


# Ending everything


def test_stop_everything_ends_all_within_a_second_again_and_again(script: Script, tmp_path: Path) -> None:
    fake = script(f"trap '' TERM; sleep 1000 & echo $! >{tmp_path}/$1; while :; do sleep 1; done")
    calls = [Background(lambda n=n: run_git(fake, [f"p{n}"], time_limit_s=100)) for n in range(4)]
    pids = [pid_in(tmp_path / f"p{number}") for number in range(4)]
    worker = start_worker("http.server")
    started_s = time.monotonic()
    stop_everything()
    stop_everything()
    elapsed_s = time.monotonic() - started_s
    worker_has_ended = not is_alive(worker.pid)
    worker.stop()
    assert elapsed_s < 1.0
    assert worker_has_ended
    wait_for(lambda: not any(is_alive(pid) for pid in pids), "the end of the grandchildren")
    assert [call.failure().kind for call in calls] == [GitFailure.CANCELLED] * 4
    assert run_git(script("echo fine"), ["x"], time_limit_s=10).stdout == b"fine\n"


def test_stop_everything_may_interrupt_itself() -> None:
    with groups._lock:
        started_s = time.monotonic()
        stop_everything()
    assert time.monotonic() - started_s < 1


def test_a_number_is_not_signalled_after_its_process_is_reaped(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    signalled: list[int] = []
    run_git(script(":"), ["x"], time_limit_s=10)
    monkeypatch.setattr(os, "killpg", lambda pid, number: signalled.append(pid))
    stop_everything()
    assert signalled == []


# Workers


@pytest.fixture
def echo_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "echo_worker.py").write_text(
        textwrap.dedent("""
        import os, sys
        for line in sys.stdin.buffer:
            name = line.strip().decode()
            sys.stdout.buffer.write(repr([os.environ.get(name), os.getcwd(), sys.path]).encode() + b"\\n")
            sys.stdout.buffer.flush()
        """)
    )
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path))
    return "echo_worker"


def test_a_worker_answers_and_ends_when_its_stdin_ends(echo_module: str) -> None:
    worker = start_worker(echo_module)
    worker.stdin.write(b"PATH\n")
    worker.stdin.flush()
    assert worker.stdout.readline().startswith(repr([os.environ["PATH"], "/"])[:-1].encode())
    worker.stdin.close()
    assert worker.stdout.read() == b""
    worker.stop()
    assert not is_alive(worker.pid)


def test_a_worker_imports_nothing_from_the_current_folder_and_sees_no_variable_of_git(
    tmp_path: Path, echo_module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "echo_worker.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("PYTHONPATH", f":.:{tmp_path}")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    worker = start_worker(echo_module)
    worker.stdin.write(b"GIT_DIR\n")
    worker.stdin.flush()
    reply = worker.stdout.readline().decode()
    worker.stop()
    assert reply.startswith("[None, '/', [")
    assert os.fspath(hostile) not in reply


def test_stopping_a_worker_wakes_who_reads_from_it(echo_module: str) -> None:
    worker = start_worker(echo_module)
    replies: list[bytes] = []
    reader = threading.Thread(target=lambda: replies.append(worker.stdout.readline()))
    reader.start()
    worker.stop()
    worker.stop()
    reader.join(5)
    assert replies == [b""]


def test_a_worker_that_is_stuck_with_a_full_pipe_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stuck_worker.py").write_text("import time, signal\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(999)")
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path))
    worker = start_worker("stuck_worker")
    writer = threading.Thread(target=lambda: fill(worker.stdin), daemon=True)
    writer.start()
    started_s = time.monotonic()
    worker.stop()
    writer.join(5)
    assert time.monotonic() - started_s < 3
    assert not writer.is_alive()
    assert not is_alive(worker.pid)


def fill(pipe: object) -> None:
    try:
        while True:
            pipe.write(b"x" * 65536)  # type: ignore[attr-defined]
    except (OSError, ValueError):
        return


# Finding git


def executable(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.mark.oracle
def test_git_is_found_with_its_version(program: GitProgram) -> None:
    assert program.version == git_version()
    assert os.path.isabs(program.path)


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("2.55.0.rc1", (2, 55, 0)),
        ("2.39.5 (Apple Git-154)", (2, 39, 5)),
        ("2.45.1.windows.1", (2, 45, 1)),
        ("2.56.GIT", (2, 56)),
        ("3.0.0", (3, 0, 0)),
    ],
)
def test_versions_of_all_vendors_are_read(tmp_path: Path, said: str, version: tuple[int, ...]) -> None:
    path = executable(tmp_path / "git", f"echo 'git version {said}'")
    assert find_git(os.fspath(path)) == GitProgram(path=os.fspath(path), version=version, version_text=said)


@pytest.mark.parametrize("said", ["2.38.9", "1.8", "2.7.10"])
def test_a_git_that_is_too_old_is_one_sentence(tmp_path: Path, said: str) -> None:
    path = executable(tmp_path / "git", f"echo 'git version {said}'")
    with pytest.raises(GitError) as caught:
        find_git(os.fspath(path))
    assert caught.value.kind is GitFailure.TOO_OLD
    assert str(caught.value) == f"git {said} at {str(path)!r} is too old: gitdash needs 2.39 or newer"


@pytest.mark.parametrize("body", ["echo hello", "exit 1", "echo 'git version x'", "kill -9 $$"])
def test_what_is_not_git_is_one_sentence(tmp_path: Path, body: str) -> None:
    path = executable(tmp_path / "git", body)
    with pytest.raises(GitError) as caught:
        find_git(os.fspath(path))
    assert caught.value.kind is GitFailure.MISSING
    assert "\n" not in str(caught.value)


def test_no_git_on_the_path_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("not executable")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(GitError, match=r"^no git on PATH: gitdash needs git 2\.39 or newer$") as caught:
        find_git()
    assert caught.value.kind is GitFailure.MISSING
    with pytest.raises(GitError, match=r"^no program '/nonexistent/git'"):
        find_git("/nonexistent/git")


@pytest.mark.safety
@pytest.mark.parametrize("path", [".", "", "bin", ":.:", "./bin"])
def test_a_git_in_the_current_folder_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    marker = tmp_path / "marker"
    for folder in (tmp_path, tmp_path / "bin"):
        executable(folder / "git", f"touch {marker}; echo git version 2.40.0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    with contextlib.suppress(GitError):
        assert not find_git().path.startswith(os.fspath(tmp_path))
    assert not marker.exists()
