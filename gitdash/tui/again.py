"""Another look at single repositories, asked for by a key, ahead of whatever the survey is doing.

One at a time, in a thread: the files are read again, what the index difference gives is worked out again if they
changed, and git is asked for the reachable sizes if these were asked for.
"""

import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from gitdash.errors import GitdashError
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes
from gitdash.tui.clock import Clock
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.runner import GitProgram
    from gitdash.history.store import History


class LookAgain:
    """Looks again at what `ask` names, in the order of asking."""

    def __init__(
        self,
        *,
        settings: "Settings",
        history: "History | None",
        program: "GitProgram",
        clock: Clock,
        cancel: threading.Event,
    ) -> None:
        self._settings = settings
        self._history = history
        self._program = program
        self._clock = clock
        self._cancel = cancel
        self._changed = threading.Condition()
        self._asked: dict[bytes, bool] = {}
        """Paths, and whether the sizes that need git are wanted."""

    def ask(self, path: bytes, *, with_sizes: bool) -> None:
        """Queue a repository."""
        with self._changed:
            self._asked[path] = with_sizes or self._asked.get(path, False)
            self._changed.notify_all()

    def wake(self) -> None:
        """Make a waiting `next_asked` notice that it is cancelled."""
        with self._changed:
            self._changed.notify_all()

    def next_asked(self) -> tuple[bytes, bool] | None:
        """Wait for the next repository and return it with whether sizes are wanted; None if cancelled."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._asked) or self._cancel.is_set())
            if self._cancel.is_set():
                return None
            path = next(iter(self._asked))
            return path, self._asked.pop(path)

    def reports(self, known: RepositoryReport, *, with_sizes: bool) -> Iterator[RepositoryReport]:
        """Yield the report of a repository, first with what its files say, then with each size that is worked out.

        What only a survey of all knows, such as who borrows from it, stays as it was known.
        """
        # Imported here and not above: the first paint does not wait for inspection to be loaded.
        from gitdash.survey.single import report_single

        single = report_single(
            known.repository,
            settings=self._settings,
            history=self._history,
            program=self._program,
            effective_uid=os.geteuid(),
            now_s=self._clock(),
        )
        merged = msgspec.structs.replace(
            single.report, roles=known.roles, borrowers=known.borrowers, counts_store=known.counts_store
        )
        report = single.judge.with_sizes(merged, merged.sizes)
        yield report
        for sizes in self._worked_out(report, with_sizes=with_sizes):
            report = single.judge.with_sizes(report, sizes)
            yield report

    def _worked_out(self, report: RepositoryReport, *, with_sizes: bool) -> Iterator[Sizes]:
        from gitdash.measurement.exclusive import LenderIds
        from gitdash.survey.exclusive import exclusive_of
        from gitdash.survey.sizing import Sizing, preferred_strategy, with_answer

        sizes = report.sizes
        if not isinstance(sizes.exclusive, ExclusiveSizes):
            common_dir = report.repository.common_dir
            exclusive = exclusive_of(common_dir, report.inspection, LenderIds(), now_s=self._clock())
            sizes = msgspec.structs.replace(sizes, exclusive=exclusive)
            yield sizes
        if not with_sizes:
            return
        sizing = Sizing(
            self._program,
            history=self._history,
            clock=self._clock,
            time_limit_s=self._settings.size.time_limit_s,
            preferred=preferred_strategy(self._settings),
        )
        for question in Question:
            if self._cancel.is_set():
                return
            answer: SizeMeasurement | Unreadable
            try:
                answer = sizing(report, question, cancel=self._cancel)
            except GitdashError as error:
                answer = Unreadable(printable(str(error)))
            sizes = with_answer(sizes, question, answer)
            yield sizes
