"""Plans: what would be done to a repository, why, what it is good for, and why some of it will not be done."""

from typing import Final

import msgspec

from gitdash.model.finding import Severity
from gitdash.model.task import Task

_NO_NEED: Final = frozenset({"nothing-to-do", "no-lender"})
_FOR_NOW: Final = frozenset({"maintenance-locked", "gc-running", "live-lock"})


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason not to do something."""

    rule: str
    """Kebab case, such as `lender-missing`."""
    reason: str
    """One clause with the evidence. Printable."""

    @property
    def is_no_need(self) -> bool:
        """Whether it says that there is nothing for the task to do, which is no danger and no failure."""
        return self.rule in _NO_NEED

    @property
    def is_for_now(self) -> bool:
        """Whether another process is at work there, after which nothing may speak against it any more."""
        return self.rule in _FOR_NOW


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One git command of a task, or one act of gitdash's own."""

    does: str
    """A few words, such as `write the multi-pack-index`."""
    arguments: tuple[str, ...] = ()
    """Of git, from the subcommand on; empty for an act of gitdash's own."""
    config: tuple[tuple[str, str], ...] = ()
    """Pairs for `-c`, besides those of every call."""
    stdin: str = ""
    """What git reads."""
    replaces_packs: bool = False
    """Packs may be deleted or replaced: readers are closed before and warmed after."""
    act: str | None = None
    """Name of the act where it is gitdash's own, such as `remove-orphan-indexes`."""
    shell: str | None = None
    """How a POSIX shell does the act; None where `arguments` say it, or where no shell should.

    A NUL stands where git is called, see `maintenance.steps.in_shell`.
    """
    recovery: tuple["Step", ...] = ()
    """If it fails, these are done and it is tried once more."""


class PlannedTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a plan."""

    task: Task
    because: tuple[str, ...]
    """Why, one clause each: summaries of findings, or `asked for`. Printable."""
    steps: tuple[Step, ...]
    """In order. A task stops at the first that fails."""
    gain: str
    """What is expected of it, with numbers where they are known. Printable."""
    needed_bytes: int = 0
    """Free space that it needs on the volume of the object store."""
    refusals: tuple[Refusal, ...] = ()
    """If there is one, the task is not run."""
    notes: tuple[str, ...] = ()
    """What should be known before it is run, such as what `git maintenance is-needed` says. Printable."""

    @property
    def is_needless(self) -> bool:
        """Whether it is not run only because there is nothing for it to do."""
        return bool(self.refusals) and all(refusal.is_no_need for refusal in self.refusals)

    @property
    def is_skipped(self) -> bool:
        """Whether it is not run only because another process is at work there: that is written down as a run."""
        is_passing = all(refusal.is_no_need or refusal.is_for_now for refusal in self.refusals)
        return bool(self.refusals) and is_passing and not self.is_needless


class Unmended(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a repository and stays so, for no task mends it."""

    rule: str
    """Of the finding, in kebab case."""
    severity: Severity
    summary: str
    """Printable."""
    remedy: str
    """What a person can do. Printable."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What would be done to one repository, in order."""

    path: bytes
    common_dir: bytes = b""
    """Where git is called: objects and references lie below."""
    tasks: tuple[PlannedTask, ...]
    refusals: tuple[Refusal, ...] = ()
    """Reasons that hold for all tasks; each task repeats those that hold for it."""
    unmended: tuple[Unmended, ...] = ()
    """Of a plan from findings: those that no task mends, the worst first; plain facts aside."""

    def with_reasons_of(self, former: "Plan") -> "Plan":
        """Return this plan with its tasks there for the reasons for which they are in a former one."""
        reasons = {task.task: task.because for task in former.tasks}
        tasks = (msgspec.structs.replace(task, because=reasons.get(task.task, task.because)) for task in self.tasks)
        return msgspec.structs.replace(self, tasks=tuple(tasks))

    @property
    def runnable(self) -> tuple[PlannedTask, ...]:
        """The tasks that nothing speaks against."""
        return tuple(task for task in self.tasks if not task.refusals)

    @property
    def is_refused(self) -> bool:
        """Whether something would be done, or could be, and is not for safety."""
        if not self.tasks:
            return bool(self.refusals)
        return any(task.refusals and not task.is_needless for task in self.tasks)

    @property
    def is_skipped(self) -> bool:
        """Whether something would be done, and is not only because another process is at work there."""
        if not self.tasks:
            return bool(self.refusals) and all(refusal.is_for_now for refusal in self.refusals)
        return any(task.is_skipped for task in self.tasks)
