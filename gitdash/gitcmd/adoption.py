"""Makes git our child although a shell has forked it: then the kernel's peak of its memory is its own.

Linux counts the memory of whoever forked a process to its peak, until execve(2) and for ever after (`exec_mmap` in
fs/exec.c), also for vfork(2) and posix_spawn(3): a git of 4 MB that was started by 200 MB of Python is said to have had
200. So a shell of 2 MB forks a process that waits, says its number on stdout, and ends. In this moment the kernel gives
us the orphans among our descendants (PR_SET_CHILD_SUBREAPER, prctl(2)): so wait4(2) tells us, and nobody else, what git
and those whom it waited for have used. Group and session are those that the shell had; their number stays taken while
one of their processes is not reaped. A line on its stdin lets the process go, and it becomes git: nothing of git runs
before the time is noted. If we end before that, so does its stdin, and with it the process.

It costs about a millisecond, so it is for runs that are measured. It starts nothing itself.
"""

import contextlib
import errno
import os
import threading
import time
from collections.abc import Iterator
from typing import Final

from gitdash.gitcmd.children import Child, pipe_of
from gitdash.gitcmd.usage import processor_time_s

LAUNCHER: Final = (
    "/bin/sh",
    "-c",
    'ulimit -d "$0" 2>/dev/null || :; exec 3<&0; (read -r go && exec "$@") <&3 3<&- & echo "$!"',
)
"""`$0` is the limit of data in KiB. A shell gives nothing to read to what it does not wait for, hence descriptor 3. It
takes no byte from a pipe beyond the line that it reads: read(1) of POSIX."""
_SET_CHILD_SUBREAPER: Final = 36
"""prctl(2)"""
_LONGEST_NUMBER: Final = 20
_LOOK_COUNT: Final = 50
_LOOK_PAUSE_S: Final = 0.0002
_ASLEEP: Final = b"S"
"""proc_pid_stat(5)"""

_lock: Final = threading.Lock()
"""One at a time: who has found its git must not end the adoption of another's."""


@contextlib.contextmanager
def adopting_orphans() -> Iterator[bool]:
    """Adopt what is orphaned among our descendants in this context; the value says whether the system allows it."""
    with _lock:
        is_allowed = os.path.exists("/proc/self/stat") and _adopt(True)
        try:
            yield is_allowed
        finally:
            if is_allowed:
                _adopt(False)


def adopt(launcher: Child) -> int:
    """Have `launcher` stand for what it started, instead of for the shell; return the number of its process group.

    Nothing of the command has run then: `let_go` it. Raises OSError if it has started nothing.
    """
    group, said, line = launcher.pid, pipe_of(launcher.stdout).fileno(), b""
    while not line.endswith(b"\n") and len(line) < _LONGEST_NUMBER and (byte := os.read(said, 1)):
        line += byte
    with contextlib.suppress(ChildProcessError):
        os.waitpid(group, 0)
    if not line.strip().isdigit():
        launcher.returncode = -1
        for pipe in (launcher.stdin, launcher.stdout, launcher.stderr):
            pipe_of(pipe).close()
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    launcher.pid = int(line)
    return group


def let_go(adopted: Child) -> tuple[float, float]:
    """Let an adopted process become git; return when, on the monotonic clock, and its processor time before that."""
    _await_sleep(adopted.pid)
    used_s, now_s = processor_time_s(adopted.pid) or 0.0, time.monotonic()
    # somebody may have ended it
    with contextlib.suppress(BrokenPipeError):
        os.write(pipe_of(adopted.stdin).fileno(), b"\n")
    return now_s, used_s


def _await_sleep(pid: int) -> None:
    """Wait for a process to wait, a hundredth of a second at most: what a running one has used is not known exactly."""
    for _ in range(_LOOK_COUNT):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
        except OSError:
            return
        if state == _ASLEEP:
            return
        time.sleep(_LOOK_PAUSE_S)


def _adopt(is_wanted: bool) -> bool:
    # here: no other call of git needs it, and it takes time to load
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(is_wanted), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
