"""The line on stderr while git works out sizes: how many are done, and what is being asked since when.

git says nothing while it walks a history, which may take minutes: so the line is drawn anew each second.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, Self

from typing_extensions import override

from gitdash.cli.output import ProgressLine
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement
from gitdash.survey.watching import SizeWatch
from gitdash.units import printable_path

_TICK_S: Final = 1.0


class MeasuringLine(SizeWatch):
    """Of one command; a context manager that takes the line away at the end. For any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._line = ProgressLine()
        self._lock = threading.Lock()
        self._far = ""
        self._asked: dict[bytes, tuple[float, int]] = {}
        """When it began, and how many answers are still to come."""
        self._end = threading.Event()

    def __enter__(self) -> Self:
        if self._line.is_shown:
            threading.Thread(target=self._tick, name="progress", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.clear()

    def show(self, far: str) -> None:
        """Say how far all is."""
        with self._lock:
            self._far = far
            self._line.show(self.text())

    def clear(self) -> None:
        """Take the line away, for something is printed."""
        with self._lock:
            self._line.clear()

    @override
    def begun(self, report: RepositoryReport, questions: Sequence[Question], cancel: threading.Event) -> None:
        with self._lock:
            self._asked[report.repository.path] = self._clock(), len(questions)

    @override
    def answered(self, report: RepositoryReport, question: Question, size: SizeMeasurement | Unreadable | None) -> None:
        path = report.repository.path
        with self._lock:
            began_s, left = self._asked.pop(path)
            if left > 1:
                self._asked[path] = began_s, left - 1

    def text(self) -> str:
        """Return what the line says."""
        now_s = self._clock()
        asked = [
            f"{printable_path(path.rpartition(b'/')[2])} {now_s - began_s:.0f} s"
            for path, (began_s, _) in self._asked.items()
        ]
        return f"{self._far}: {' | '.join(asked)}" if asked else self._far

    def _tick(self) -> None:
        while not self._end.wait(_TICK_S):
            with self._lock:
                if self._asked and not self._end.is_set():
                    self._line.show(self.text())
