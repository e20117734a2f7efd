"""The screen of plans: what maintenance would do to some repositories, to be looked at, changed, run or written down.

Opening it changes nothing: plans are made by the source, a few at a time, and leaving ends that. `running` in
`maintenance` plans once more before it does anything, so a plan that has grown old here harms nothing.
"""

import os
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from typing_extensions import override

from gitdash.assessment.sentences import shell_word
from gitdash.model.finding import Finding
from gitdash.model.plan import Plan
from gitdash.model.task import Task
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.closing import close
from gitdash.tui.confirmation import Confirmation
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.pages.name_screen import NameScreen
from gitdash.tui.plans.book import PlanBook
from gitdash.tui.plans.commands import whole_commands
from gitdash.tui.plans.lines import MARK_CELLS, ItemName, RepositoryPlan
from gitdash.tui.plans.page import PlansPage, head_lines, start_of, title_pieces, totals_line
from gitdash.tui.plans.script_writing import ScriptWriting
from gitdash.tui.plans.task_list import addable_tasks
from gitdash.tui.plans.tasks_screen import TasksScreen
from gitdash.tui.screen import ItemsScreen
from gitdash.tui.source import Changes
from gitdash.units import counted, printable, printable_path

_LONGEST_TYPED: Final = 1_100
"""As long as the name of a folder can be, each of its bytes written as an escape."""


def _outline(plan: Plan) -> tuple[bytes, tuple[Task, ...]]:
    """Return what is asked for by running a plan."""
    return plan.path, tuple(task.task for task in plan.tasks)


