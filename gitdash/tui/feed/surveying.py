"""Surveys of all roots, one after the other as they are asked for, each a job."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gitdash.model.job import JobKind
from gitdash.survey.events import Discovered, Finished, Progress, Report, SurveyEvent
from gitdash.survey.priorities import Priorities
from gitdash.survey.shared_queries import SharedQueries
from gitdash.tui.clock import Clock
from gitdash.tui.feed.jobs import JobRegister
from gitdash.tui.feed.survey_job import SurveyJob
from gitdash.tui.feed.survey_track import SurveyTrack
from gitdash.tui.source import Changes

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.git_program import GitProgram
    from gitdash.history.store import History


class Surveying:
    """Runs surveys in the thread that serves them; everything else is for any thread."""

    def __init__(  # noqa: PLR0913 - what a survey needs, each by name
        self,
        roots: Sequence[bytes],
        *,
        settings: "Settings",
        history: "History | None",
        program: "GitProgram",
        clock: Clock,
        register: JobRegister,
        painted_count: int | None,
        queries: SharedQueries,
        on_look: Callable[[Report], None],
        tell: Callable[[Callable[[Changes], None]], None],
        cancel: threading.Event,
    ) -> None:
        """Take what is surveyed and with what.

        `painted_count` rows of the state file are on screen already, `queries` are shared with all who measure;
        `on_look` gets what is found of a repository as it is to be shown, `tell` hands out the record that all else is
        written to; `cancel` ends all for good.
        """
        self._roots = tuple(roots)
        self._settings = settings
        self._history = history
        self._program = program
        self._clock = clock
        self._register = register
        self._painted_count = painted_count
        self._queries = queries
        self._on_look = on_look
        self._tell = tell
        self._cancel = cancel
        self._priorities = Priorities()
        self._track = SurveyTrack(clock)
        self._asked = threading.Condition()
        self._wanted: int | None = None
        """The number of its job."""

    def check_roots(self) -> None:
        """Raise RootError for a root that cannot be searched."""
        from gitdash.survey.searching import check_roots

        check_roots(self._roots)

    def ask(self) -> None:
        """Queue a survey, unless one waits already."""
        if self._wanted is not None and self._register.is_queued(self._wanted):
            return
        number = self._register.ask(JobKind.SURVEY, None)
        with self._asked:
            self._wanted = number
            self._asked.notify_all()

    def prioritise(self, paths: Sequence[bytes]) -> None:
        """Measure these first."""
        self._priorities.prioritise(paths)

    def hand_out(self, changes: Changes) -> None:
        """Write down what is told only when somebody takes the changes. The lock of the feed is held."""
        self._track.hand_out(changes)

    def wake(self) -> None:
        """Make a waiting `serve` notice that it is cancelled."""
        with self._asked:
            self._asked.notify_all()

    def serve(self) -> None:
        """Survey as often as it is asked for, until all is over."""
        self._say_what_was_not_painted()
        while (number := self._next()) is not None:
            if (cancel := self._register.start(number)) is not None:
                self._survey(SurveyJob(self._register, number), cancel)

    def _next(self) -> int | None:
        with self._asked:
            self._asked.wait_for(lambda: self._wanted is not None or self._cancel.is_set())
            number, self._wanted = self._wanted, None
        return None if self._cancel.is_set() else number

    def _say_what_was_not_painted(self) -> None:
        """Tell of rows in the state file that this version cannot read: they are missing until they are found again."""
        if self._history is None or self._painted_count is None:
            return
        count = len(self._history.paths(self._roots)) - self._painted_count
        if count > 0:
            rows = "1 row of the state file is" if count == 1 else f"{count:,} rows of the state file are"
            notice = f"{rows} of another version of gitdash and will be looked at anew"
            self._tell(lambda changes: changes.notices.append(notice))

    def _survey(self, job: SurveyJob, cancel: threading.Event) -> None:
        # Imported here and not above: the first paint does not wait for discovery and inspection to be loaded.
        from gitdash.survey.survey import SizesWanted, SurveyRequest, run_survey

        request = SurveyRequest(
            roots=self._roots,
            settings=self._settings,
            sizes=SizesWanted.ALL,
            now_s=self._clock(),
            clock=self._clock,
            program=self._program,
            history=self._history,
            effective_uid=os.geteuid(),
            reports_early=True,
            queries=self._queries,
        )
        self._tell(lambda _: self._track.begin())
        is_finished = False
        for event in run_survey(request, cancel=cancel, priorities=self._priorities, watch=job):
            self._note(event)
            match event:
                case Progress():
                    job.note_progress(event)
                case Report():
                    job.note_report(event.report)
                case _:
                    pass
            is_finished = isinstance(event, Finished)
        if not is_finished:
            self._tell(self._track.note_cancelled)
        job.end(is_finished=is_finished)

    def _note(self, event: SurveyEvent) -> None:
        match event:
            case Discovered():
                pass
            case Report():
                self._track.found(event.summary.path)
                self._on_look(event)
            case _:
                self._tell(lambda changes: self._track.note(event, changes))
