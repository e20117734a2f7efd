"""The plans of some repositories, which of their tasks are marked, and what has yet to be asked for. Pure.

Plans are asked for a few at a time, so that leaving ends the making of most of them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import msgspec

from gitdash.model.plan import Plan, PlannedTask, Refusal
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task

AT_ONCE: Final = 8
"""Plans that are asked for and not made yet, at most."""
_READ_ONLY_RULE: Final = "read-only-mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the totals say."""

    marked_count: int
    """Tasks."""
    repository_count: int
    """Those with a marked task."""
    refused_count: int
    """Tasks."""
    needed_bytes: int
    """The most free space that one marked task needs."""


@dataclass(frozen=True, slots=True)
class Request:
    """Plans to ask for."""

    paths: tuple[bytes, ...]
    tasks: tuple[Task, ...] | None
    """None: from the findings."""


class PlanBook:
    """Plans by repository."""

    def __init__(self, paths: Iterable[bytes], *, is_read_only: bool = False) -> None:
        """`is_read_only` says that all is shown that could be done, but for that: it can still become a script."""
        self.paths = list(dict.fromkeys(paths))
        self._known = {*self.paths}
        self._is_read_only = is_read_only
        self.plans: dict[bytes, Plan | Unreadable] = {}
        self._left_out: dict[bytes, frozenset[Task]] = {}
        """Tasks that a person has unmarked."""
        self._wanted: dict[bytes, tuple[Task, ...]] = {}
        """Where a person has added a task: all tasks."""
        self._waiting = dict.fromkeys(self.paths)
        """A set in the order of asking."""
        self._open: set[bytes] = set()

    @property
    def made_count(self) -> int:
        """How many plans are as they were asked for last."""
        return len(self.paths) - len(self._waiting) - len(self._open - self._waiting.keys())

    @property
    def is_complete(self) -> bool:
        """Whether no plan is being made."""
        return not self._waiting and not self._open

    def requests(self) -> list[Request]:
        """Return what is to be asked for now."""
        paths = list(islice((path for path in self._waiting if path not in self._open), AT_ONCE - len(self._open)))
        by_tasks: dict[tuple[Task, ...] | None, list[bytes]] = {}
        for path in paths:
            del self._waiting[path]
            self._open.add(path)
            by_tasks.setdefault(self._wanted.get(path), []).append(path)
        return [Request(tuple(its), tasks) for tasks, its in by_tasks.items()]

    def take(self, path: bytes, answer: Plan | Unreadable) -> bool:
        """Take a plan; returns False if it is of another repository.

        One that nobody waits for was asked for before by a screen that is gone: the newest is the best there is.
        """
        if path not in self._known:
            return False
        self._open.discard(path)
        if isinstance(answer, Plan):
            former = self.plans.get(path) if path in self._wanted else None
            answer = answer.with_reasons_of(former) if isinstance(former, Plan) else answer
            answer = without_refusal(answer, _READ_ONLY_RULE) if self._is_read_only else answer
        self.plans[path] = answer
        return True

    def forget(self, paths: Iterable[bytes]) -> bool:
        """Forget repositories that are gone; returns whether one of these was among them."""
        gone = self._known.intersection(paths)
        self._known -= gone
        for path in gone:
            self.paths.remove(path)
            self.plans.pop(path, None)
            self._open.discard(path)
            self._waiting.pop(path, None)
        return bool(gone)

    def again(self) -> None:
        """Have all plans made anew; those that there are stay until then."""
        self._waiting = dict.fromkeys(self.paths)

    def add(self, path: bytes, task: Task) -> bool:
        """Have the plan of a repository made anew with one task more; returns False if it has that, or is not made."""
        plan = self.plans.get(path)
        tasks = self._wanted.get(path) or (
            tuple(planned.task for planned in plan.tasks) if isinstance(plan, Plan) else ()
        )
        if not isinstance(plan, Plan) or task in tasks:
            return False
        self._wanted[path] = (*tasks, task)
        self._waiting[path] = None
        return True

    def is_being_made(self, path: bytes) -> bool:
        """Tell whether another plan of a repository has been asked for."""
        return path in self._open or path in self._waiting

    def tasks_of(self, path: bytes) -> tuple[PlannedTask, ...]:
        """Return the tasks of a plan; none if there is none yet."""
        plan = self.plans.get(path)
        return plan.tasks if isinstance(plan, Plan) else ()

    def planned(self, path: bytes, task: Task) -> PlannedTask | None:
        """Return one task of a plan."""
        return next((planned for planned in self.tasks_of(path) if planned.task is task), None)

    def left_out(self, path: bytes) -> frozenset[Task]:
        """Return the tasks that a person has unmarked."""
        return self._left_out.get(path, frozenset())

    def marked(self, path: bytes) -> tuple[PlannedTask, ...]:
        """Return the tasks that would be run: nothing speaks against them, and nobody has unmarked them."""
        left_out = self.left_out(path)
        return tuple(task for task in self.tasks_of(path) if not task.refusals and task.task not in left_out)

    def toggle(self, path: bytes, task: Task) -> None:
        """Mark or unmark a task; one that is refused is never marked."""
        self._left_out[path] = self.left_out(path) ^ {task}

    def toggle_all(self, path: bytes) -> None:
        """Mark all tasks of a repository; unmark them if all are marked already."""
        runnable = {task.task for task in self.tasks_of(path) if not task.refusals}
        has_unmarked = bool(runnable & self.left_out(path))
        self._left_out[path] = self.left_out(path) - runnable if has_unmarked else self.left_out(path) | runnable

    def counts(self) -> Counts:
        """Return the sums over all plans."""
        marked = [self.marked(path) for path in self.paths]
        return Counts(
            marked_count=sum(map(len, marked)),
            repository_count=sum(map(bool, marked)),
            refused_count=sum(bool(task.refusals) for path in self.paths for task in self.tasks_of(path)),
            needed_bytes=max((task.needed_bytes for tasks in marked for task in tasks), default=0),
        )

    def marked_plans(self) -> list[Plan]:
        """Return the plans with their marked tasks alone; a plan without one is left out."""
        return [only(plan, self.marked(path)) for path, plan in self._made() if self.marked(path)]

    def script_plans(self) -> list[Plan]:
        """Return the plans with what is marked and, as a script has it in comments, what is refused."""
        kept = [
            (plan, [task for task in plan.tasks if task.refusals or task in self.marked(path)])
            for path, plan in self._made()
        ]
        return [only(plan, tasks) for plan, tasks in kept if tasks]

    def _made(self) -> Iterator[tuple[bytes, Plan]]:
        for path in self.paths:
            plan = self.plans.get(path)
            if isinstance(plan, Plan):
                yield path, plan


def only(plan: Plan, tasks: Collection[PlannedTask]) -> Plan:
    """Return a plan with some of its tasks alone."""
    return msgspec.structs.replace(plan, tasks=tuple(tasks))


def without_refusal(plan: Plan, rule: str) -> Plan:
    """Return a plan as if one rule did not speak against anything."""

    def others(refusals: Sequence[Refusal]) -> tuple[Refusal, ...]:
        return tuple(refusal for refusal in refusals if refusal.rule != rule)

    tasks = tuple(msgspec.structs.replace(task, refusals=others(task.refusals)) for task in plan.tasks)
    return msgspec.structs.replace(plan, tasks=tasks, refusals=others(plan.refusals))
