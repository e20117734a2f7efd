import contextlib
import os
import threading
from pathlib import Path

import pytest

from gitdash.gitcmd.command_log import (
    COMMAND_LOG,
    KEPT_FOR_EACH,
    KEPT_IN_ALL,
    STDERR_LIMIT_BYTES,
    CommandLog,
    commands_for,
)
from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.runner import run_git
from gitdash.model.command import CommandRecord
from tests.support.repositories import GIT, GitRepository


def run(log: CommandLog, path: bytes, count: int = 1) -> None:
    with commands_for(path):
        for _ in range(count):
            log.end(log.begin(("git", "version")), exit_code=0)


def script(folder: Path, body: str) -> GitProgram:
    fake = folder / "git"
    fake.write_text(f"#!/bin/sh\n{body}\n")
    fake.chmod(0o755)
    return GitProgram(path=os.fspath(fake), version=(2, 39, 5), version_text="2.39.5")


def recorded(path: bytes, program: GitProgram, *arguments: str, **options: object) -> CommandRecord:
    """Run one command for a repository and return what the log of this process says of it."""
    with commands_for(path), contextlib.suppress(GitError):
        run_git(program, arguments, **({"time_limit_s": 20.0} | options))  # type: ignore[arg-type]
    return COMMAND_LOG.records_of(path)[-1]


def test_commands_are_filed_under_the_repository_they_ran_for_newest_last() -> None:
    log = CommandLog()
    run(log, b"/a")
    run(log, b"/b")
    run(log, b"/a")
    assert [record.number for record in log.records_of(b"/a")] == [1, 3]
    assert [record.path for record in log.records_of(b"/b")] == [b"/b"]
    assert log.records_of(b"/c") == ()


def test_what_runs_for_no_repository_is_filed_under_none() -> None:
    log = CommandLog()
    log.begin(("git", "version"))
    run(log, b"/a")
    assert [record.number for record in log.records_of(None)] == [1]


def test_a_command_inside_another_block_belongs_to_the_inner_one_and_then_to_the_outer_again() -> None:
    log = CommandLog()
    with commands_for(b"/outer"):
        run(log, b"/inner")
        log.begin(("git",))
    assert [len(log.records_of(path)) for path in (b"/inner", b"/outer")] == [1, 1]


def test_a_running_command_has_no_elapsed_time_yet() -> None:
    log = CommandLog()
    with commands_for(b"/a"):
        number = log.begin(("git", "gc"))
    (running,) = log.records_of(b"/a")
    assert (running.elapsed_s, running.exit_code, running.ending) == (None, None, None)
    log.end(number, exit_code=3, stderr="warning: x\n")
    (ended,) = log.records_of(b"/a")
    assert ended.elapsed_s is not None
    assert (ended.exit_code, ended.ending, ended.stderr) == (3, None, "warning: x")


def test_the_version_grows_with_each_change_of_that_repository_alone() -> None:
    log = CommandLog()
    assert log.version_of(b"/a") == 0
    with commands_for(b"/a"):
        number = log.begin(("git",))
    started = log.version_of(b"/a")
    run(log, b"/b")
    assert log.version_of(b"/a") == started > 0
    log.end(number, exit_code=0)
    assert log.version_of(b"/a") > started


def test_only_the_last_commands_of_each_are_kept() -> None:
    log = CommandLog()
    run(log, b"/a", KEPT_FOR_EACH + 5)
    numbers = [record.number for record in log.records_of(b"/a")]
    assert numbers == list(range(6, KEPT_FOR_EACH + 6))


