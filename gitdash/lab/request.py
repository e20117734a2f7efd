"""What is asked of an experiment, by either front end."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.lab.variant import Limits
from gitdash.model.experiment import ExperimentRun
from gitdash.model.report import RepositoryReport


class ExperimentError(GitdashError):
    """An experiment cannot be made here; the text is one sentence for people."""


@contextlib.contextmanager
def for_people(what_failed: str) -> Iterator[None]:
    """Raise ExperimentError for what the system refuses, as it does without room: what failed, and why."""
    try:
        yield
    except OSError as error:
        raise ExperimentError(f"{what_failed}: {error.strerror}") from error


class NoSuchChoiceError(ExperimentError):
    """What was chosen does not exist, whatever the repository: wrong use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRequest:
    """One experiment on one repository."""

    report: RepositoryReport
    """Made moments ago."""
    program: GitProgram
    clock: Callable[[], float]
    """Seconds since the epoch."""
    registry_dir: bytes
    """A folder of our own that outlives us, such as one beside the state file; made if it is not there. Here stands
    which throw-away copies there are, so that those of a killed gitdash are found again."""
    limits: Limits = field(default_factory=Limits)
    is_cold: bool = False
    """Whether files are to be driven out of memory before each run."""
    chosen: tuple[str, ...] = ()
    """Names of variants; empty for all."""
    cancel: threading.Event = field(default_factory=threading.Event)
    on_run: Callable[[ExperimentRun], None] = lambda _: None
    """Hears each run when it is over, warm-ups (number 0) included, in the thread that runs them."""
    on_discard: Callable[[], None] = lambda: None
    """Hears that all runs so far count for nothing: the repository has changed."""
    on_step: Callable[[str], None] = lambda _: None
    """Hears what takes long before the first run, such as the repack of a copy: a few words."""
    asked_s: float = field(default_factory=time.monotonic)
    """When it was asked for, on the monotonic clock."""
    options: Mapping[str, object] = field(default_factory=dict)
    """What one experiment alone knows, such as `curve`."""