class PlansScreen(ItemsScreen):
    """The plans of some repositories."""

    SCOPE = Scope.PLANS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.PLANS)]

    def __init__(self, context: Context, paths: Sequence[bytes], *, finding: Finding | None = None) -> None:
        """The cursor begins on what a finding wants done, if there is one."""
        super().__init__(context)
        self.book = PlanBook(paths, is_read_only=context.read_only)
        self.items = ItemsView(self._page, id="plans")
        self.totals = LinesView(lambda width: [totals_line(self.book.counts(), width)], id="plan-totals")
        self._finding = finding
        self._script = ScriptWriting(self, self.book)
        self._pages = PlansPage()
        self._unfolded: dict[bytes, frozenset[Task]] = {}
        self._begun_on: Hashable | None = None
        """Where the cursor was put; it is put elsewhere until a person has moved it."""
        self._confirmation = Confirmation()
        self._copied: tuple[ItemName, int] | None = None
        """Item and number of the command that was copied last."""

    def on_mount(self) -> None:
        """Ask for the first plans."""
        self._ask()

    @override
    def title_lines(self, width: int) -> Sequence[Line]:
        """Return what is planned for, and how far that is."""
        book = self.book
        what = self.names_of(book.paths) if book.paths else "nothing is left"
        return [title_pieces(what, len(book.paths), book.made_count, width)]

    @override
    def parts(self) -> Iterable[Widget]:
        """Return the plans, and the sums below them."""
        return [self.items, self.totals]

    def _page(self, width: int) -> Page:
        shown = list(self._shown())
        head = head_lines(
            self.context.shown_keys,
            width,
            count=len(shown),
            has_any_task=any(self.book.tasks_of(one.path) for one in shown),
            is_complete=self.book.is_complete,
        )
        page = self._pages.compose(shown, list(head), width)
        if self.items.chosen == self._begun_on:
            self._begun_on = self.items.chosen = start_of(page.names, self._wanted_task())
        return page

    def _shown(self) -> Iterator[RepositoryPlan]:
        book = self.book
        for path in book.paths:
            if path in book.plans:
                yield RepositoryPlan(
                    path=path,
                    name=self.name_of(path),
                    plan=book.plans[path],
                    marked=frozenset(task.task for task in book.marked(path)),
                    unfolded=self._unfolded.get(path, frozenset()),
                    is_being_made=book.is_being_made(path),
                )

    def _wanted_task(self) -> Task | None:
        """Return the task that the finding wants: the one that is planned because of it, or the one that it names."""
        finding = self._finding
        if finding is None:
            return None
        tasks = [task for path in self.book.paths for task in self.book.tasks_of(path)]
        meant = [task.task for task in tasks if finding.summary in task.because]
        return next(iter([*meant, *(task.task for task in tasks if task.task == finding.task)]), None)

    @override
    def show_changes(self, changes: Changes | None) -> None:
        """Take the plans that were made, and ask for more."""
        if changes is None:
            return
        taken = [self.book.take(path, plan) for path, plan in changes.plans.items()]
        if any(taken) | self.book.forget(changes.forgotten):
            self._ask()
            self._renew()

    def _ask(self) -> None:
        for request in self.book.requests():
            self.context.source.request_plans(request.paths, request.tasks)

    def _renew(self) -> None:
        self.title_view.renew()
        self.items.renew()
        self.totals.renew()

    @property
    def item(self) -> ItemName | None:
        """The repository under the cursor, and its task if it is on one; None if there is nothing."""
        return self.items.chosen  # type: ignore[return-value]

    @override
    def current_path(self) -> bytes | None:
        """Return the repository under the cursor."""
        return None if self.item is None else self.item[0]

    def action_toggle_task(self) -> None:
        """Mark or unmark the task, or all tasks of the repository."""
        if self.item is None:
            return
        path, task = self.item
        planned = None if task is None else self.book.planned(path, task)
        if planned is None:
            self.action_toggle_tasks()
        elif planned.refusals:
            self.say(f"{planned.task.value} is refused: {printable(planned.refusals[0].reason)}.")
        else:
            self.book.toggle(path, planned.task)
            self._renew()

    def on_click(self, event: events.Click) -> None:
        """A click on the mark of a task marks or unmarks it; the view has moved the cursor there before."""
        offset = event.get_content_offset(self.items)
        if offset is None or self.item is None or self.item[1] is None or event.chain != 1:
            return
        if offset.x in MARK_CELLS and self.items.cursor_line() == offset.y:
            self.action_toggle_task()

    def action_toggle_tasks(self) -> None:
        """Mark or unmark all tasks of the repository."""
        if (path := self.current_path()) is not None:
            self.book.toggle_all(path)
            self._renew()

    @on(ItemsView.Opened)
    def action_unfold(self) -> None:
        """Show or hide the commands of the task, or of all tasks of the repository."""
        if self.item is None:
            return
        path, task = self.item
        tasks = {planned.task for planned in self.book.tasks_of(path)} if task is None else {task}
        unfolded = self._unfolded.get(path, frozenset())
        self._unfolded[path] = unfolded - tasks if unfolded >= tasks else unfolded | tasks
        self._renew()
        self.items.select(self.items.selected)

    def action_plan_again(self) -> None:
        """Have all plans made anew."""
        self.book.again()
        self._ask()
        self._renew()

    def action_add_task(self) -> None:
        """Choose a task that is added."""
        path = self.current_path()
        if path is None:
            self.say("There is no plan yet to which a task could be added.")
            return
        planned = [planned.task for planned in self.book.tasks_of(path)] if len(self.book.paths) == 1 else []
        is_alone = len(self.book.paths) == 1
        tasks = addable_tasks(planned, is_alone=is_alone)
        keys = self.context.shown_keys
        self.cover_with(TasksScreen(tasks, keys, is_alone=is_alone, take=partial(self._add, path)))

    def _add(self, path: bytes, task: Task, for_all: bool) -> None:
        paths = self.book.paths if for_all else [path]
        added = [one for one in paths if self.book.add(one, task)]
        self._ask()
        self._renew()
        if added:
            self.say(f"Adding {task.value} to the plan of {self.names_of(added)}.")
        else:
            self.say(f"{task.value} stands in the plan already, or there is no plan.")

    def action_run_plans(self) -> None:
        """Run what is marked, if it is asked for twice, and by name where it drops objects."""
        plans = self.book.marked_plans()
        if self.context.read_only:
            key = self.context.key("export_plans") if self.context.hand_over.has_terminal else ""
            self.say(f"Read-only: nothing is run.{f' {key} writes a script of it.' if key else ''}")
        elif not self.book.is_complete:
            self.say(f"Plans are still being made: {self.book.made_count:,} of {len(self.book.paths):,}.")
        elif not plans:
            self.say("No task is marked.")
        else:
            self._run_if_asked_twice(plans)

    def _run_if_asked_twice(self, plans: Sequence[Plan]) -> None:
        is_given = self._confirmation.is_given(tuple(_outline(plan) for plan in plans), time.monotonic())
        drops_objects = any(task.task is Task.RECLAIM for plan in plans for task in plan.tasks)
        if is_given and drops_objects:
            self._ask_name()
        elif is_given:
            self._run(None)
        else:
            name = "asks for the name of the repository, and then " if drops_objects else ""
            self.say(f"Once more {name}runs {self._what_is_marked()}.")

    def _what_is_marked(self) -> str:
        counts = self.book.counts()
        where = counted(counts.repository_count, "repository", "repositories")
        return f"{counted(counts.marked_count, 'task')} in {where}"

    def _ask_name(self) -> None:
        """Have the name of the repository typed whose unreachable objects are dropped; nothing less will do."""
        path = self.book.paths[0]
        name = os.path.basename(path)
        planned = self.book.planned(path, Task.RECLAIM)
        gain = planned.gain if planned is not None else ""
        shown = printable_path(name).strip()
        self.ask(
            NameScreen(
                "Reclaim drops objects for good",
                f"{printable(gain[:1].upper() + gain[1:])}. No command brings back what goes. Type {shown} to run"
                f" {self._what_is_marked()}.",
                verb="run",
                longest=_LONGEST_TYPED,
                problem_of=lambda typed: None if typed == shown else f"Its name is {shown}; nothing was run.",
                question_for=lambda _typed: None,
                take=lambda _typed: self._run(name.decode("utf-8", "surrogateescape")),
                shown_keys=self.context.shown_keys,
            )
        )

    def _run(self, confirmed_name: str | None) -> None:
        plans, what = self.book.marked_plans(), self._what_is_marked()
        last_job = max(self.context.jobs, default=0)
        self.context.source.run_plans(plans, confirmed_name=confirmed_name)
        self.say(f"Queued {what}.")
        # After what covers this screen is closed: closing it and opening the jobs are asked for in this order.
        self.call_next(self._leave_for_jobs, last_job)

    def _leave_for_jobs(self, last_job: int) -> None:
        close(self)
        self.context.show_jobs(last_job)

    def action_export(self) -> None:
        """Write a script."""
        self._script.begin()

    def action_copy(self) -> None:
        """Copy a command of the task, the next one if it has several; on a head the path."""
        if self.item is None:
            return
        path, task = self.item
        planned = None if task is None else self.book.planned(path, task)
        plan = self.book.plans.get(path)
        commands: Sequence[str] = (shell_word(path),)
        if planned is not None and isinstance(plan, Plan):
            commands = whole_commands(planned.steps, plan.common_dir)
        if not commands:
            self.say("No shell can do this: gitdash does it itself.")
            return
        number = (self._copied[1] + 1) % len(commands) if self._copied and self._copied[0] == self.item else 0
        self._copied = (self.item, number)
        self.copy(commands[number], f"Copied {number + 1} of {len(commands)}" if len(commands) > 1 else "Copied")
