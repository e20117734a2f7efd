"""The dashboard's rows from a survey: runs it in a daemon thread and keeps, for the next look, the latest of each row.

One thread iterates over the survey's events; another reads stored reports that somebody looks at. Both only write
into a record of changes under a lock, which `take` empties.
"""

import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from gitdash.errors import GitdashError
from gitdash.gitcmd.runner import GitProgram, stop_everything
from gitdash.model.report import RepositoryReport
from gitdash.survey.events import Finished, Notice, Progress, Report, SurveyEvent
from gitdash.tui.clock import Clock
from gitdash.tui.source import Changes, SurveyProgress

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History

_JOIN_S: Final = 0.5


class SurveyFeed:
    """Implements `FleetSource`."""

    def __init__(
        self,
        roots: Sequence[bytes],
        *,
        settings: "Settings",
        history: "History | None",
        program: GitProgram | None,
        clock: Clock,
    ) -> None:
        self._roots = tuple(roots)
        self._settings = settings
        self._history = history
        self._program = program
        self._clock = clock
        self._changed = threading.Condition()
        self._changes: Changes | None = None
        self._cancel = threading.Event()
        self._survey_is_wanted = True
        self._wanted_report: bytes | None = None
        self._encoded: dict[bytes, bytes] = {}
        """Reports by path where there is no state file to read them from; encoded, they take a tenth."""
        self._step: tuple[str, float] = ("", 0.0)
        self._threads = [
            threading.Thread(target=self._survey_when_wanted, name="survey", daemon=True),
            threading.Thread(target=self._read_reports, name="reports", daemon=True),
        ]

    def start(self) -> None:
        """Begin to survey."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads and every process that runs for them."""
        self._cancel.set()
        with self._changed:
            self._changed.notify_all()
        stop_everything()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_JOIN_S)

    def take(self) -> Changes | None:
        """Return what happened since the last call."""
        with self._changed:
            changes, self._changes = self._changes, None
        return changes

    def prioritise(self, paths: Sequence[bytes]) -> None:
        """Measure these first."""

    def rescan(self, path: bytes | None) -> None:
        """Survey again; what is unchanged costs next to nothing."""
        with self._changed:
            self._survey_is_wanted = True
            self._changed.notify_all()

    def measure(self, path: bytes) -> None:
        """Measure one repository now."""

    def request_report(self, path: bytes) -> None:
        """Have a report read."""
        with self._changed:
            self._wanted_report = path
            self._changed.notify_all()

    def _pending(self) -> Changes:
        """Return the record to write to. The lock is held."""
        if self._changes is None:
            self._changes = Changes()
        return self._changes

    def _survey_when_wanted(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._survey_is_wanted or self._cancel.is_set())
                self._survey_is_wanted = False
            if self._cancel.is_set():
                return
            try:
                self._survey()
            except GitdashError as error:
                with self._changed:
                    self._pending().failure = error

    def _survey(self) -> None:
        # Imported here and not above: the first paint does not wait for discovery and inspection to be loaded.
        from gitdash.survey.survey import SizesWanted, SurveyRequest, run_survey

        request = SurveyRequest(
            roots=self._roots,
            settings=self._settings,
            sizes=SizesWanted.EXCLUSIVE,
            now_s=self._clock(),
            clock=self._clock,
            program=self._program,
            history=self._history,
            effective_uid=os.geteuid(),
            reports_early=True,
        )
        for event in run_survey(request, cancel=self._cancel):
            with self._changed:
                self._note(event)

    def _note(self, event: SurveyEvent) -> None:
        match event:
            case Report(report=report, summary=summary):
                self._pending().summaries[summary.path] = summary
                if self._history is None:
                    self._encoded[summary.path] = msgspec.msgpack.encode(report)
            case Progress():
                self._pending().progress = self._progress(event)
            case Notice(text=text):
                self._pending().notices.append(text)
            case Finished(elapsed_s=elapsed_s):
                count = event.totals.repository_count
                self._pending().progress = SurveyProgress(
                    step="surveyed", done_count=count, known_count=count, complete=True, elapsed_s=elapsed_s
                )
            case _:
                pass

    def _progress(self, event: Progress) -> SurveyProgress:
        now_s = time.monotonic()
        if event.step != self._step[0]:
            self._step = (event.step, now_s)
        return SurveyProgress(
            step=event.step,
            done_count=event.done_count,
            known_count=event.known_count,
            complete=event.complete,
            elapsed_s=now_s - self._step[1],
        )

    def _read_reports(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted_report is not None or self._cancel.is_set())
                path, self._wanted_report = self._wanted_report, None
            if self._cancel.is_set() or path is None:
                return
            report = self._report(path)
            with self._changed:
                self._pending().reports[path] = report

    def _report(self, path: bytes) -> RepositoryReport | None:
        try:
            if self._history is not None:
                return self._history.report(path)
        except GitdashError:
            # A state file that became unreadable is the survey's to report; the detail shows the row alone.
            return None
        encoded = self._encoded.get(path)
        return None if encoded is None else msgspec.msgpack.decode(encoded, type=RepositoryReport)
