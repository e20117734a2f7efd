"""Measured calls: their peak of memory against GNU time's, and that nothing else about a call is different."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gitdash.gitcmd import adoption
from gitdash.gitcmd.environment import git_environment
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitOutput, GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.runner import run_git
from tests.support.lab_requests import import_objects
from tests.support.repositories import GitRepository

MEGABYTE = 1024**2
TIME = shutil.which("time")
needs_time = pytest.mark.skipif(TIME is None, reason="GNU time is not installed")


@pytest.fixture
def measured() -> GitProgram:
    return replace(find_git(), is_measured=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    repository = GitRepository.init(tmp_path_factory.mktemp("repository") / "a.git")
    import_objects(repository, 1000)
    repository.git("repack", "-adbq")
    return repository


def script(tmp_path: Path, code: str) -> GitProgram:
    """Return a git that runs Python code."""
    path = tmp_path / "git"
    path.write_text(f"#!{sys.executable} -IS\n{code}\n")
    path.chmod(0o755)
    return GitProgram(
        path=os.fspath(path), version=(2, 39), version_text="", memory_limit_bytes=2**32, is_measured=True
    )


def peak_by_time(output: GitOutput, stdin: bytes, tmp_path: Path) -> int:
    """Run the same command by GNU time, which is small itself, and return the peak that it says."""
    said = tmp_path / "peak"
    environment = git_environment(os.environ) | dict(output.variables)
    command = [str(TIME), "-f", "%M", "-o", os.fspath(said), *output.command]
    subprocess.run(command, check=True, env=environment, input=stdin, stdout=subprocess.DEVNULL, cwd="/")
    return int(said.read_text()) * 1024


@needs_time
@pytest.mark.oracle
@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (("version",), b""),
        (("rev-list", "--disk-usage", "--objects", "--use-bitmap-index", "--all"), b""),
        (("rev-list", "--disk-usage", "--objects", "--all"), b""),
        (("pack-objects", "--all", "--stdout", "-q", "--no-reuse-delta", "--threads=1"), b""),
        (("cat-file", "--batch-check", "--batch-all-objects"), b""),
    ],
)
def test_peak_memory_is_that_which_gnu_time_says_however_short_it_ran(measured, repository, tmp_path, arguments, stdin):
    ours = bytearray(b"x") * (200 * MEGABYTE)
    output = run_git(measured, arguments, git_dir=os.fsencode(repository.path), stdin=stdin, time_limit_s=60.0)
    assert output.usage is not None
    # where pages of shared libraries lie differs by some 300 KB from run to run, by this same measure
    expected = peak_by_time(output, stdin, tmp_path)
    assert output.usage.peak_memory_bytes == pytest.approx(expected, abs=0.6 * MEGABYTE, rel=0.05)
    assert len(ours) == 200 * MEGABYTE


def test_peak_memory_is_that_of_a_larger_helper(tmp_path):
    code = f"import os\nif os.fork() == 0:\n    held = b'x' * {60 * MEGABYTE}\n    os._exit(0)\nos.wait()"
    usage = run_git(script(tmp_path, code), ["x"], time_limit_s=60.0).usage
    assert usage is not None
    assert usage.peak_memory_bytes is not None
    assert 60 * MEGABYTE <= usage.peak_memory_bytes < 90 * MEGABYTE


def test_a_measured_call_gets_its_stdin_and_gives_all_that_it_says_and_its_exit_code(tmp_path):
    code = "import sys\nsys.stdout.write(sys.stdin.read())\nsys.stderr.write('so')\nsys.exit(7)"
    output = run_git(script(tmp_path, code), ["x"], stdin=b"12\n34\n" * 50_000, time_limit_s=60.0, check=False)
    assert (output.stdout, output.stderr, output.exit_code) == (b"12\n34\n" * 50_000, "so", 7)


def test_a_measured_call_that_a_signal_ended_says_which(tmp_path):
    code = "import os\nos.kill(os.getpid(), 9)"
    output = run_git(script(tmp_path, code), ["x"], time_limit_s=60.0, check=False)
    assert output.exit_code == -signal.SIGKILL


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def ends(pid: int) -> bool:
    until_s = time.monotonic() + 10.0
    while is_alive(pid) and time.monotonic() < until_s:
        time.sleep(0.01)
    return not is_alive(pid)


STUBBORN = """
import os, signal, time
helper = os.fork()
if helper == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)
with open({path!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{helper}}")
os.rename({path!r}, {path!r} + ".there")
time.sleep(60)
"""


def test_a_measured_call_that_is_cancelled_ends_with_its_helpers(tmp_path):
    path, cancel = tmp_path / "numbers", threading.Event()
    program = script(tmp_path, STUBBORN.format(path=os.fspath(path)))
    there = tmp_path / "numbers.there"

    def cancel_when_there() -> None:
        while not there.exists():
            time.sleep(0.01)
        cancel.set()

    thread = threading.Thread(target=cancel_when_there)
    thread.start()
    with pytest.raises(GitError) as raised:
        run_git(program, ["x"], time_limit_s=60.0, cancel=cancel)
    thread.join()
    assert raised.value.kind is GitFailure.CANCELLED
    assert all(ends(int(number)) for number in there.read_text().split())


def test_a_measured_call_ends_when_we_are_killed(tmp_path):
    path = tmp_path / "numbers"
    there = tmp_path / "numbers.there"
    script(tmp_path, STUBBORN.format(path=os.fspath(path)))
    code = (
        "from gitdash.gitcmd.git_program import GitProgram\nfrom gitdash.gitcmd.runner import run_git\n"
        f"program = GitProgram(path={os.fspath(tmp_path / 'git')!r}, version=(2, 39), version_text='',"
        " is_measured=True)\nrun_git(program, ['x'], time_limit_s=60.0)"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while not there.exists():
            time.sleep(0.01)
        process.kill()
    assert all(ends(int(number)) for number in there.read_text().split())


def test_what_is_orphaned_while_a_measured_call_runs_is_not_ours(tmp_path):
    code = """
import os, time
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (0, 1, 2):
            os.close(number)
        time.sleep(5)
        os._exit(0)
    with open("/proc/self/task/%d/children" % os.getpid()) as file:
        os.write(writing, file.read().encode())
    os._exit(0)
os.wait()
print(os.read(reading, 20).decode(), flush=True)
"""
    orphan = int(run_git(script(tmp_path, code), ["x"], time_limit_s=60.0).stdout)
    parent = int(Path(f"/proc/{orphan}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(orphan, signal.SIGKILL)
    assert parent != os.getpid()


@pytest.mark.parametrize("program", ["/no/such/git", "/dev/null"])
def test_a_measured_git_that_cannot_be_started_fails_as_another_does(program, tmp_path):
    said = []
    for is_measured in (True, False):
        git = GitProgram(path=program, version=(2, 39), version_text="", is_measured=is_measured)
        output = run_git(git, ["x"], time_limit_s=60.0, check=False)
        said.append((output.exit_code, output.stdout))
    assert said[0] == said[1]


def test_where_orphans_cannot_be_adopted_memory_is_watched_instead(tmp_path, monkeypatch):
    monkeypatch.setattr(adoption, "_SET_CHILD_SUBREAPER", 10**6)
    ours = bytearray(b"x") * (200 * MEGABYTE)
    output = run_git(script(tmp_path, "print('said')"), ["x"], time_limit_s=60.0)
    assert output.stdout == b"said\n"
    assert output.usage is not None
    assert output.usage.peak_memory_bytes is None or output.usage.peak_memory_bytes < 100 * MEGABYTE
    assert len(ours) == 200 * MEGABYTE


def test_a_measured_git_of_one_thread_never_takes_less_time_than_its_processor_time(measured):
    outputs = [run_git(measured, ["version"], time_limit_s=60.0) for _ in range(30)]
    pairs = [(output.elapsed_s, output.usage) for output in outputs]
    # getrusage(2) gives microseconds, rounded twice
    short = [(wall_s, usage) for wall_s, usage in pairs if usage and wall_s < usage.user_s + usage.system_s - 2e-6]
    assert all(usage is not None and usage.user_s + usage.system_s > 0 for _, usage in pairs)
    assert short == []


def test_nothing_of_a_measured_git_runs_before_its_time_is_noted(tmp_path, monkeypatch):
    path = tmp_path / "ran"
    seen = []
    let_go = adoption.let_go

    def later(adopted):
        time.sleep(0.2)
        seen.append(path.exists())
        return let_go(adopted)

    monkeypatch.setattr(adoption, "let_go", later)
    output = run_git(script(tmp_path, f"open({os.fspath(path)!r}, 'x')"), ["x"], time_limit_s=60.0)
    assert (seen, path.exists(), output.exit_code) == ([False], True, 0)
    assert output.elapsed_s < 0.2


def test_a_measured_git_has_no_descriptors_but_its_three(tmp_path):
    code = "import os\nprint(sorted(map(int, os.listdir('/proc/self/fd'))))"
    # the fourth lists the folder
    assert run_git(script(tmp_path, code), ["x"], time_limit_s=60.0).stdout == b"[0, 1, 2, 3]\n"


@pytest.mark.parametrize("ending", ["killed", "stopped", "failed"])
def test_what_waits_to_be_let_go_ends_with_us(tmp_path, ending):
    there, ran = tmp_path / "number", tmp_path / "ran"
    script(tmp_path, f"open({os.fspath(ran)!r}, 'x')")
    code = f"""
import os, sys, time
from gitdash.gitcmd import adoption
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git, stop_everything
def never(adopted):
    with open({os.fspath(there)!r} + ".part", "w") as file:
        file.write(str(adopted.pid))
    os.rename({os.fspath(there)!r} + ".part", {os.fspath(there)!r})
    if {ending!r} == "failed":
        raise MemoryError
    if {ending!r} == "stopped":
        stop_everything()
        return time.monotonic(), 0.0
    time.sleep(60)
adoption.let_go = never
program = GitProgram(path={os.fspath(tmp_path / "git")!r}, version=(2, 39), version_text='', is_measured=True)
try:
    run_git(program, ['x'], time_limit_s=60.0)
except BaseException as error:
    print(type(error).__name__)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        while not there.exists():
            time.sleep(0.01)
        if ending == "killed":
            process.kill()
        said = process.communicate()[0]
    assert said.strip() == {"killed": "", "stopped": "GitError", "failed": "MemoryError"}[ending]
    assert ends(int(there.read_text()))
    assert not ran.exists()


def test_a_measured_call_leaves_no_child_behind(measured, tmp_path):
    def children() -> set[str]:
        return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())

    run_git(measured, ["version"], time_limit_s=60.0)
    before = children()
    run_git(measured, ["version"], time_limit_s=60.0)
    with pytest.raises(GitError) as raised:
        run_git(script(tmp_path, "import time\ntime.sleep(60)"), ["x"], time_limit_s=0.2)
    assert raised.value.kind is GitFailure.TIMED_OUT
    assert children() == before
