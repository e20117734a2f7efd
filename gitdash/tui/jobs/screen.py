"""The screen of jobs: a cursor over them, keys to cancel one or do it again, and a clock while something runs."""

import os
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from typing_extensions import override

from gitdash.model.job import Job, JobKind, JobState
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.drawing.roots import roots_text
from gitdash.tui.jobs.entries import KeptLines
from gitdash.tui.jobs.lines import JobsView, jobs_page, title_pieces
from gitdash.tui.screen import ItemsScreen
from gitdash.tui.seen_clock import SeenClock
from gitdash.tui.source import Changes

_STARTED: Final = frozenset({JobKind.FETCH, JobKind.MAINTAIN})
"""Kinds that change repositories: whoever starts one wants to see how it goes."""
_NOUNS: Final = {JobKind.MAINTAIN: "maintenance", JobKind.BENCH: "experiment"}
"""Of kinds whose name is none."""
_STAYS: Final = {
    JobKind.FETCH: "If it leaves a temporary pack, maintenance sweeps that away later.",
    JobKind.BENCH: "What was measured so far is kept as not complete.",
    JobKind.MAINTAIN: "Tasks that are done stay done; what git has half written, maintenance sweeps away later.",
}


class JobsScreen(ItemsScreen):
    """What is queued, what runs, and what has ended."""

    SCOPE = Scope.JOBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.JOBS)]

    def __init__(self, context: Context, *, after: int | None = None) -> None:
        """Take a job after which the cursor waits for the next fetch or maintenance; None is the last there is."""
        super().__init__(context)
        self._awaited_after = max(context.jobs, default=0) if after is None else after
        self._is_waiting = True
        """No such job was seen, and no person has moved the cursor."""
        self._placed: int | None = None
        """Number of the job that the cursor was put on last."""
        self.items = ItemsView(self._page, id="page")
        self._numbers: list[int] = []
        """Of the jobs on the page, from the top."""
        self._kept_lines = KeptLines()
        self._unfolded: set[int] = set()
        """Jobs whose details are shown."""
        self._open_numbers: set[int] = set()
        """Those of them that had not ended when the page was composed."""
        self._failed_numbers: set[int] = set()
        """Those that had failed, and nobody had taken note."""
        self._home = os.fsencode(os.path.expanduser("~"))
        self._clock = SeenClock(self, self.items.renew)

    @override
    def title_lines(self, width: int) -> Sequence[Line]:
        """Return the title with the counts."""
        return [title_pieces(self.context.jobs.values())]

    @override
    def parts(self) -> Iterable[Widget]:
        """Return the page."""
        return [self.items]

    @property
    def job(self) -> Job | None:
        """The job under the cursor."""
        selected = self.items.selected
        return self.context.jobs.get(self._numbers[selected]) if selected < len(self._numbers) else None

    @override
    def current_path(self) -> bytes | None:
        """Return the repository of the job under the cursor."""
        return None if self.job is None else self.job.path

    def _page(self, width: int) -> Page:
        """Compose the page; the cursor stays on its job until that ends, and then where it is, on one that has not."""
        job = self.job
        view = JobsView(
            jobs=list(self.context.jobs.values()),
            name_of=self._name_of,
            shown_keys=self.context.shown_keys,
            now_s=self.context.clock(),
            forgotten_count=self.context.forgotten_job_count,
            open_numbers=self._unfolded,
            kept_lines=self._kept_lines,
        )
        page, self._numbers = jobs_page(view, width)
        number = self._number_for_cursor(job)
        if number in self._numbers:
            self.items.selected = self._numbers.index(number)
        jobs = [self.context.jobs[number] for number in self._numbers]
        self._open_numbers = {job.number for job in jobs if not job.state.has_ended}
        self._failed_numbers = {job.number for job in jobs if job.is_unsettled}
        self._placed = None if self.job is None else self.job.number
        return page

    def _number_for_cursor(self, before: Job | None) -> int | None:
        """Return the job that the cursor is to stand on; `before` is where it was."""
        if before is not None and before.number != self._placed:
            self._is_waiting = False
        if self._is_waiting and (awaited := self._awaited()) is not None:
            self._is_waiting = False
            return awaited
        return self._first_to_look_at() if before is None else self._next_of(before)

    def _first_to_look_at(self) -> int | None:
        """Return where the cursor begins: on what a person started, rather than on the looks that followed it."""
        jobs = [self.context.jobs[number] for number in self._numbers]
        if jobs and jobs[0].state.has_ended and not jobs[0].is_unsettled:
            return next((job.number for job in jobs if job.kind in _STARTED and not job.is_earlier), None)
        return None

    def _awaited(self) -> int | None:
        """Return the first job on the page that was started from here, or since the screen was opened."""
        jobs = (self.context.jobs[number] for number in self._numbers)
        own = (job.number for job in jobs if job.kind in _STARTED and not job.is_earlier)
        return next((number for number in own if number > self._awaited_after), None)

    def _next_of(self, job: Job) -> int:
        """Return a job itself until it leaves its section, and then the one that stands where it stood."""
        jobs = [self.context.jobs[number] for number in self._numbers]
        if job.number in self._failed_numbers and not job.is_unsettled:
            return self._nearest([other for other in jobs if other.is_unsettled] or [job])
        if job.number not in self._open_numbers or not job.state.has_ended:
            return job.number
        still_open = [other for other in jobs if not other.state.has_ended]
        alike = [other for other in still_open if (other.kind, other.part_of) == (job.kind, job.part_of)]
        # what came of work that a person has started is not taken out of their sight by other work
        others = [] if job.kind in _STARTED else still_open
        return self._nearest(alike or others or [job])

    def _nearest(self, candidates: Sequence[Job]) -> int:
        """Return the first that stands where the cursor is or below, else the last."""
        behind = self._numbers[self.items.selected :]
        return next((job.number for job in candidates if job.number in behind), candidates[-1].number)

    def _name_of(self, job: Job) -> str:
        if job.path is None:
            return f"all below {roots_text(self.context.roots, self._home)}"
        return self.name_of(job.path)

    @override
    def show_changes(self, changes: Changes | None) -> None:
        """Compose the page anew if a job is other than before."""
        if changes is None or changes.jobs or changes.forgotten_jobs:
            selected = self.items.selected
            super().show_changes(changes)
            if self.items.selected != selected:
                self.items.select(self.items.selected)
            self._run_clock()

    def on_screen_resume(self, _: events.ScreenResume) -> None:
        """The clock runs only while the page is seen."""
        self._run_clock()

    def on_screen_suspend(self, _: events.ScreenSuspend) -> None:
        """Nobody sees the clock."""
        self._clock.stop()

    def _run_clock(self) -> None:
        self._clock.run(is_wanted=any(job.state is JobState.RUNNING for job in self.context.jobs.values()))

    @on(ItemsView.Opened)
    def action_open(self) -> None:
        """Open the repository of the job under the cursor; a survey is about all of them."""
        if (job := self.job) is None:
            return
        if job.path is None:
            self.action_leave()
        else:
            self.context.open_repository(job.path)

    def action_unfold(self) -> None:
        """Show or hide the details of the job under the cursor."""
        if (job := self.job) is None:
            return
        if not job.entries:
            self.say(f"There is nothing more to say of this {_noun(job)}.")
            return
        self._unfolded ^= {job.number}
        self.items.renew()
        self.items.select(self.items.selected)

    def action_cancel(self) -> None:
        """Cancel the job under the cursor."""
        if (job := self.job) is None:
            return
        what = f"the {_noun(job)} of {self._name_of(job)}"
        match job.state:
            case JobState.QUEUED:
                said = f"{_capitalised(what)} will not begin."
            case JobState.RUNNING:
                said = f"Cancelling {what}. {_STAYS.get(job.kind, 'What it has found so far stays.')}"
            case state if job.is_unsettled:
                said = f"{_capitalised(what)} is counted as {state} no longer."
            case _:
                self.say(f"This {_noun(job)} has ended already.")
                return
        self.context.source.cancel_job(job.number)
        self.say(said)

    def action_retry(self) -> None:
        """Do the job under the cursor again."""
        if (job := self.job) is None:
            return
        if not job.state.has_ended:
            self.say(f"This {_noun(job)} has not ended.")
            return
        self.context.source.retry_job(job.number)
        self.say(f"Asked again for the {_noun(job)} of {self._name_of(job)}.")


def _noun(job: Job) -> str:
    return _NOUNS.get(job.kind, job.kind.value)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
