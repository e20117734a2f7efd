"""Processes that were started: their pipes, and how their ends are taken. It starts and ends none.

Source: wait4(2).
"""

import os
import resource
from dataclasses import dataclass
from typing import IO, Protocol


class Child(Protocol):
    """What is used of subprocess.Popen."""

    pid: int
    returncode: int | None
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A process, just started."""

    process: Child
    stderr: IO[bytes]
    """Our end."""
    group: int

    @property
    def is_adopted(self) -> bool:
        """Whether a shell has started it, which led its group and is gone; then it waits to be let go."""
        return self.group != self.process.pid


def pipe_of(pipe: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe that was asked for."""
    if pipe is None:
        raise AssertionError("every pipe was asked for")
    return pipe


def reap(process: Child) -> resource.struct_rusage | None:
    """Take an ended child's exit code into `process` and return what it used; None if it hangs, or is reaped."""
    if process.returncode is not None:
        return None
    try:
        pid, status, spent = os.wait4(process.pid, os.WNOHANG)
    except ChildProcessError:
        # whoever started us ignores the ends of children, so the kernel has reaped it
        process.returncode = 0
        return None
    if pid == 0:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return spent
