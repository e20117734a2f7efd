"""The screen of all experiments of one repository. What they are is asked of the source when it opens."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget
from typing_extensions import override

from gitdash.model.experiment import ExperimentKind
from gitdash.model.repository import Unreadable
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.experiments import LabAnswer
from gitdash.tui.lab.cancelling import cancel_experiment
from gitdash.tui.lab.list_lines import LabView, lab_page, lab_title
from gitdash.tui.screen import ItemsScreen
from gitdash.tui.source import Changes


class LabScreen(ItemsScreen):
    """The experiments of one repository."""

    SCOPE = Scope.LAB
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.LAB)]

    def __init__(self, context: Context, path: bytes) -> None:
        super().__init__(context)
        self.path = path
        self.items = ItemsView(self._page, id="lab")
        self._answer: LabAnswer | Unreadable | None = None
        self._explains = False

    def on_mount(self) -> None:
        """Ask what can be compared."""
        self.context.source.request_experiments(self.path)

    @override
    def title_lines(self, width: int) -> Sequence[Line]:
        """Return whose experiments these are."""
        return [lab_title(self.name_of(self.path), None, width)]

    @override
    def parts(self) -> Iterable[Widget]:
        """Return the list."""
        return [self.items]

    def _page(self, width: int) -> Page:
        context = self.context
        under_way = {kind: one for (path, kind), one in context.experiments.items() if path == self.path}
        view = LabView(
            answer=self._answer,
            under_way=under_way,
            jobs=context.jobs,
            explains=self._explains,
            now_s=context.clock(),
        )
        return lab_page(view, width)

    @override
    def show_changes(self, changes: Changes | None) -> None:
        """Take the answer."""
        if changes is not None and self.path in changes.experiments:
            self._answer = changes.experiments[self.path]
        super().show_changes(changes)

    @override
    def current_path(self) -> bytes | None:
        """Return the repository."""
        return self.path

    @property
    def kind(self) -> ExperimentKind | None:
        """The experiment under the cursor; None if there is none."""
        return self.items.chosen  # type: ignore[return-value]

    @on(ItemsView.Opened)
    def action_open(self) -> None:
        """Open the experiment under the cursor."""
        if self.kind is not None:
            self.context.open_experiment(self.path, self.kind)

    def action_explain(self) -> None:
        """Show or hide what the experiments are about, and what was published of them."""
        self._explains = not self._explains
        self.items.renew()
        self.items.select(self.items.selected)

    def action_cancel(self) -> None:
        """Cancel the experiment under the cursor."""
        if self.kind is not None:
            cancel_experiment(self.context, self.path, self.kind, self.say)
