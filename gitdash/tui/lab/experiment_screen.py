"""The screen of one experiment on one repository: choose, run, watch the runs arrive, compare.

Figures are those of the runs under way, else of the last result. The experiment is a job: it goes on when this screen
is left, and is shown again when it is opened.
"""

import shlex
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from typing_extensions import override

from gitdash.assessment.sentences import shell_word
from gitdash.model.experiment import ExperimentKind
from gitdash.model.repository import Unreadable
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.confirmation import CONFIRM_S, Confirmation
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.experiments import ExperimentChoice, LabAnswer
from gitdash.tui.lab.cancelling import cancel_experiment, job_of
from gitdash.tui.lab.choosing import Choosing
from gitdash.tui.lab.list_lines import lab_title
from gitdash.tui.lab.page import ExperimentView, ItemName, experiment_page, measured_variants
from gitdash.tui.screen import ItemsScreen
from gitdash.tui.seen_clock import SeenClock
from gitdash.tui.source import Changes
from gitdash.units import printable


class ExperimentScreen(ItemsScreen):
    """One experiment."""

    SCOPE = Scope.EXPERIMENT
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.EXPERIMENT)]

    def __init__(self, context: Context, path: bytes, kind: ExperimentKind) -> None:
        super().__init__(context)
        self.path = path
        self.kind = kind
        self.items = ItemsView(self._page, id="experiment")
        self._answer: LabAnswer | Unreadable | None = None
        self._choosing: Choosing | None = None
        self._unfolded: frozenset[ItemName] = frozenset()
        self._explains = False
        self._has_boxes = False
        self._confirmation = Confirmation()
        self._clock = SeenClock(self, self.items.renew)

    def on_mount(self) -> None:
        """Ask what can be compared, and what was."""
        self.context.source.request_experiments(self.path)

    @override
    def title_lines(self, width: int) -> Sequence[Line]:
        """Return which experiment it is, and of which repository."""
        return [lab_title(self.name_of(self.path), self.kind, width)]

    @override
    def parts(self) -> Iterable[Widget]:
        """Return the page."""
        return [self.items]

    def _page(self, width: int) -> Page:
        view = self._view()
        if view is not None:
            return experiment_page(view, width)
        if isinstance(self._answer, Unreadable):
            return Page(wrapped(printable(self._answer.reason), Tone.CRITICAL, width))
        return Page([[Piece(" Looking at what can be compared here …", Tone.DIM)]])

    def _view(self) -> ExperimentView | None:
        answer, choosing = self._answer, self._choosing
        if choosing is None or not isinstance(answer, LabAnswer):
            return None
        return ExperimentView(
            choosing=choosing,
            under_way=self.context.experiments.get((self.path, self.kind)),
            job=job_of(self.context, self.path, self.kind),
            earlier=[result for result in answer.earlier if result.kind is self.kind],
            others=[result for result in answer.others if result.kind is self.kind],
            name_of=self.name_of,
            shown_keys=self.context.shown_keys,
            unfolded=self._unfolded,
            explains=self._explains,
            has_boxes=self._has_boxes,
            now_s=self.context.clock(),
            is_asked_back=self._confirmation.is_waited_for(choosing.choice(), self.context.monotonic()),
        )

    @override
    def show_changes(self, changes: Changes | None) -> None:
        """Take the answer, and draw runs that have arrived."""
        if changes is not None and self.path in changes.experiments:
            self._take(changes.experiments[self.path])
        super().show_changes(changes)
        self._run_clock()

    def _take(self, answer: LabAnswer | Unreadable) -> None:
        self._answer = answer
        offers = answer.offers if isinstance(answer, LabAnswer) else ()
        for offer in offers:
            if offer.kind is not self.kind:
                continue
            if self._choosing is None:
                self._choosing = Choosing(offer)
            else:
                self._choosing.offer = offer

    def on_screen_resume(self, _: events.ScreenResume) -> None:
        """The clock runs only while the page is seen."""
        self._run_clock()

    def on_screen_suspend(self, _: events.ScreenSuspend) -> None:
        """Nobody sees the clock."""
        self._clock.stop()

    def _run_clock(self) -> None:
        job = job_of(self.context, self.path, self.kind)
        self._clock.run(is_wanted=job is not None and not job.state.has_ended)

    @override
    def current_path(self) -> bytes | None:
        """Return the repository."""
        return self.path

    @property
    def item(self) -> ItemName:
        """What the cursor is on."""
        return self.items.chosen or ("", None)  # type: ignore[return-value]

    def action_choose(self) -> None:
        """Mark or unmark the variant; on an option take the next value, on a result show or hide it."""
        choosing = self._choosing
        what, name = self.item
        if choosing is None:
            return
        if what == "option":
            self.action_turn(1)
        elif what == "variant":
            variant = next((one for one in choosing.question.variants if one.name == name), None)
            if variant is None:
                # the offer has come anew, and the page has not been drawn since
                self.say("This variant cannot be compared here any more.")
                return
            if variant.skipped is not None:
                self.say(f"{variant.name} cannot run here: {variant.skipped}.")
                return
            choosing.toggle(variant.name)
            self.items.renew()
        else:
            self.action_unfold()

    def action_toggle_all(self) -> None:
        """Mark all variants, or unmark them."""
        if self._choosing is not None:
            self._choosing.toggle_all()
            self.items.renew()

    def action_turn(self, step: int) -> None:
        """Take another value of the option under the cursor."""
        what, name = self.item
        if self._choosing is not None and what == "option":
            self._choosing.turn(str(name), step)
            self.items.renew()

    @on(ItemsView.Opened)
    def action_unfold(self) -> None:
        """Show or hide what is said of the variant or the result; on an option take the next value."""
        what, _ = self.item
        if what == "option":
            self.action_turn(1)
        elif what:
            self._unfolded ^= {self.item}
            self.items.renew()
            self.items.select(self.items.selected)

    def action_explain(self) -> None:
        """Show or hide what the variants do, and what was published."""
        self._explains = not self._explains
        self._unfolded = frozenset(name for name in self._unfolded if name[0] == "result")
        self.items.renew()
        self.items.select(self.items.selected)

    def action_toggle_boxes(self) -> None:
        """Draw the runs as boxes below the variants, or take the boxes away."""
        self._has_boxes = not self._has_boxes
        self.items.renew()

    def action_run_experiment(self) -> None:
        """Run the marked variants, if it is asked for twice."""
        choosing = self._choosing
        job = job_of(self.context, self.path, self.kind)
        if choosing is None:
            self.say("What can be compared here is not known yet.")
        elif job is not None and not job.state.has_ended:
            self.say(f"The experiment {self.kind.value} runs here already.")
        elif not choosing.runnable:
            self.say("None of the variants can run here.")
        elif not choosing.marked():
            self.say("No variant is marked.")
        else:
            self._run_if_confirmed(choosing.choice())

    def _run_if_confirmed(self, choice: ExperimentChoice) -> None:
        if not self._confirmation.is_given(choice, self.context.monotonic()):
            # the head of the page asks
            self.items.renew()
            self.items.scroll_home(animate=False, immediate=True)
            self.set_timer(CONFIRM_S, self.items.renew)
            return
        self.context.source.start_experiment(self.path, self.kind, choice)
        self.items.renew()
        self.say(f"Queued the experiment {self.kind.value}; its runs arrive here.")

    def action_cancel(self) -> None:
        """Cancel the experiment."""
        cancel_experiment(self.context, self.path, self.kind, self.say)

    def action_copy(self) -> None:
        """Copy the command of the variant under the cursor as it was timed, else that of `gitdash bench`."""
        view = self._view()
        if view is None:
            return
        what, name = self.item
        text = _bench_command(self.kind, self.path)
        if what == "variant":
            known = (*measured_variants(view)[0], *view.choosing.question.variants)
            argv = next((variant.argv for variant in known if variant.name == name and variant.argv), ())
            if not argv:
                self.say("Its command is known once it has run, if it is one.")
                return
            text = shlex.join(argv)
        self.copy(text)


def _bench_command(kind: ExperimentKind, path: bytes) -> str:
    return f"gitdash bench {kind.value} {shell_word(path)}"
