"""The calls of git that one fetch consists of: their bounds, and a record of each."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitOutput, GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.maintenance.fetching.arrivals import file_time_ns
from gitdash.maintenance.processes import WrittenFiles, written_by_group
from gitdash.model.ledger import RecordedCommand
from gitdash.units import printable

GRACE_S: Final = 30.0
"""How long git may take to remove its locks and its temporary pack after SIGTERM, before it is killed."""
_STDERR_LIMIT: Final = 4096


@dataclass(slots=True, kw_only=True)
class FetchSession:
    """What one fetch has run, and what time it has left."""

    program: GitProgram
    now_s: float
    """Seconds since the epoch, when it began."""
    time_limit_s: float
    cancel: threading.Event | None
    on_output: Callable[[GitOutput], None] | None = None
    """Hears what each call that ended by itself said and took."""
    began_s: float = field(default_factory=time.monotonic)
    began_ns: int = field(default_factory=file_time_ns)
    """The same by the clock of file times."""
    commands: list[RecordedCommand] = field(default_factory=list)
    written_when_stopped: list[WrittenFiles] = field(default_factory=list)
    """What gits had open for writing when they were told to end."""

    @property
    def elapsed_s(self) -> float:
        """Time since it began."""
        return time.monotonic() - self.began_s

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody wants it to end."""
        return self.cancel is not None and self.cancel.is_set()

    def run(  # noqa: PLR0913 - what differs between the calls
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        config: Sequence[tuple[str, str]] = (),
        stdin: bytes = b"",
        on_stderr: Callable[[bytes], None] | None = None,
        for_fetch: bool = True,
        check: bool = True,
    ) -> GitOutput:
        """Run git within the time that is left, and take it down, however it ends. Raises GitError."""
        began_s = time.monotonic()
        try:
            output = run_git(
                self.program,
                arguments,
                environment=environment,
                config=config,
                for_fetch=for_fetch,
                stdin=stdin,
                on_stderr=on_stderr,
                before_stop=lambda group: self.written_when_stopped.append(written_by_group(group)),
                time_limit_s=max(0.01, self.time_limit_s - self.elapsed_s),
                cancel=self.cancel,
                grace_s=GRACE_S,
                check=check,
            )
        except GitError as error:
            ending = None if error.kind is GitFailure.FAILED else error.kind.value
            self._take_down(began_s, error.argv, error.exit_code, ending, error.stderr)
            raise
        self._take_down(began_s, output.argv, output.exit_code, None, output.stderr)
        if self.on_output is not None:
            self.on_output(output)
        return output

    def ask(self, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
        """Run git and return what it says on stdout; bytes that are not UTF-8 are surrogates. Raises GitError."""
        return self.run(arguments, environment=environment).stdout.decode("utf-8", "surrogateescape")

    def _take_down(
        self, began_s: float, argv: Sequence[str], exit_code: int | None, ending: str | None, stderr: str
    ) -> None:
        # of progress only what stands in the end: each state of it overwrites the one before
        lines = (line.rstrip("\r").rpartition("\r")[2] for line in stderr.rstrip("\n").split("\n"))
        said = "\n".join(map(printable, lines))
        self.commands.append(
            RecordedCommand(
                argv=tuple(map(printable, argv)),
                started_at_s=self.now_s + (began_s - self.began_s),
                elapsed_s=time.monotonic() - began_s,
                exit_code=exit_code,
                ending=ending,
                stderr=said[-_STDERR_LIMIT:],
            )
        )
