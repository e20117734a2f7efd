"""The one door to processes: starts git and what `workers` asks for, bounds them, and ends them.

Each call gets an argv, the environment and `-c` pairs of `environment`, a stdin that ends, a session of its own, a time
limit on the whole call, a memory limit, a cap on what it may say, and a watchdog that ends it if we are killed. Source:
git(1), setsid(2), setrlimit(2).

The memory limit is set by `/bin/sh` between fork and exec: `preexec_fn` may deadlock in a process with threads, and
prlimit(2) from here would come after the first allocations. It is RLIMIT_DATA: RLIMIT_AS counts mapped packs, and git
then cannot open big ones. This module decides nothing about what git is asked.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gitdash.gitcmd import adoption, groups
from gitdash.gitcmd.children import Started, pipe_of, reap
from gitdash.gitcmd.command_log import COMMAND_LOG
from gitdash.gitcmd.environment import (
    CONFIG_OVERRIDES,
    FETCH_CONFIG_OVERRIDES,
    config_arguments,
    fetch_environment,
    git_environment,
    search_path,
)
from gitdash.gitcmd.exchange import Ending, Exchange, Pipes, talk
from gitdash.gitcmd.git_error import GitError, GitFailure, signal_of
from gitdash.gitcmd.git_program import GitOutput, GitProgram
from gitdash.gitcmd.masking import mask_credentials
from gitdash.gitcmd.output import first_complaint
from gitdash.gitcmd.terminal_stderr import ProgressFilter, start_with_terminal
from gitdash.gitcmd.usage import MemoryWatch
from gitdash.gitcmd.watchdog import COMMAND as WATCHDOG_COMMAND
from gitdash.gitcmd.watchdog import Watchdog
from gitdash.model.progress import CommandProgress
from gitdash.units import human_duration

DEFAULT_STDOUT_LIMIT_BYTES: Final = 256 * 1024**2
"""More than the references of a repository with 2,000,000 of them."""

_STOP_GRACE_S: Final = 0.4
"""`stop_everything` shall be over within a second."""
_LIMITED: Final = ("/bin/sh", "-c", 'ulimit -d "$0" 2>/dev/null || :; exec "$@"')
"""`$0` is the limit in KiB. Where the limit in force is lower already, that one stays."""


def run_git(  # noqa: PLR0913 - the bounds of one call, each with a default but the time limit
    program: GitProgram,
    arguments: Sequence[str | bytes],
    *,
    git_dir: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    config: Sequence[tuple[str, str]] = (),
    for_fetch: bool = False,
    stdin: bytes = b"",
    on_stderr: Callable[[bytes], None] | None = None,
    on_progress: Callable[[CommandProgress], None] | None = None,
    before_stop: Callable[[int], None] | None = None,
    time_limit_s: float,
    cancel: threading.Event | None = None,
    stdout_limit_bytes: int = DEFAULT_STDOUT_LIMIT_BYTES,
    grace_s: float = groups.GRACE_S,
    check: bool = True,
) -> GitOutput:
    """Run one git command and return what it said.

    `environment` and `config` are added to the table; with `for_fetch` to that of fetches, which leaves the user's own
    config and variables in force: for use with a `stand_in` only. `on_stderr` hears what git says as it says it,
    unmasked; with `on_progress`, which hears how far git is, its stderr is a terminal. `git_dir` becomes `--git-dir`,
    which switches git's ownership check off: ask `ownership.foreign_owner` before. The time limit covers the whole
    call; after it, or within 50 ms of `cancel`, the process group gets SIGTERM, and SIGKILL after `grace_s`;
    `before_stop` is that of `ProcessGroup`.
    Raises GitError: with `check` also for an exit code other than 0.
    """
    added: list[str | bytes] = [argument for key, value in config for argument in ("-c", f"{key}={value}")]
    if git_dir is not None:
        added.append(b"--git-dir=" + git_dir)
    call = _Call(
        name=next((name for name in map(_masked, arguments) if not name.startswith("-")), ""),
        argv=("git", *map(_masked, [*added, *arguments])),
        command=[
            *program.wrapper,
            program.path,
            *config_arguments(overrides=FETCH_CONFIG_OVERRIDES if for_fetch else CONFIG_OVERRIDES),
            *added,
            *arguments,
        ],
        environment=(fetch_environment if for_fetch else git_environment)(os.environ),
        variables=dict(environment or {}),
        time_limit_s=time_limit_s,
        memory_limit_bytes=program.memory_limit_bytes,
        grace_s=grace_s,
        is_measured=program.is_measured,
        before_stop=before_stop,
    )
    exchange = Exchange(stdin=stdin, stdout_limit_bytes=stdout_limit_bytes, on_stderr=on_stderr)
    ending, output = call.run(exchange, cancel, None if on_progress is None else ProgressFilter(on_progress))
    if ending is Ending.TIMED_OUT:
        raise call.error(GitFailure.TIMED_OUT, f"did not end within {human_duration(time_limit_s)}", output)
    if ending is Ending.CANCELLED:
        raise call.error(GitFailure.CANCELLED, "was cancelled", output)
    if ending is Ending.TOO_MUCH:
        raise call.error(GitFailure.FAILED, f"wrote more than {stdout_limit_bytes} bytes", output)
    if check and output.exit_code:
        raise call.error(GitFailure.FAILED, _end_of(output), output)
    return output


_Cancel: TypeAlias = threading.Event | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One call: what it starts, its bounds, and how its errors read."""

    name: str
    """The subcommand."""
    argv: tuple[str, ...]
    """As in GitOutput."""
    command: list[str | bytes]
    environment: dict[str, str]
    variables: dict[str, str]
    """What is added to `environment`, or set instead."""
    time_limit_s: float
    memory_limit_bytes: int
    grace_s: float
    is_measured: bool
    before_stop: Callable[[int], None] | None

    def run(self, exchange: Exchange, cancel: _Cancel, progress: ProgressFilter | None) -> tuple[Ending, GitOutput]:
        """Start, talk, end, reap, and keep a record of it."""
        if cancel is not None and cancel.is_set():
            raise self.error(GitFailure.CANCELLED, "was cancelled")
        number = COMMAND_LOG.begin(self.argv)
        try:
            ending, output = self._run(exchange, cancel, progress)
        except GitError as error:
            COMMAND_LOG.end(number, exit_code=None, ending="did not start", stderr=str(error))
            raise
        except BaseException:
            COMMAND_LOG.end(number, exit_code=None, ending="interrupted")
            raise
        COMMAND_LOG.end(number, exit_code=output.exit_code, ending=ending.value, stderr=output.stderr)
        return ending, output

    def _run(self, exchange: Exchange, cancel: _Cancel, progress: ProgressFilter | None) -> tuple[Ending, GitOutput]:
        started_s = time.monotonic()
        try:
            started = self._start(has_terminal=progress is not None)
        except (OSError, ValueError) as error:
            raise self.error(GitFailure.NOT_STARTED, f"could not be started: {error}") from error
        if progress is not None:
            exchange.keep = progress.feed
        process = started.process
        group = groups.ProcessGroup(process.pid, WATCHDOG, number=started.group, before_stop=self.before_stop)
        begun_s, used_s = adoption.let_go(process) if started.is_adopted else (started_s, 0.0)
        memory = MemoryWatch(process.pid, has_own_peak=started.is_adopted, used_s=used_s) if self.is_measured else None
        exchange.on_wake = None if memory is None else memory.look
        pipes = Pipes(stdin=pipe_of(process.stdin), stdout=pipe_of(process.stdout), stderr=started.stderr)
        try:
            ending = talk(exchange, pipes, group, deadline_s=started_s + self.time_limit_s, cancel=cancel)
        finally:
            group.end(self.grace_s)
            pipes.close()
            spent = reap(process)
        if progress is not None:
            exchange.stderr.append(progress.end())
        output = GitOutput(
            stdout=bytes(exchange.stdout),
            stderr=exchange.stderr.text(),
            exit_code=-signal.SIGKILL if process.returncode is None else process.returncode,
            elapsed_s=time.monotonic() - begun_s,
            argv=self.argv,
            usage=None if spent is None or memory is None else memory.usage(spent),
            command=tuple(self.command),
            variables=self.variables,
            stdin=exchange.stdin,
        )
        return Ending.CANCELLED if group.stopped and output.exit_code else ending, output

    def _start(self, *, has_terminal: bool) -> Started:
        """Start it, with a pipe for its stderr also where a terminal cannot be had."""
        if self.is_measured and not has_terminal:
            with adoption.adopting_orphans() as is_allowed:
                if is_allowed:
                    return self._start_adopted()
        on_terminal = start_with_terminal(self._process) if has_terminal else None
        if on_terminal is not None:
            return Started(process=on_terminal[0], stderr=on_terminal[1], group=on_terminal[0].pid)
        process = self._process(subprocess.PIPE)
        return Started(process=process, stderr=pipe_of(process.stderr), group=process.pid)

    def _start_adopted(self) -> Started:
        process = self._process(subprocess.PIPE, launcher=adoption.LAUNCHER)
        return Started(process=process, stderr=pipe_of(process.stderr), group=adoption.adopt(process))

    def _process(self, stderr: int, launcher: Sequence[str] = _LIMITED) -> subprocess.Popen[bytes]:
        environment = self.environment | self.variables
        return start(self.command, environment, self.memory_limit_bytes, stderr=stderr, launcher=launcher)

    def error(self, kind: GitFailure, what: str, output: GitOutput | None = None) -> GitError:
        return GitError(
            f"git {self.name} {what}",
            kind=kind,
            argv=self.argv,
            exit_code=output.exit_code if output else None,
            stderr=output.stderr if output else "",
        )


