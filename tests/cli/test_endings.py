"""How commands end: exit codes, one sentence for bad input, Ctrl-C, a closed pipe."""

import contextlib
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.process import Gitdash
from tests.support.pty_session import PtySession
from tests.support.repositories import GIT, GitRepository

EXECUTABLE = 0o755


@pytest.mark.parametrize("command", [["scan"], ["check"], []])
def test_a_root_that_does_not_exist_is_one_sentence_and_exit_2(gitdash: Gitdash, command: list[str]) -> None:
    finished = gitdash.run(*command, "/nonexistent/root")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert len(finished.stderr.splitlines()) == 1
    assert "/nonexistent/root" in finished.stderr


def test_no_git_is_one_sentence_and_exit_2(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("scan", fleet, PATH=os.fspath(gitdash.folder))
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1
    assert "git" in finished.stderr


def test_a_git_that_is_too_old_is_one_sentence_and_exit_2(gitdash: Gitdash, fleet: Path) -> None:
    old = gitdash.folder / "old-git"
    old.write_text("#!/bin/sh\necho git version 2.17.1\n")
    old.chmod(EXECUTABLE)
    finished = gitdash.run("--git", old, "scan", fleet)
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1
    assert "too old" in finished.stderr


def test_a_state_file_of_another_program_is_left_alone(gitdash: Gitdash, fleet: Path) -> None:
    state = gitdash.folder / "notes.txt"
    state.write_text("not a database\n" * 100)
    gitdash.options = ["--state", os.fspath(state)]
    finished = gitdash.run("scan", fleet)
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1
    assert state.read_text() == "not a database\n" * 100


@pytest.mark.parametrize("command", ["scan", "show", "size", "check"])
@pytest.mark.parametrize("folder", ["file", "nothing/deep"])
def test_no_folder_is_made_for_a_state_file_that_is_named(
    gitdash: Gitdash, fleet: Path, command: str, folder: str
) -> None:
    (gitdash.folder / "file").write_text("")
    gitdash.options = ["--state", os.fspath(gitdash.folder / folder / "state.db")]
    finished = gitdash.run(command, fleet / "pool.git")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert len(finished.stderr.splitlines()) == 1
    assert f"there is no folder {gitdash.folder / folder}" in finished.stderr
    assert not (gitdash.folder / "nothing").exists()


def test_the_default_state_folder_is_made(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.options = []
    home = gitdash.folder / "home"
    assert gitdash.run("scan", fleet, HOME=os.fspath(home), XDG_STATE_HOME=os.fspath(home / "state")).returncode == 0
    assert (home / "state" / "gitdash" / "state.db").is_file()


def test_a_configured_root_that_is_missing_is_said_and_the_others_are_searched(gitdash: Gitdash, fleet: Path) -> None:
    config = gitdash.folder / "config.toml"
    config.write_text(f'roots = ["/nonexistent/one", "{fleet / "work"}"]\n')
    finished = gitdash.run("--config", config, "scan", "--format", "csv", "--columns", "name")
    assert finished.returncode == 0
    assert finished.stdout.splitlines() == ["name", "work"]
    assert finished.stderr.splitlines() == ["gitdash: a root of the configuration is missing: /nonexistent/one"]
    config.write_text('roots = ["/nonexistent/one", "/nonexistent/two"]\n')
    finished = gitdash.run("--config", config, "scan")
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1
    assert "/nonexistent/one" in finished.stderr
    config.write_text(f'roots = ["{fleet / "work"}"]\n')
    assert gitdash.run("--config", config, "scan", fleet, "/nonexistent/one").returncode == 2


def test_an_error_in_the_configuration_names_the_key(gitdash: Gitdash, fleet: Path) -> None:
    config = gitdash.folder / "config.toml"
    config.write_text("[policy]\nloose_limitt = 3\n")
    finished = gitdash.run("--config", config, "scan", fleet)
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1
    assert "loose_limitt" in finished.stderr


def test_roots_come_from_the_configuration_else_from_the_current_folder(gitdash: Gitdash, fleet: Path) -> None:
    config = gitdash.folder / "config.toml"
    config.write_text(f'roots = ["{fleet / "work"}"]\n')
    arguments = ["scan", "--format", "csv", "--columns", "name"]
    assert gitdash.run("--config", config, *arguments).stdout.splitlines() == ["name", "work"]
    assert "pool.git" in gitdash.run(*arguments, cwd=fleet).stdout


def test_without_a_terminal_the_dashboard_is_a_table(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run(fleet)
    assert finished.returncode == 0
    assert finished.stdout == gitdash.run("scan", fleet).stdout


@pytest.mark.parametrize("setting", ["TERM=dumb", "-uTERM", "TERM="])
def test_a_terminal_that_cannot_be_drawn_on_gets_the_plain_table(gitdash: Gitdash, fleet: Path, setting: str) -> None:
    command = ["env", setting, *gitdash.command(fleet)]
    with PtySession(command, environment=gitdash.environment, folder=os.fspath(gitdash.folder)) as session:
        assert session.wait_for_exit() == 0
    assert b"\x1b" not in session.output
    assert b"name " in session.output
    assert b"pool.git" in session.output
    without_ends = session.output.replace(b"\r\n", b"")
    assert b"\r" not in without_ends, "no progress that is drawn over itself"


def test_a_folder_with_the_name_of_a_command_is_reached_by_its_path(gitdash: Gitdash, fleet: Path) -> None:
    (fleet / "pool.git").rename(fleet / "scan")
    for arguments in (["./scan"], ["--", "scan"]):
        assert "scan" in gitdash.run(*arguments, cwd=fleet).stdout.splitlines()[1]


def test_a_misspelt_command_is_recognised(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("scna", cwd=fleet)
    assert finished.returncode == 2
    assert "did you mean 'scan'" in finished.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pool.git", "scan"], "gitdash scan pool.git"),
        (["pool.git", "check", "--fail-on", "critical"], "gitdash check pool.git"),
        (["help", "scan"], "gitdash scan --help"),
        (["help"], "gitdash --help"),
        (["version"], "gitdash --version"),
    ],
)
def test_a_command_in_the_wrong_place_is_answered_with_what_to_type(
    gitdash: Gitdash, fleet: Path, arguments: list[str], said: str
) -> None:
    finished = gitdash.run(*arguments, cwd=fleet)
    assert finished.returncode == 2
    assert said in finished.stderr.splitlines()[-1]
    assert "gitdash  " not in finished.stderr


def test_what_is_wrong_among_roots_shows_the_usage_of_the_whole(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("pool.git", "--fail-on", "critical", cwd=fleet)
    assert finished.returncode == 2
    assert finished.stderr.startswith("Usage: gitdash [OPTIONS] [ROOT]...\n")


def test_choices_are_listed_without_escapes(gitdash: Gitdash) -> None:
    finished = gitdash.run("completion")
    assert finished.returncode == 2
    assert "\\x" not in finished.stderr
    assert "    zsh" in finished.stderr


def test_a_task_that_is_misspelt_is_recognised_and_nothing_runs(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("maintain", "pool.git", "--task", "relcaim", cwd=fleet)
    assert finished.returncode == 3
    assert finished.stderr == "gitdash: there is no task 'relcaim'; did you mean 'reclaim'?\n"


@pytest.mark.parametrize(
    "command", [[], ["scan"], ["check"], ["show"], ["size"], ["fetch"], ["maintain"], ["history"], ["forget"]]
)
def test_an_empty_path_is_not_the_current_folder(gitdash: Gitdash, fleet: Path, command: list[str]) -> None:
    finished = gitdash.run(*command, "", cwd=fleet)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "a path is empty" in finished.stderr


def test_an_empty_state_file_is_not_the_default_one(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.options = ["--state", ""]
    assert gitdash.run("scan", fleet).returncode == 2


@pytest.mark.parametrize("arguments", ["--help", "--version", "scan -h", "bench size --help", "bench -h"])
def test_help_that_cannot_be_written_is_one_sentence(gitdash: Gitdash, arguments: str) -> None:
    with open("/dev/full", "wb") as full:
        finished = subprocess.run(
            gitdash.command(*arguments.split()),
            stdout=full,
            stderr=subprocess.PIPE,
            env=gitdash.environment,
            check=False,
            timeout=60,
        )
    assert finished.returncode == 2
    assert finished.stderr == b"gitdash: cannot write the output: no space left on device\n"


def test_check_fails_at_and_above_the_severity(gitdash: Gitdash, fleet: Path) -> None:
    lock = fleet / "work" / ".git" / "HEAD.lock"
    lock.write_text("")
    os.utime(lock, (1_600_000_000, 1_600_000_000))
    finished = gitdash.run("check", fleet / "work")
    assert finished.returncode == 1
    assert "HEAD.lock" in finished.stdout
    assert gitdash.run("check", fleet / "work", "--fail-on", "critical").returncode == 0
    lock.unlink()
    assert gitdash.run("check", fleet / "work").returncode == 0


def test_check_counts_the_findings_that_it_prints_and_those_that_it_does_not(gitdash: Gitdash, fleet: Path) -> None:
    for name in ("HEAD.lock", "config.lock"):
        (fleet / "work" / ".git" / name).write_text("")
        os.utime(fleet / "work" / ".git" / name, (1_600_000_000, 1_600_000_000))
    (fleet / "pool.git" / "objects" / "pack" / f"pack-{'0' * 40}.idx").write_text("")
    records = gitdash.json("scan", fleet)["repositories"]
    severities = Counter(finding["severity"] for record in records for finding in record["findings"])
    assert severities["warning"] > 1, severities
    assert severities["notice"], severities
    everything = gitdash.run("check", fleet, "--fail-on", "notice")
    assert len(everything.stdout.splitlines()) == severities.total()
    assert "not printed" not in everything.stderr
    for severity, count in severities.items():
        assert f"{count} {severity}" in everything.stderr.splitlines()[-1]
    warnings = gitdash.run("check", fleet)
    assert len(warnings.stdout.splitlines()) == severities.total() - severities["notice"]
    hidden = f"not printed: {severities['notice']} notice finding"
    assert hidden in warnings.stderr.splitlines()[-1]


def test_check_fails_for_what_cannot_be_read(gitdash: Gitdash, fleet: Path) -> None:
    (fleet / "work" / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (fleet / "work" / ".git" / "objects" / "info" / "alternates").write_text("/nonexistent/objects\n")
    finished = gitdash.run("check", fleet / "work", "--fail-on", "critical")
    assert finished.returncode == 1
    assert "/nonexistent/objects" in finished.stdout


@pytest.mark.parametrize("arguments", [["scan", "--format", "jsonl"], ["scan"], ["check", "--fail-on", "notice"]])
def test_a_reader_that_goes_away_is_no_error(gitdash: Gitdash, fleet: Path, arguments: list[str]) -> None:
    process = subprocess.Popen(
        gitdash.command(*arguments, fleet), env=gitdash.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, talk = process.communicate(timeout=60)
    assert b"Traceback" not in talk
    assert b"roken pipe" not in talk
    assert process.returncode in {0, 1}


def test_a_full_disk_is_said(gitdash: Gitdash, fleet: Path) -> None:
    with open("/dev/full", "wb") as full:
        finished = subprocess.run(
            gitdash.command("scan", fleet), env=gitdash.environment, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert finished.returncode == 2
    assert "no space left" in finished.stderr
    assert "Traceback" not in finished.stderr


def sleeping_git(gitdash: Gitdash) -> Path:
    """A git that answers `version` and hangs in everything else, with a child of its own."""
    program = gitdash.folder / "sleeping-git"
    program.write_text(
        "#!/bin/sh\n"
        f'for word; do [ "$word" = version ] && exec {GIT} version; done\n'
        f"sleep 1000 & echo $! >{gitdash.folder}/pid; mv {gitdash.folder}/pid {gitdash.folder}/started; wait\n"
    )
    program.chmod(EXECUTABLE)
    return program


def wait_for(path: Path) -> None:
    deadline_s = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline_s, f"{path} did not appear"
        time.sleep(0.01)


@contextlib.contextmanager
def interruptible(gitdash: Gitdash, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """gitdash while a git of it hangs, and the child of that git; both are gone at the end, however the test ends."""
    process = subprocess.Popen(
        gitdash.command("--git", sleeping_git(gitdash), *arguments),
        env=gitdash.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started = gitdash.folder / "started"
    try:
        wait_for(started)
        sleeper = psutil.Process(int(started.read_text()))
        yield process, sleeper
    finally:
        process.kill()
        process.communicate()
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(started.read_text()), signal.SIGKILL)


@pytest.mark.safety
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [["scan", "--sizes", "reachable"], ["size"]], ids=["scan", "size"])
def test_an_interrupt_ends_everything_within_a_second(
    gitdash: Gitdash, fleet: Path, command: list[str], number: signal.Signals
) -> None:
    with interruptible(gitdash, *command, fleet / "pool.git") as (process, sleeper):
        assert sleeper.is_running()
        started_s = time.monotonic()
        process.send_signal(number)
        output, talk = process.communicate(timeout=30)
        elapsed_s = time.monotonic() - started_s
        assert not sleeper.is_running() or sleeper.status() == psutil.STATUS_ZOMBIE
    assert process.returncode == 130
    assert output == ""
    assert "Traceback" not in talk
    assert elapsed_s < 1.0


INTERRUPTS_ITSELF = """
import os, signal, sys

wanted = os.environ["INTERRUPTED_AT"]

def interrupt(event, arguments):
    global wanted
    if not hasattr(sys.modules.get("__main__"), "main") or event not in ("import", "exec"):
        return
    moment = arguments[0] if event == "import" else arguments[0].co_filename
    if moment == wanted:
        wanted = None
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(interrupt)
"""
MOMENTS = [
    *("click", "click.core", "<string>", "gitdash.cli.commands", "gitdash.cli.scan", "msgspec"),
    *("gitdash.gitcmd.runner", "gitdash.survey.survey", "sqlite3", "gitdash.history.store", "gitdash.export.columns"),
]


@pytest.mark.safety
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_at_any_moment_of_the_start_is_one_sentence_and_exit_130(
    gitdash: Gitdash, fleet: Path, moment: str
) -> None:
    hook = gitdash.folder / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(INTERRUPTS_ITSELF)
    finished = subprocess.run(
        gitdash.command("scan", fleet),
        env=gitdash.environment
        | {"INTERRUPTED_AT": moment, "PYTHONPATH": f"{hook}:{gitdash.environment['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (finished.returncode, finished.stdout) == (130, "")
    assert finished.stderr.strip() == "gitdash: interrupted"


@pytest.mark.safety
def test_what_is_known_survives_an_interrupt(gitdash: Gitdash, fleet: Path) -> None:
    GitRepository(fleet / "work")
    gitdash.rows(fleet, "--sizes", "all")
    with interruptible(gitdash, "size", fleet / "pool.git", "--strategy", "walk") as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    assert gitdash.json("size", fleet / "pool.git")["from_history"]


def through_shell(gitdash: Gitdash, redirection: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *gitdash.command(*arguments)],
        env=gitdash.environment,
        cwd=gitdash.folder,
        capture_output=True,
        text=True,
    )


def test_a_closed_stderr_costs_the_talk_and_not_the_data(gitdash: Gitdash, fleet: Path) -> None:
    finished = through_shell(gitdash, "2>&-", "scan", fleet, "--format", "csv")
    assert finished.returncode == 0
    assert "pool.git" in finished.stdout


def test_a_closed_stdout_is_one_sentence_and_exit_2(gitdash: Gitdash, fleet: Path) -> None:
    finished = through_shell(gitdash, ">&-", "scan", fleet)
    assert finished.returncode == 2
    assert finished.stderr.splitlines()[-1] == "gitdash: cannot write the output: stdout is closed"
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize("arguments", [["scan"], ["scan", "."], ["size", "x"], ["show", "x"], ["check"]])
def test_a_current_folder_that_is_gone_is_one_sentence_and_exit_2(gitdash: Gitdash, arguments: list[str]) -> None:
    folder = gitdash.folder / "gone"
    folder.mkdir()
    finished = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *gitdash.command(*arguments)],
        env=gitdash.environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 2
    assert "the current folder does not exist any more" in finished.stderr
    assert len(finished.stderr.splitlines()) == 1


@pytest.mark.safety
def test_arguments_are_quoted_without_their_control_characters(gitdash: Gitdash, fleet: Path) -> None:
    evil = "ev\x1b]0;owned\x07il"
    finished = gitdash.run("size", fleet / "pool.git", evil)
    assert finished.returncode == 2
    assert "\x1b" not in finished.stderr
    assert "ev\\x1b]0;owned\\x07il" in finished.stderr
    finished = gitdash.run("size", fleet / "pool.git", "--explain", "--exclude-refs", evil)
    assert finished.returncode == 0
    assert "\x1b" not in finished.stdout + finished.stderr
    assert "ev\\x1b]0;owned\\x07il" in finished.stdout


def test_version_needs_no_git_and_no_state(gitdash: Gitdash) -> None:
    finished = gitdash.run("--version", PATH="/nonexistent")
    assert finished.returncode == 0
    assert finished.stdout.startswith("gitdash ")
    assert gitdash.git_calls() == []
