"""Single objects through a persistent `git cat-file --batch-check`, the door to GitPython.

GitPython has no time limits, copies the environment, expands `$HOME` in paths, and takes ids of other lengths than 40
for an error. So it starts the process and no more: with an environment of our own, in a shadow git directory, in a
process group that a deadline and `stop_everything` can end; the one line that git answers is read here, for sha1 and
sha256, whatever stores the references. Source: git-cat-file(1) "BATCH OUTPUT", GitPython 3.2.1 `cmd.py`.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gitdash.gitcmd import groups
from gitdash.gitcmd.environment import config_arguments, git_environment
from gitdash.gitcmd.runner import WATCHDOG, GitError, GitFailure, GitProgram, find_git
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.model.inspection import ObjectFormat

if TYPE_CHECKING:
    from git.cmd import Git

_FORMATS: Final = {40: ObjectFormat.SHA1, 64: ObjectFormat.SHA256}
_COUNT: Final = 7
"""Look-ups of which the median is taken."""
_PIPE: Final = -1
"""What `Popen` calls PIPE."""
_GRACE_S: Final = 0.2
"""A reader holds no locks."""
_START: Final = ("/bin/sh", "-c", 'ulimit -d "$0" 2>/dev/null || :; exec "$@" 2>/dev/null')
"""As in `runner`; nobody reads stderr, and 20,000 lines of it would fill the pipe and stop git."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """How long one object takes to be found in a repository, by a reader that did not know it before."""

    first_s: float
    """The first object: packs and indexes are opened."""
    warm_s: float
    """The same object again; a median."""
    missing_s: float
    """An object that does not exist: git looks everywhere, twice; a median."""


class ObjectReader:
    """A running `cat-file --batch-check`. Not for two threads at once; made by `open_reader`."""

    __slots__ = ("_deadline_s", "_group", "_stdin", "_stdout")

    def __init__(self, process: "Git.AutoInterrupt", group: groups.ProcessGroup, deadline_s: float) -> None:
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._group = group
        self._deadline_s = deadline_s

    @property
    def pid(self) -> int:
        """The process id."""
        return self._group.pid

    def has(self, object_id: str) -> bool:
        """Whether the repository has this object. Raises GitError when git ended or was ended."""
        line = b""
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write(object_id.encode("ascii") + b"\n")
            self._stdin.flush()
            line = self._stdout.readline()
        if not line.endswith(b"\n"):
            raise self._end()
        return not line.endswith(b" missing\n")

    def _end(self) -> GitError:
        if self._group.stopped:
            return GitError("git cat-file was cancelled", kind=GitFailure.CANCELLED)
        if time.monotonic() >= self._deadline_s:
            return GitError("git cat-file did not answer in time", kind=GitFailure.TIMED_OUT)
        return GitError("git cat-file ended without an answer", kind=GitFailure.FAILED)


@contextlib.contextmanager
def open_reader(
    program: GitProgram, objects_dir: bytes, object_format: ObjectFormat, *, time_limit_s: float
) -> Iterator[ObjectReader]:
    """Open a reader of one object store for at most `time_limit_s`. Raises GitError if git cannot be started."""
    with shadow_git_dir(object_format=object_format, objects_dir=objects_dir) as shadow:
        deadline_s = time.monotonic() + time_limit_s
        WATCHDOG.prepare()
        process = _start_process(program, git_environment(os.environ) | shadow.environment)
        group = groups.ProcessGroup(process.pid, WATCHDOG)
        timer = threading.Timer(time_limit_s, group.signal, [signal.SIGKILL])
        timer.daemon = True
        timer.start()
        try:
            yield ObjectReader(process, group, deadline_s)
        finally:
            timer.cancel()
            group.end(_GRACE_S)
            with contextlib.suppress(OSError):
                process._terminate()


def measure_lookups(
    git_dir: bytes, object_id: str, *, time_limit_s: float, program: GitProgram | None = None
) -> Lookups:
    """Return how long look-ups take through a fresh reader of `git_dir`, where `objects` lies.

    `object_id` is the full id of an object that is there, best a branch tip; starting git is not counted.
    Raises GitError.
    """
    object_format = _FORMATS.get(len(object_id))
    if object_format is None:
        raise GitError("an object id has 40 or 64 digits", kind=GitFailure.REFUSED)
    with open_reader(
        program or find_git(), os.path.join(git_dir, b"objects"), object_format, time_limit_s=time_limit_s
    ) as reader:
        # git knows that no object has this id and opens nothing: when the answer comes, the process is up.
        reader.has("0" * len(object_id))
        first_s, found = _timed(reader, object_id)
        if not found:
            raise GitError("the object to look up is missing", kind=GitFailure.FAILED)
        warm_s = sorted(_timed(reader, object_id)[0] for _ in range(_COUNT))[_COUNT // 2]
        missing_s = sorted(_timed(reader, absent)[0] for absent in _absent_ids(len(object_id)))[_COUNT // 2]
    return Lookups(first_s=first_s, warm_s=warm_s, missing_s=missing_s)


def _timed(reader: ObjectReader, object_id: str) -> tuple[float, bool]:
    started_s = time.perf_counter()
    found = reader.has(object_id)
    return time.perf_counter() - started_s, found


def _absent_ids(length: int) -> list[str]:
    """Ids that nobody has, spread over the fan-out folders."""
    return [f"{number * 37:02x}".ljust(length, "d") for number in range(_COUNT)]


def _start_process(program: GitProgram, environment: dict[str, str]) -> "Git.AutoInterrupt":
    git_class = _load_gitpython()
    command = [
        # GitPython adds to the environment that we inherited, and cannot take from it.
        *("/usr/bin/env", "-i", *(f"{name}={value}" for name, value in environment.items())),
        *(*_START, str(program.memory_limit_bytes // 1024)),
        *(program.path, *config_arguments(), "cat-file", "--batch-check"),
    ]
    try:
        return git_class("/").execute(command, as_process=True, istream=_PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        raise GitError(f"git cat-file could not be started: {error}", kind=GitFailure.REFUSED) from error


def _load_gitpython() -> type["Git"]:
    """Import GitPython. It would look for a git at once and run it in our environment: it is given none that runs."""
    ours = {"GIT_PYTHON_GIT_EXECUTABLE": os.devnull, "GIT_PYTHON_REFRESH": "quiet"}
    inherited = {name: os.environ[name] for name in ours if name in os.environ}
    os.environ.update(ours)
    try:
        from git.cmd import Git
    finally:
        for name in ours:
            del os.environ[name]
        os.environ.update(inherited)
    return Git
