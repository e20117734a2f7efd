"""Python children of ours: workers that answer requests, and a gitdash that is served through pipes.

They start by way of `runner`, in a process group of their own that its watchdog knows; this module says which program,
with which environment, and how they end. What they are asked is for others to say.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final

from gitdash.gitcmd import groups
from gitdash.gitcmd.children import pipe_of, reap
from gitdash.gitcmd.environment import without_git_variables
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.runner import WATCHDOG, start

WORKER_MEMORY_LIMIT_BYTES: Final = 1024**3
"""An inspection reads headers and directories; what needs more is a hostile repository."""
_WORKER_GRACE_S: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerProcess:
    """A Python child of ours that answers requests on stdin until it reads the end of the file."""

    stdin: IO[bytes]
    """Requests, buffered: flush after each."""
    stdout: IO[bytes]
    """Replies."""
    _process: subprocess.Popen[bytes]
    _group: groups.ProcessGroup

    @property
    def pid(self) -> int:
        """The process id, which is that of its group, too."""
        return self._group.pid

    def stop(self) -> None:
        """End it and what it started; a second call does nothing. A read that another thread waits in gets the end."""
        self._group.end(_WORKER_GRACE_S)
        for pipe in (self.stdin, self.stdout):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()
        reap(self._process)


def start_worker(module: str, *, memory_limit_bytes: int | None = WORKER_MEMORY_LIMIT_BYTES) -> WorkerProcess:
    """Start `python -m module` in a process group of its own. When we die its stdin ends, and the watchdog ends it.

    Raises GitError if it cannot be started; whether the module exists, its first reply tells.
    """
    command = [sys.executable, "-m", module]
    environment = without_git_variables(os.environ) | _import_path()
    return _start_python(command, environment, memory_limit_bytes, stderr=subprocess.DEVNULL)


def start_gitdash(arguments: Sequence[str | bytes], environment: Mapping[str, str]) -> WorkerProcess:
    """Start a gitdash that is served through pipes, and ends as a worker does; its talk goes where ours goes.

    It is what the user could have started, so it gets our whole environment, `environment` added, and no memory limit.
    Raises GitError if it cannot be started. Call it in the main thread: the parent's death that a child can ask to be
    told of is that of the thread which started it, see prctl(2).
    """
    command = [sys.executable, "-m", "gitdash", *arguments]
    return _start_python(command, {**os.environ, **_import_path(), **environment}, None, stderr=None)


def _import_path() -> dict[str, str]:
    """Return the variables by which a Python child finds the modules that we are made of."""
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {
        # The current folder of the user may hold a module called like one of ours.
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": os.pathsep.join([ours, *(entry for entry in inherited if os.path.isabs(entry))]),
    }


def _start_python(
    command: Sequence[str | bytes], environment: Mapping[str, str], memory_limit_bytes: int | None, stderr: int | None
) -> WorkerProcess:
    try:
        process = start(command, environment, memory_limit_bytes, stderr=stderr)
    except OSError as error:
        raise GitError(f"no worker could be started: {error}", kind=GitFailure.NOT_STARTED) from error
    return WorkerProcess(
        stdin=pipe_of(process.stdin),
        stdout=pipe_of(process.stdout),
        _process=process,
        _group=groups.ProcessGroup(process.pid, WATCHDOG),
    )
