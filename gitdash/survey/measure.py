"""The queue of heavy measurements: sizes that git has to work out, in a few threads that wait for git.

What people look at comes first (`prioritise`), each repository is measured by one thread at a time, and `close` ends
the git processes that are under way. The measurement of one repository has an event of its own that cancels it alone.
It does not know how a size is obtained: that is `sizing`.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeAlias

from gitdash.errors import GitdashError
from gitdash.inspection.reading import unreadable
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement
from gitdash.units import printable

OnStarted: TypeAlias = Callable[[RepositoryReport, Sequence[Question], threading.Event], None]
"""Called with what was submitted and the event that cancels it, from a measuring thread."""
OnMeasured: TypeAlias = Callable[[RepositoryReport, Question, SizeMeasurement | Unreadable | None], None]
"""Called with the report that was submitted and the answer, None if it was cancelled, from a measuring thread."""


class Measure(Protocol):
    """How a size is obtained; may raise GitdashError."""

    def __call__(
        self, report: RepositoryReport, question: Question, *, cancel: threading.Event
    ) -> SizeMeasurement | Unreadable:
        """Return the answer to one question."""
        ...


class SizingQueue:
    """Measurements that wait, and the threads that make them; a context manager that cancels what is left."""

    def __init__(
        self,
        measure: Measure,
        *,
        on_measured: OnMeasured,
        on_started: OnStarted = lambda *_: None,
        thread_count: int = 2,
    ) -> None:
        """Start the threads. They are daemons: a git that does not end cannot keep the process alive."""
        self._measure = measure
        self._on_measured = on_measured
        self._on_started = on_started
        self._changed = threading.Condition()
        self._waiting: dict[bytes, tuple[RepositoryReport, tuple[Question, ...]]] = {}
        self._first: list[bytes] = []
        self._running: dict[bytes, threading.Event] = {}
        self._cancel = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name=f"sizing-{number}", daemon=True) for number in range(thread_count)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, report: RepositoryReport, questions: Sequence[Question]) -> None:
        """Queue a repository; a newer report takes the place of one that still waits."""
        with self._changed:
            self._waiting[report.repository.path] = (report, tuple(questions))
            self._changed.notify()

    def prioritise(self, paths: Sequence[bytes]) -> None:
        """Measure these first, in this order, as soon as a thread is free."""
        with self._changed:
            self._first = list(paths)

    def wait_until_done(self, wait_s: float) -> bool:
        """Wait at most `wait_s`; return whether nothing is left."""
        with self._changed:
            return self._changed.wait_for(self._is_done, wait_s)

    def close(self) -> None:
        """Drop what waits, end the git processes that are under way, and wait for the threads a moment."""
        self._cancel.set()
        with self._changed:
            self._waiting.clear()
            for cancel in self._running.values():
                cancel.set()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=1.0)

    def _is_done(self) -> bool:
        return not self._waiting and not self._running

    def _run(self) -> None:
        while (job := self._next()) is not None:
            report, questions, cancel = job
            try:
                self._on_started(report, questions, cancel)
                self._answer(report, questions, cancel)
            finally:
                with self._changed:
                    del self._running[report.repository.path]
                    self._changed.notify_all()

    def _next(self) -> tuple[RepositoryReport, tuple[Question, ...], threading.Event] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._cancel.is_set() or self._free_path() is not None)
            path = self._free_path()
            if self._cancel.is_set() or path is None:
                return None
            cancel = self._running[path] = threading.Event()
            return (*self._waiting.pop(path), cancel)

    def _free_path(self) -> bytes | None:
        """Return the path to measure next; a repository that is being measured waits for its turn."""
        wanted = next((path for path in self._first if path in self._waiting and path not in self._running), None)
        return wanted or next((path for path in self._waiting if path not in self._running), None)

    def _answer(self, report: RepositoryReport, questions: tuple[Question, ...], cancel: threading.Event) -> None:
        for question in questions:
            answer = self._answer_to(report, question, cancel)
            if self._cancel.is_set():
                return
            self._on_measured(report, question, answer)

    def _answer_to(
        self, report: RepositoryReport, question: Question, cancel: threading.Event
    ) -> SizeMeasurement | Unreadable | None:
        if cancel.is_set():
            return None
        answer: SizeMeasurement | Unreadable
        try:
            answer = self._measure(report, question, cancel=cancel)
        except GitdashError as error:
            answer = Unreadable(printable(str(error)))
        except Exception as error:  # noqa: BLE001 - an answer must come, or the survey would wait for it for ever
            answer = unreadable(error)
        return None if cancel.is_set() and isinstance(answer, Unreadable) else answer
