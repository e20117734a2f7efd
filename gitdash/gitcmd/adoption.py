"""Makes git our child although a shell has forked it: then the kernel's peak of its memory is its own.

Linux counts the memory of whoever forked a process to its peak, until execve(2) and for ever after (`exec_mmap` in
fs/exec.c), also for vfork(2) and posix_spawn(3): a git of 4 MB that was started by 200 MB of Python is said to have had
200. So a shell of 2 MB forks it, says its number on git's stdout, and ends. In this moment the kernel gives us the
orphans among our descendants (PR_SET_CHILD_SUBREAPER, prctl(2)): so wait4(2) tells us, and nobody else, what git and
those whom it waited for have used. Group and session are those that the shell had; their number stays taken while one
of their processes is not reaped.

It costs about a millisecond, so it is for runs that are measured. It starts nothing itself.
"""

import contextlib
import errno
import os
import threading
from collections.abc import Iterator
from typing import Final

from gitdash.gitcmd.children import Child, pipe_of

LAUNCHER: Final = (
    "/bin/sh",
    "-c",
    'ulimit -d "$0" 2>/dev/null || :; exec 3<&0;'
    ' (read -r number rest </proc/self/stat && echo "$number" && exec "$@") <&3 3<&- &',
)
"""`$0` is the limit of data in KiB. A shell gives nothing to read to what it does not wait for, hence descriptor 3."""
_SET_CHILD_SUBREAPER: Final = 36
"""prctl(2)"""
_LONGEST_NUMBER: Final = 20

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

    Raises OSError if it has started nothing.
    """
    group, said, line = launcher.pid, pipe_of(launcher.stdout).fileno(), b""
    # byte by byte: what follows the line is git's
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


def _adopt(is_wanted: bool) -> bool:
    # here: no other call of git needs it, and it takes time to load
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(is_wanted), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
