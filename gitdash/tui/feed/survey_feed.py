"""The dashboard's source: daemon threads that work, and what they have said since the dashboard last took it.

One thread runs surveys, two look again at what a key was pressed for, one reads stored reports that somebody looks at;
acting, questions and the lab start more as they are needed. They only write into a record of changes under a lock,
which `take` empties. What each of them does is in a module of its own.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from gitdash.gitcmd.command_log import COMMAND_LOG
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import stop_everything
from gitdash.model.command import CommandRecord
from gitdash.model.experiment import ExperimentKind
from gitdash.model.job import Job, JobKind
from gitdash.model.plan import Plan
from gitdash.model.task import Task
from gitdash.survey.events import Report
from gitdash.survey.shared_queries import SharedQueries
from gitdash.tui.clock import Clock
from gitdash.tui.experiments import ExperimentChoice
from gitdash.tui.feed.acting import Acting
from gitdash.tui.feed.again import LookAgain
from gitdash.tui.feed.jobs import JobRegister
from gitdash.tui.feed.known_reports import KnownReports
from gitdash.tui.feed.lab import Lab
from gitdash.tui.feed.questions import Questions
from gitdash.tui.feed.retries import Retries
from gitdash.tui.feed.surveying import Surveying
from gitdash.tui.source import Changes
from gitdash.units import counted

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History
    from gitdash.maintenance.fetching.options import FetchOptions

_STOP_S: Final = 0.9
"""For all that has to end, out of the second that quitting may take."""
_GRACE_S: Final = 0.4
"""For git to take its locks away, out of that."""
_WRITERS_S: Final = 20.0
"""For what changes repositories to take its locks away and to write down how it ended, once its git is gone.

