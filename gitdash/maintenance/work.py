"""One task under way: what its steps need, what they ran, removed and noted, and how they stop it.

Holds what one call of `running.run_task` gathers; its steps, git's and gitdash's own, get it as their one argument.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitOutput, GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.history.records import Loan
from gitdash.inspection.alternates import inspect_alternates
from gitdash.inspection.reading import Problems
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.processes import WrittenFiles, written_by_group
from gitdash.model.inspection import Alternate, AlternatesFacts, Inspection
from gitdash.model.ledger import Outcome, Reason, RecordedCommand
from gitdash.model.policy import Policy
from gitdash.model.progress import CommandProgress
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.measurement.stores import StoreObjects

GRACE_S: Final = 30.0
"""How long git may take to remove its locks and temporary packs after SIGTERM, before it is killed."""
STDERR_LIMIT_BYTES: Final = 4096
STDOUT_LIMIT_BYTES: Final = 1 << 30
"""A list of all objects of a large store."""


class TaskStoppedError(GitdashError):
    """A step of gitdash's own ends its task."""

    def __init__(self, outcome: Outcome, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.reason = reason


def refused(sentence: str) -> TaskStoppedError:
    """Return the error of a step that will not do what is asked."""
    return TaskStoppedError(Outcome.REFUSED, Reason.REFUSED, sentence)


def corrupt(sentence: str) -> TaskStoppedError:
    """Return the error of a step that found damage."""
    return TaskStoppedError(Outcome.FAILED, Reason.CORRUPT, sentence)


@dataclass(slots=True, kw_only=True)
class Work:
    """One task under way."""

    report: RepositoryReport
    """As read under the lock."""
    program: GitProgram
    cancel: threading.Event
    time_limit_s: float
    """Of each command."""
    started_at_s: float
    """Seconds since the epoch."""
    on_progress: Callable[[CommandProgress], None] | None = None
    """Hears how far each command is."""
    confirmed_name: bytes | None = None
    """What a person typed to confirm a task that drops objects."""
    loans: Sequence[Loan] = ()
    """What others borrowed from the repository when they were last seen."""
    searched: tuple[bytes, ...] = ()
    """Folders below which others that may need its objects were looked for."""
    policy: Policy | None = None
    """From which age on files are stale; None for the default."""
    began_s: float = field(default_factory=time.monotonic)
    commands: list[RecordedCommand] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    """Files that gitdash itself removed, relative to the common directory. Printable."""
    task: Task | None = None
    """None until it has been judged."""
    facts: ActionFacts | None = None
    """By which it was judged; None until then."""
    links: frozenset[str] | None = None
    """Symbolic links at git's names when it began; None where nothing is written. Printable."""
    has_left_lenders: bool = False
    """A step has set the alternates file aside."""
    lent_ids: list[str] = field(default_factory=list)
    """Own objects that were shown to be whole in a lender, and reachable there; in hexadecimal."""
    objects_before: "StoreObjects | None" = None
    """What RECLAIM found; None for other tasks."""
    written_when_stopped: list[WrittenFiles] = field(default_factory=list)
    """What gits had open for writing when they were told to end."""
    notes: list[str] = field(default_factory=list)
    """What should be said besides how it ended. Printable."""

    @property
    def now_s(self) -> float:
        """Seconds since the epoch, from the moment of the start on."""
        return self.started_at_s + time.monotonic() - self.began_s

    @property
    def inspection(self) -> Inspection:
        """What the files say. Raises TaskStoppedError if they could not be read."""
        if not isinstance(self.report.inspection, Inspection):
            raise TaskStoppedError(Outcome.FAILED, Reason.OTHER, self.report.inspection.reason)
        return self.report.inspection

    @property
    def objects_dir(self) -> bytes:
        """The real path of the object store."""
        return objects_dir_of(self.report)

    @property
    def lenders(self) -> tuple[Alternate, ...]:
        """All object stores that are borrowed from, chains included."""
        return self.inspection.alternate_stores

    def refuse_if_lenders_changed(self) -> None:
        """Raise TaskStoppedError if the lenders are not those of the report; each step may be judged by them.

        Somebody may write an alternates file at any moment: there is no lock for that which all heed.
        """
        if not isinstance(self.report.inspection, Inspection):
            return
        known = None if self.has_left_lenders else self.report.inspection.alternates
        if _stores(inspect_alternates(self.objects_dir, Problems())) != _stores(known):
            raise refused("its alternates changed while it was worked on; run it again")

    def refuse_if_cancelled(self) -> None:
        """Raise TaskStoppedError if the task was cancelled: for acts of gitdash's own."""
        if self.cancel.is_set():
            raise TaskStoppedError(Outcome.CANCELLED, Reason.CANCELLED, "cancelled")

    def git(
        self,
        arguments: Sequence[str | bytes],
        *,
        git_dir: bytes | None = None,
        environment: dict[str, str] | None = None,
        config: Sequence[tuple[str, str]] = (),
        stdin: bytes = b"",
    ) -> GitOutput:
        """Run git, in the repository itself unless told where, and keep a record of it. Raises GitError."""
        at_s, started_s = self.now_s, time.monotonic()
        if git_dir is None and environment is None:
            git_dir = self.report.repository.common_dir
        try:
            output = run_git(
                self.program,
                arguments,
                git_dir=git_dir,
                environment=environment,
                config=config,
                stdin=stdin,
                on_progress=self.on_progress,
                before_stop=lambda group: self.written_when_stopped.append(written_by_group(group)),
                time_limit_s=self.time_limit_s,
                cancel=self.cancel,
                stdout_limit_bytes=STDOUT_LIMIT_BYTES,
                grace_s=GRACE_S,
            )
        except GitError as error:
            self._record(error, at_s, time.monotonic() - started_s)
            raise
        self.commands.append(
            RecordedCommand(
                argv=tuple(map(printable, output.argv)),
                started_at_s=at_s,
                elapsed_s=output.elapsed_s,
                exit_code=output.exit_code,
                stderr=_bounded(output.stderr),
            )
        )
        return output

    def _record(self, error: GitError, at_s: float, elapsed_s: float) -> None:
        code = error.exit_code
        is_ordinary = code is not None and code >= 0
        self.commands.append(
            RecordedCommand(
                argv=tuple(map(printable, error.argv)),
                started_at_s=at_s,
                elapsed_s=elapsed_s,
                exit_code=code if is_ordinary else None,
                ending=None if is_ordinary else error.kind.value,
                stderr=_bounded(error.stderr),
            )
        )


def _stores(alternates: AlternatesFacts | Unreadable | None) -> tuple[object, ...] | None:
    """Return what tells lenders apart; None where that is not known."""
    if isinstance(alternates, Unreadable):
        return None
    found = alternates.alternates if alternates is not None else ()
    return tuple((store.path, store.device, store.inode) for store in found)


def objects_dir_of(report: RepositoryReport) -> bytes:
    """Return the real path of a repository's object store, as far as it could be read."""
    store = report.inspection.object_store if isinstance(report.inspection, Inspection) else None
    path = getattr(store, "path", None)
    return path if isinstance(path, bytes) else report.repository.common_dir + b"/objects"


def _bounded(stderr: str) -> str:
    text = "\n".join(map(printable, stderr.strip("\n").split("\n")))
    # what a command died of stands at the end
    return text.encode()[-STDERR_LIMIT_BYTES:].decode(errors="ignore")
