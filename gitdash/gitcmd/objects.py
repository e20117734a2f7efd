"""Single objects through a persistent `git cat-file --batch-check`, the door to GitPython.

GitPython has no time limits, copies the environment, expands `$HOME` in paths, and takes ids of other lengths than 40
for an error. So it starts the process and no more: with an environment of our own, in a shadow git directory, in a
process group that a deadline and `stop_everything` can end; the one line that git answers is read here, for sha1 and
sha256, whatever stores the references. What reaches git are hexadecimal digits: a name, a space or a line feed would
be another question. Source: git-cat-file(1) "BATCH OUTPUT", gitrevisions(7) `<sha1>`, GitPython 3.2.1 `cmd.py`.

stderr is not read, so an object that is damaged is missing here.
"""

import contextlib
import os
import re
import select
import signal
import time
from typing import TYPE_CHECKING, Final, Self

from gitdash.gitcmd import groups
from gitdash.gitcmd.command_log import COMMAND_LOG
from gitdash.gitcmd.environment import config_arguments, git_environment
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.gitpython import load_git_class
from gitdash.gitcmd.runner import WATCHDOG
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.model.inspection import ObjectFormat
from gitdash.model.lookup import ObjectAnswer
from gitdash.units import printable

if TYPE_CHECKING:
    from git.cmd import Git

PLAIN: Final = "--batch-check"
"""Name, type and size: what git itself needs of an object it looks up."""
DETAILED: Final = "--batch-check=%(objectname) %(objecttype) %(objectsize) %(objectsize:disk) %(deltabase)"
"""The last two need the order of objects in the pack: where it has no `.rev`, git first sorts all of them."""

DIGITS: Final = {ObjectFormat.SHA1: 40, ObjectFormat.SHA256: 64}
"""Hexadecimal digits of a full id."""
_PREFIX: Final = re.compile(r"[0-9a-fA-F]{4,64}")
"""git takes fewer than four digits for no id (MINIMUM_ABBREV)."""
_ANSWER: Final = re.compile(rb"([0-9a-f]{40,64}) (commit|tree|blob|tag) ([0-9]+) ([0-9]+) ([0-9a-f]{40,64})\n")
_ASKED_SHOWN: Final = 100
"""Characters of what was typed."""

_PIPE: Final = -1
"""What `Popen` calls PIPE."""
_LINE_BYTES: Final = 4096
"""More than any answer."""
_GRACE_S: Final = 0.2
"""A reader holds no locks."""
_START: Final = ("/bin/sh", "-c", 'ulimit -d "$0" 2>/dev/null || :; exec "$@" 2>/dev/null')
"""As in `runner`; nobody reads stderr, and 20,000 lines of it would fill the pipe and stop git."""


class ObjectReader:
    """A running `cat-file`. One thread asks at a time; `interrupt` is for any. Made by `open_reader`, to be closed."""

    def __init__(
        self,
        process: "Git.AutoInterrupt",
        *,
        option: str,
        time_limit_s: float,
        digits: int,
        command: tuple[str, ...],
        resources: contextlib.ExitStack,
    ) -> None:
        self.command = command
        """What was started, variables first, as a shell takes them."""
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._group = groups.ProcessGroup(process.pid, WATCHDOG)
        self._number = COMMAND_LOG.begin(("git", "cat-file", option))
        self._time_limit_s = time_limit_s
        self._digits = digits
        self._resources = resources
        self._ending: str | None = None
        self._is_usable = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._group.pid

    def has(self, object_id: str, *, deadline_s: float | None = None) -> bool:
        """Whether the repository has this object. Raises GitError when git ended or was ended."""
        return not self._ask(object_id, deadline_s).endswith(b" missing\n")

    def look_up(self, id_or_prefix: str, *, deadline_s: float | None = None) -> ObjectAnswer:
        """Return what git says of an object, of which any four digits or more are enough; for a DETAILED reader.

        `deadline_s` is on the monotonic clock; None for the reader's own time limit. What is no id does not reach git.
        Raises GitError when git ended or was ended.
        """
        problem = id_problem(id_or_prefix, self._digits)
        if problem is not None:
            return refused(id_or_prefix, problem)
        asked = id_or_prefix.lower()
        started_s = time.perf_counter()
        line = self._ask(asked, deadline_s)
        return _answer(asked, line, time.perf_counter() - started_s)

    def interrupt(self) -> None:
        """End the process at once: a look-up that another thread waits for fails. It still has to be closed."""
        self._ending = "closed"
        self._group.signal(signal.SIGKILL)

    def close(self) -> None:
        """End the process and let go of all it held; a second call does nothing."""
        self._is_usable = False
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._group.wait(_GRACE_S)
        self._group.end(_GRACE_S)
        exit_code = self._reap()
        self._resources.close()
        ending = "cancelled" if self._group.stopped else self._ending
        COMMAND_LOG.end(self._number, exit_code=exit_code, ending=ending)

    def _reap(self) -> int | None:
        if not self._group.has_ended():
            # it hangs in the kernel: GitPython would wait for it, at the latest when it collects its own object
            self._stdout.close()
            self._process.proc = None
            return None
        with contextlib.suppress(OSError):
            self._process._terminate()
        return self._process.status

    def _ask(self, object_id: str, deadline_s: float | None) -> bytes:
        if deadline_s is None:
            deadline_s = time.monotonic() + self._time_limit_s
        line = b""
        if self._is_usable:
            with contextlib.suppress(OSError, ValueError):
                self._stdin.write(object_id.encode("ascii") + b"\n")
                self._stdin.flush()
                line = self._read_line(deadline_s)
        if not line.endswith(b"\n"):
            raise self._end()
        return line

    def _read_line(self, deadline_s: float) -> bytes:
        """Return one line; less if git ended or does not answer in time."""
        line = b""
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        while not line.endswith(b"\n") and len(line) < _LINE_BYTES:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not poll.poll(left_s * 1000):
                self._ending = self._ending or "timed out"
                break
            chunk = os.read(self._stdout.fileno(), _LINE_BYTES)
            if not chunk:
                break
            line += chunk
        return line

    def _end(self) -> GitError:
        """Give the reader up: an answer that comes later would be taken for that of the next question."""
        self._is_usable = False
        self._group.signal(signal.SIGKILL)
        if self._group.stopped or self._ending == "closed":
            return GitError("git cat-file was cancelled", kind=GitFailure.CANCELLED)
        if self._ending == "timed out":
            return GitError("git cat-file did not answer in time", kind=GitFailure.TIMED_OUT)
        return GitError("git cat-file ended without an answer", kind=GitFailure.FAILED)


