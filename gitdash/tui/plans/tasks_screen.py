"""The page on which a task is chosen that is added to a plan."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType
from typing_extensions import override

from gitdash.model.task import Task
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.pages.chooser import HELP_BINDING, ChooserScreen
from gitdash.tui.plans.task_list import tasks_page


class TasksScreen(ChooserScreen, inherit_bindings=False):
    """Tasks; `take` gets the chosen one, and whether it is meant for all repositories."""

    SCOPE = Scope.TASKS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.TASKS), HELP_BINDING]

    def __init__(
        self,
        tasks: Sequence[Task],
        shown_keys: Mapping[str, str],
        *,
        is_alone: bool,
        take: Callable[[Task, bool], None],
    ) -> None:
        """`is_alone`: a single repository is planned for."""
        super().__init__("Add a task", lambda width: tasks_page(tasks, width, is_alone=is_alone), shown_keys)
        self._tasks = tasks
        self._take = take

    def action_choose(self, for_all: bool) -> None:
        """Add the task under the cursor."""
        self.take_once(lambda: self._is_added(for_all))

    def _is_added(self, for_all: bool) -> bool:
        if self.items.selected >= len(self._tasks):
            return False
        self._take(self._tasks[self.items.selected], for_all)
        return True

    @override
    def action_accept(self) -> None:
        """Add the task to the plan of one repository."""
        self.action_choose(False)
