"""Another look at single repositories, asked for by a key, ahead of whatever the survey is doing.

Two queues, for a thread each, so that nobody who only wants the files read waits for git: a look at the files, and a
measurement. Each reads the files again and works out anew what the index difference gives if they changed.
"""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gitdash.errors import GitdashError
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes
from gitdash.tui.clock import Clock
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.runner import GitProgram
    from gitdash.history.store import History


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What another look has found so far."""

    report: RepositoryReport
    shown_sizes: Sizes
    """Those of the report, and the former ones in place of what is still being worked out."""


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
        self._asked: dict[bool, dict[bytes, None]] = {False: {}, True: {}}
        """Paths in the order of asking, by whether the sizes that need git are wanted."""
        self._former: dict[bytes, Sizes] = {}
        """What was known of the sizes that a measurement has been asked for."""

    def ask(self, path: bytes, *, with_sizes: bool) -> None:
        """Queue a repository."""
        with self._changed:
            self._asked[with_sizes][path] = None
            self._changed.notify_all()

    def wake(self) -> None:
        """Make a waiting `next_asked` notice that it is cancelled."""
        with self._changed:
            self._changed.notify_all()

    def next_asked(self, *, with_sizes: bool) -> bytes | None:
        """Wait for the next repository of a queue and return it; None if cancelled."""
        asked = self._asked[with_sizes]
        with self._changed:
            self._changed.wait_for(lambda: bool(asked) or self._cancel.is_set())
            if self._cancel.is_set():
                return None
            path = next(iter(asked))
            del asked[path]
            return path

    def looks(self, known: RepositoryReport, *, with_sizes: bool) -> Iterator[Look]:
        """Yield what the files of a repository say, and then each size that is worked out.

        Without `with_sizes`, asks for a measurement at the end if git has to answer anew. What only a survey of all
        knows, such as who borrows from the repository, stays as it was known.
        """
        path = known.repository.path
        former = self._former.pop(path, known.sizes) if with_sizes else known.sizes
        for report in self._reports(known, with_sizes=with_sizes):
            yield Look(report=report, shown_sizes=_with_former(report, former))
        if not with_sizes and isinstance(report.inspection, Inspection) and _is_open(report.sizes):
            self._former[path] = former
            self.ask(path, with_sizes=True)

    def _reports(self, known: RepositoryReport, *, with_sizes: bool) -> Iterator[RepositoryReport]:
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
        if report.repository.has_own_store and not isinstance(sizes.exclusive, ExclusiveSizes):
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


def _is_open(sizes: Sizes) -> bool:
    """Tell whether git has not answered for this state of the files."""
    return not (isinstance(sizes.reachable, SizeMeasurement) and isinstance(sizes.reachable_own, SizeMeasurement))


def _with_former(report: RepositoryReport, former: Sizes) -> Sizes:
    """Return the sizes to show meanwhile: a figure with its age says more than a blank."""
    sizes = report.sizes
    if isinstance(report.inspection, Unreadable):
        return sizes
    return msgspec.structs.replace(
        sizes,
        exclusive=sizes.exclusive or former.exclusive,
        reachable=sizes.reachable or former.reachable,
        reachable_own=sizes.reachable_own or former.reachable_own,
    )