def test_of_all_repositories_the_oldest_commands_go_first_and_that_is_a_change() -> None:
    log = CommandLog()
    run(log, b"/first")
    before = log.version_of(b"/first")
    for number in range(KEPT_IN_ALL // KEPT_FOR_EACH):
        run(log, b"/%d" % number, KEPT_FOR_EACH)
    assert log.records_of(b"/first") == ()
    assert log.version_of(b"/first") > before
    assert len(log.records_of(b"/0")) == KEPT_FOR_EACH


def test_the_end_of_a_command_that_is_not_kept_any_more_changes_nothing() -> None:
    log = CommandLog()
    with commands_for(b"/a"):
        number = log.begin(("git",))
    run(log, b"/a", KEPT_FOR_EACH)
    before = log.version_of(b"/a"), log.records_of(b"/a")
    log.end(number, exit_code=0)
    assert (log.version_of(b"/a"), log.records_of(b"/a")) == before


def test_threads_file_their_commands_apart() -> None:
    log = CommandLog()
    threads = [threading.Thread(target=run, args=(log, b"/%d" % number, 150)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = [log.records_of(b"/%d" % number) for number in range(8)]
    assert [len(records) for records in kept] == [150] * 8
    assert {record.number for records in kept for record in records} == set(range(1, 1201))
    for records in kept:
        assert [record.number for record in records] == sorted(record.number for record in records)


@pytest.mark.safety
def test_nothing_in_a_record_can_act_on_a_terminal() -> None:
    log = CommandLog()
    with commands_for(b"/a"):
        log.end(log.begin(("git", "\x1b]0;x\x07", "\udcff")), exit_code=1, stderr="one\x1b[2J\rtwo\nthree\u202e\n")
    (record,) = log.records_of(b"/a")
    assert record.argv == ("git", "\\x1b]0;x\\x07", "\\xff")
    assert record.stderr == "one\\x1b[2J\\x0dtwo\nthree\\u202e"


@pytest.mark.safety
@pytest.mark.parametrize("line", ["fatal: no\n", "\u00e9\x1b" * 7 + "\n", "\U0001f600\n"])
def test_a_long_stderr_keeps_its_beginning_and_its_end(line: str) -> None:
    log = CommandLog()
    with commands_for(b"/a"):
        log.end(log.begin(("git",)), exit_code=1, stderr="first\n" + line * 3000 + "last\n")
    (record,) = log.records_of(b"/a")
    assert len(record.stderr.encode()) <= STDERR_LIMIT_BYTES
    assert record.stderr.startswith("first\n")
    assert record.stderr.endswith("\nlast")
    assert "bytes in all" in record.stderr


def test_a_git_that_answered_is_recorded(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "r.git")
    path = os.fsencode(tmp_path / "r.git")
    with commands_for(path):
        output = run_git(find_git(GIT), ["rev-parse", "--git-dir"], git_dir=path, time_limit_s=20.0)
    record = COMMAND_LOG.records_of(path)[-1]
    assert record.argv == output.argv
    assert (record.exit_code, record.ending, record.stderr) == (0, None, "")
    assert record.elapsed_s is not None
    assert record.elapsed_s >= output.elapsed_s


def test_a_git_that_failed_is_recorded_with_what_it_said(tmp_path: Path) -> None:
    record = recorded(b"/failed", script(tmp_path, "echo fatal: no such thing >&2; exit 128"), "gc")
    assert (record.exit_code, record.ending, record.stderr) == (128, None, "fatal: no such thing")


def test_a_git_that_was_killed_is_recorded_with_the_signal(tmp_path: Path) -> None:
    record = recorded(b"/killed", script(tmp_path, "kill -9 $$"), "gc")
    assert (record.exit_code, record.ending) == (None, "signal 9")


def test_a_git_that_takes_too_long_is_recorded_as_timed_out(tmp_path: Path) -> None:
    record = recorded(b"/slow", script(tmp_path, "exec sleep 100"), "gc", time_limit_s=0.2)
    assert (record.exit_code, record.ending) == (None, "timed out")
    assert record.elapsed_s is not None
    assert 0.2 <= record.elapsed_s < 10


def test_a_cancelled_git_is_recorded_and_shown_while_it_runs(tmp_path: Path) -> None:
    cancel = threading.Event()
    program = script(tmp_path, f"echo >{tmp_path}/started; exec sleep 100")
    seen: list[tuple[CommandRecord, ...]] = []

    def watch() -> None:
        while not (tmp_path / "started").exists():
            cancel.wait(0.005)
        seen.append(COMMAND_LOG.records_of(b"/cancelled"))
        cancel.set()

    thread = threading.Thread(target=watch)
    thread.start()
    record = recorded(b"/cancelled", program, "gc", cancel=cancel)
    thread.join()
    assert [running.elapsed_s for running in seen[0]] == [None]
    assert (record.exit_code, record.ending) == (None, "cancelled")
    assert record.elapsed_s is not None


def test_a_git_that_says_too_much_is_recorded(tmp_path: Path) -> None:
    record = recorded(b"/much", script(tmp_path, "exec yes"), "gc", stdout_limit_bytes=1000)
    assert record.ending == "wrote too much"


def test_a_git_that_does_not_start_is_recorded(tmp_path: Path) -> None:
    program = script(tmp_path, "exit 0")
    record = recorded(b"/nul", program, "log", "a\0b")
    assert (record.exit_code, record.ending) == (None, "did not start")
    assert "could not be started" in record.stderr
    assert record.argv == ("git", "log", "a\\x00b")


@pytest.mark.safety
def test_credentials_are_masked_in_a_record(tmp_path: Path) -> None:
    program = script(tmp_path, 'echo "fatal: $2" >&2; exit 1')
    url = "https://user:hunter2@example.com/x.git"
    record = recorded(b"/secret", program, "fetch", url)
    assert "hunter2" not in f"{record.argv} {record.stderr}"
    assert "***@example.com" in record.argv[-1]