def open_reader(
    program: GitProgram,
    objects_dir: bytes,
    object_format: ObjectFormat,
    *,
    time_limit_s: float,
    option: str = PLAIN,
) -> ObjectReader:
    """Start a reader of one object store that answers each question within `time_limit_s`.

    `option` is PLAIN or DETAILED. Raises GitError if git cannot be started, or would wait for something in the store.
    """
    with contextlib.ExitStack() as resources:
        shadow = resources.enter_context(shadow_git_dir(object_format=object_format, objects_dir=objects_dir))
        WATCHDOG.prepare()
        process = _start_process(program, git_environment(os.environ) | shadow.environment, option)
        return ObjectReader(
            process,
            option=option,
            time_limit_s=time_limit_s,
            digits=DIGITS[object_format],
            command=(
                *(f"{name}={value}" for name, value in shadow.environment.items()),
                *_git_command(program, option),
            ),
            resources=resources.pop_all(),
        )


def id_problem(text: str, digits: int) -> str | None:
    """Return why a text cannot be an object id of so many digits, or the beginning of one; None if it can."""
    if _PREFIX.fullmatch(text) and len(text) <= digits:
        return None
    return f"an object id is 4 to {digits} hexadecimal digits"


def refused(id_or_prefix: str, problem: str) -> ObjectAnswer:
    """Return the answer to a question that git was not asked, or did not answer."""
    shown = printable(id_or_prefix[:_ASKED_SHOWN])
    return ObjectAnswer(asked=shown, object_id=None, elapsed_s=0.0, problem=printable(problem))


def _answer(asked: str, line: bytes, elapsed_s: float) -> ObjectAnswer:
    match = _ANSWER.fullmatch(line)
    if match is not None:
        base = match[5].decode("ascii")
        return ObjectAnswer(
            asked=asked,
            object_id=match[1].decode("ascii"),
            type=match[2].decode("ascii"),
            bytes=int(match[3]),
            stored_bytes=int(match[4]),
            delta_base=base if base.strip("0") else None,
            elapsed_s=elapsed_s,
        )
    problem = None
    if line.endswith(b" ambiguous\n"):
        problem = "more than one object begins like this"
    elif not line.endswith(b" missing\n"):
        problem = f"git answered {printable(line.decode('utf-8', 'replace').strip())!r}"
    return ObjectAnswer(asked=asked, object_id=None, elapsed_s=elapsed_s, problem=problem)


def _start_process(program: GitProgram, environment: dict[str, str], option: str) -> "Git.AutoInterrupt":
    git_class = load_git_class()
    command = [
        # GitPython adds to the environment that we inherited, and cannot take from it.
        *("/usr/bin/env", "-i", *(f"{name}={value}" for name, value in environment.items())),
        *(*_START, str(program.memory_limit_bytes // 1024)),
        *_git_command(program, option),
    ]
    try:
        return git_class("/").execute(command, as_process=True, istream=_PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        raise GitError(f"git cat-file could not be started: {error}", kind=GitFailure.NOT_STARTED) from error


def _git_command(program: GitProgram, option: str) -> tuple[str, ...]:
    return program.path, *config_arguments(), "cat-file", option