def _end_of(output: GitOutput) -> str:
    number = signal_of(output.exit_code)
    how = f"exit code {output.exit_code}" if number is None else f"signal {number}"
    complaint = first_complaint(output.stderr)
    return f"failed: {complaint} ({how})" if complaint else f"failed with {how}"


def _masked(argument: str | bytes) -> str:
    return mask_credentials(argument if isinstance(argument, str) else os.fsdecode(argument))


def start(
    command: Sequence[str | bytes],
    environment: Mapping[str, str],
    memory_limit_bytes: int | None,
    *,
    stderr: int | None,
    launcher: Sequence[str] = _LIMITED,
) -> subprocess.Popen[bytes]:
    """Start a program with pipes, as the leader of a session of its own. Raises OSError, and ValueError for a NUL.

    `stderr` is a constant of subprocess or a descriptor; None is ours. `launcher` sets the memory limit, if there is
    one.
    """
    WATCHDOG.prepare()
    limited = () if memory_limit_bytes is None else (*launcher, str(memory_limit_bytes // 1024))
    return subprocess.Popen(
        [*limited, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        # The root folder holds nothing of a scanned repository that git or Python would look for in the current one.
        cwd="/",
        env=environment,
        # No controlling terminal, so nothing can ask the user; and one number to signal git and its helpers by.
        start_new_session=True,
    )


def run_in_foreground(argv: Sequence[str], folder: bytes) -> int:
    """Run a program of the user's choice on the terminal, in a folder, and return its exit code; -1 if it was ended.

    It gets the user's own environment and may ask the user anything. Ctrl-C is its own meanwhile: both of us hear it,
    and only a handler, not an ignored signal, is back to its default in what is started. Raises GitError if it does not
    start.
    """
    heard = {number: signal.signal(number, _leave_it_to_the_child) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        code = subprocess.run(argv, cwd=folder, check=False).returncode
    except OSError as error:
        raise GitError(f"{argv[0]} could not be started: {error.strerror}", kind=GitFailure.NOT_STARTED) from error
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)
    return max(code, -1)


def _leave_it_to_the_child(_number: int, _frame: object) -> None:
    """Hear a signal of the terminal and do nothing."""


def _start_watchdog() -> int:
    """Start the watchdog and return the writing end of its stdin."""
    reading, writing = os.pipe()
    try:
        os.posix_spawn(
            WATCHDOG_COMMAND[0],
            WATCHDOG_COMMAND,
            {"PATH": search_path(os.environ)},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                *((os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0) for descriptor in (1, 2)),
            ],
            # What the terminal sends to us shall not reach it.
            setsid=True,
        )
    except (OSError, NotImplementedError):
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return writing


WATCHDOG: Final = Watchdog(_start_watchdog)
"""Knows every process group that is alive, and ends them if we are killed."""


def stop_everything() -> None:
    """End every git and every worker that runs, within a second. For quitting, Ctrl-C and signal handlers.

    Calls that are under way raise GitError with kind CANCELLED. What starts later is not held back: set the events that
    cancel it first.
    """
    groups.stop_all(_STOP_GRACE_S)