That no lock stays behind goes before the second. It takes far less but on a machine or a disk that is overloaded.
"""
_SILENT_S: Final = 0.3
"""Who waits longer for these is told."""


class SurveyFeed:
    """Implements `FleetSource`."""

    def __init__(  # noqa: PLR0913 - what a survey and actions need, each by name
        self,
        roots: Sequence[bytes],
        *,
        settings: "Settings",
        history: "History | None",
        program: GitProgram,
        clock: Clock,
        registry_dir: bytes,
        painted_count: int | None = None,
        read_only: bool = False,
    ) -> None:
        """Take what is surveyed and with what; `painted_count` rows of the state file are on screen already.

        `registry_dir` is where throw-away copies of experiments are named, see `lab.copies`.
        """
        self._settings = settings
        self._history = history
        self._program = program
        self._clock = clock
        self._cancel = threading.Event()
        self._retries = Retries()
        self._jobs = JobRegister(clock, on_changed=self._note_job, on_forgotten=self._forget_job)
        self._reports = KnownReports(history=history, started_at_s=clock(), tell=self._tell, cancel=self._cancel)
        queries = SharedQueries()
        self._surveying = Surveying(
            roots,
            settings=settings,
            history=history,
            program=program,
            clock=clock,
            register=self._jobs,
            painted_count=painted_count,
            queries=queries,
            on_look=self._note_look,
            tell=self._tell,
            cancel=self._cancel,
        )
        self._again = LookAgain(
            settings=settings,
            history=history,
            program=program,
            clock=clock,
            register=self._jobs,
            queries=queries,
            report_of=self._reports.report,
            on_look=self._note_look,
            on_busy=self._note_busy,
            cancel=self._cancel,
        )
        self._questions = Questions(
            settings=settings,
            program=program,
            report_of=self._reports.report,
            tell=self._tell,
            guarded=self._guarded,
            cancel=self._cancel,
        )
        self._acting = Acting(
            settings=settings,
            history=history,
            program=program,
            clock=clock,
            register=self._jobs,
            retries=self._retries,
            readers=self._questions,
            report_of=self._reports.report,
            tell=self._tell,
            on_busy=self._note_busy,
            look_again=self.rescan,
            guarded=self._guarded,
            cancel=self._cancel,
            read_only=read_only,
        )
        self._lab = self._made_lab(registry_dir)
        self._lock = threading.RLock()
        self._wake: Callable[[], None] = lambda: None
        self._changes: Changes | None = None
        self._busy: Counter[bytes] = Counter()
        self._threads = self._made_threads()

    def _made_threads(self) -> list[threading.Thread]:
        return [
            threading.Thread(target=self._guarded, args=(run,), name=run.__name__, daemon=True)
            for run in (
                self._surveying.serve,
                self._look_again_when_asked,
                self._measure_when_asked,
                self._reports.serve,
                self._acting.say_what_was_cut_off,
                self._lab.sweep,
            )
        ]

    def _made_lab(self, registry_dir: bytes) -> Lab:
        return Lab(
            settings=self._settings,
            history=self._history,
            program=self._program,
            clock=self._clock,
            registry_dir=registry_dir,
            register=self._jobs,
            retries=self._retries,
            report_of=self._reports.report,
            tell=self._tell,
            on_busy=self._note_busy,
            guarded=self._guarded,
            cancel=self._cancel,
        )

    def check_roots(self) -> None:
        """Raise RootError for a root that cannot be searched, before anything is painted."""
        self._surveying.check_roots()

    def start(self, wake: Callable[[], None]) -> None:
        """Begin to survey."""
        self._wake = wake
        self.rescan(None)
        for thread in self._threads:
            thread.start()

    def stop(self, say: Callable[[str], None] = lambda _sentence: None) -> None:
        """End the threads and every process that runs for them; `say` hears what holds that up, if anything does."""
        deadline_s = time.monotonic() + _STOP_S
        self._cancel.set()
        self._jobs.cancel_all()
        self._surveying.wake()
        self._reports.wake()
        self._again.wake()
        self._acting.stop(_GRACE_S)
        stop_everything()
        self._lab.stop(min(_GRACE_S, _left_s(deadline_s)))
        self._questions.stop(_left_s(deadline_s) / 2)
        self._wait_for_writers(say)
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_left_s(deadline_s))

    def _wait_for_writers(self, say: Callable[[str], None]) -> None:
        if self._acting.wait(_SILENT_S):
            return
        if ending_count := self._jobs.writer_count():
            say(f"ending {counted(ending_count, 'job that changes a repository', 'jobs that change repositories')}")
        self._acting.wait(_WRITERS_S)

    def take(self) -> Changes | None:
        """Return what happened since the last call."""
        with self._lock:
            changes, self._changes = self._changes, None
            if changes is not None:
                self._surveying.hand_out(changes)
        return changes

    def prioritise(self, paths: Sequence[bytes]) -> None:
        """Measure these first."""
        self._surveying.prioritise(paths)

    def rescan(self, path: bytes | None) -> None:
        """Look at one repository again, or survey all again; what is unchanged then costs next to nothing."""
        if path is None:
            self._surveying.ask()
        else:
            self._again.ask(path, JobKind.RESCAN)

    def measure(self, path: bytes) -> None:
        """Let git measure one repository now."""
        self._again.ask(path, JobKind.MEASURE)

    def cancel_job(self, number: int) -> None:
        """End a job; what it has found so far stays."""
        self._jobs.cancel(number)

    def retry_job(self, number: int) -> None:
        """Ask for the same again."""
        job = self._jobs.job(number)
        if job is None or not job.state.has_ended or self._retries.retry(number):
            return
        if job.kind is JobKind.MEASURE and job.path is not None:
            self.measure(job.path)
        else:
            self.rescan(job.path)

    def request_report(self, path: bytes) -> None:
        """Have a report read."""
        self._reports.request(path)

    def request_namespaces(self, path: bytes) -> None:
        """Have references counted."""
        self._questions.request_namespaces(path)

    def request_lookup_times(self, path: bytes) -> None:
        """Have look-ups timed."""
        self._questions.request_lookup_times(path)

    def look_up(self, path: bytes, text: str) -> None:
        """Ask for an object."""
        self._questions.look_up(path, text)

    def close_readers(self, path: bytes) -> None:
        """End the reader of a repository."""
        self._questions.close_readers(path)

    def request_plans(self, paths: Sequence[bytes], tasks: Sequence[Task] | None) -> None:
        """Have plans made."""
        self._acting.request_plans(paths, tasks)

    def run_plans(self, plans: Sequence[Plan], *, confirmed_name: str | None = None) -> None:
        """Queue the tasks of plans."""
        self._acting.run_plans(plans, confirmed_name)

    def fetch(self, paths: Sequence[bytes], options: "FetchOptions | None" = None) -> None:
        """Queue fetches."""
        self._acting.fetch(paths, options)

    def request_entries(self, path: bytes) -> None:
        """Have the ledger read."""
        self._acting.request_entries(path)

    def request_experiments(self, path: bytes) -> None:
        """Have it told what can be compared."""
        self._lab.request(path)

    def start_experiment(self, path: bytes, kind: ExperimentKind, choice: ExperimentChoice) -> None:
        """Queue an experiment."""
        self._lab.start(path, kind, choice)

    def commands(self, path: bytes) -> Sequence[CommandRecord]:
        """Return what git was asked."""
        return COMMAND_LOG.records_of(path)

    def commands_version(self, path: bytes) -> int:
        """Return what grows with each change."""
        return COMMAND_LOG.version_of(path)

    def _guarded(self, run: Callable[[], None]) -> None:
        """Run a thread; what ends it ends the dashboard, with the reason."""
        try:
            run()
        except Exception as error:  # noqa: BLE001 - it is raised again where the dashboard is left
            if not self._cancel.is_set():
                with self._lock:
                    self._pending().failure = error

    def _pending(self) -> Changes:
        """Return the record to write to. The lock is held."""
        if self._changes is None:
            self._changes = Changes()
            self._wake()
        return self._changes

    def _tell(self, write: Callable[[Changes], None]) -> None:
        """Let an answer be written down."""
        with self._lock:
            write(self._pending())

    def _note_job(self, job: Job) -> None:
        with self._lock:
            self._pending().jobs[job.number] = job

    def _forget_job(self, number: int) -> None:
        self._retries.forget(number)
        with self._lock:
            self._pending().forgotten_jobs.append(number)

    def _look_again_when_asked(self) -> None:
        self._again.serve(JobKind.RESCAN)

    def _measure_when_asked(self) -> None:
        self._again.serve(JobKind.MEASURE)

    def _note_look(self, look: Report) -> None:
        with self._lock:
            self._pending().summaries[look.summary.path] = look.summary
            self._reports.keep(look.report)

    def _note_busy(self, path: bytes, change: int) -> None:
        """Count who works on a repository: a look at its files and a measurement may overlap."""
        with self._lock:
            self._busy[path] += change
            self._pending().busy[path] = self._busy[path] > 0


def _left_s(deadline_s: float) -> float:
    return max(0.0, deadline_s - time.monotonic())
