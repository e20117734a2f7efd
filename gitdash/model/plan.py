"""Plans: what would be done to a repository, why, what it is good for, and why some of it will not be done."""

import msgspec

from gitdash.model.task import Task


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason not to do something."""

    rule: str
    """Kebab case, such as `lender-missing`."""
    reason: str
    """One clause with the evidence. Printable."""


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
    """How a POSIX shell does the act; None where `arguments` say it, or where no shell should."""
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


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What would be done to one repository, in order."""

    path: bytes
    common_dir: bytes = b""
    """Where git is called: objects and references lie below."""
    tasks: tuple[PlannedTask, ...]
    refusals: tuple[Refusal, ...] = ()
    """Reasons that hold for all tasks; each task repeats those that hold for it."""

    @property
    def runnable(self) -> tuple[PlannedTask, ...]:
        """The tasks that nothing speaks against."""
        return tuple(task for task in self.tasks if not task.refusals)
