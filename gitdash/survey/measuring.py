"""The last part of a survey: index differences in its own thread, and meanwhile what git is asked, in others.

Both begin with what people look at. Members of one lender follow each other, so that its ids are read once.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gitdash.inspection.reading import unreadable
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes
from gitdash.survey.measure import Measure, SizingQueue
from gitdash.survey.priorities import Priorities
from gitdash.survey.sizing import with_answer
from gitdash.survey.watching import SizeWatch

if TYPE_CHECKING:
    from gitdash.measurement.exclusive import LenderIds

_WAIT_S = 0.1
_THREAD_COUNT = 2
"""Queries at once: each walks a history, and two keep a disk and two processors busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusiveAnswer:
    """What index arithmetic found for one repository."""

    path: bytes
    size: ExclusiveSizes | Unreadable

    def added_to(self, sizes: Sizes) -> Sizes:
        """Return the sizes with this answer."""
        return msgspec.structs.replace(sizes, exclusive=self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitAnswer:
    """What git said to one question about one repository."""

    path: bytes
    question: Question
    size: SizeMeasurement | Unreadable | None
    """None if the question was cancelled."""

    def added_to(self, sizes: Sizes) -> Sizes:
        """Return the sizes with this answer."""
        return sizes if self.size is None else with_answer(sizes, self.question, self.size)


class Measuring:
    """What is to be measured beyond files; `answers` yields until nothing is left."""

    def __init__(
        self,
        reports: Mapping[bytes, RepositoryReport],
        *,
        lenders: Callable[[bytes], tuple[bytes, ...]],
        clock: Callable[[], float],
        priorities: Priorities,
        cancel: threading.Event,
        watch: SizeWatch | None = None,
    ) -> None:
        """Take what is shared; `reports` is read again when the turn of a repository comes."""
        self.wanted_count = 0
        self._reports = reports
        self._lenders = lenders
        self._clock = clock
        self._priorities = priorities
        self._cancel = cancel
        self._watch = watch or SizeWatch()
        self._exclusive: dict[bytes, None] = {}
        self._lender_ids: LenderIds | None = None
        self._open_count = 0
        self._resources = ExitStack()
        self._queue: SizingQueue | None = None
        self._git_answers: queue.SimpleQueue[GitAnswer] = queue.SimpleQueue()

    def want_exclusive(self, chosen: Collection[bytes]) -> None:
        """Measure exclusive and duplicate bytes of these wherever they are not known and a store is its own."""
        paths = [
            path
            for path, report in self._reports.items()
            if path in chosen
            and report.repository.has_own_store
            and not isinstance(report.sizes.exclusive, ExclusiveSizes)
        ]
        self._exclusive = dict.fromkeys(sorted(paths, key=self._lenders))
        self.wanted_count += len(paths)

    def want_reachable(
        self, measure: Measure, thread_count: int | None, chosen: Collection[bytes], wanted: Collection[Question]
    ) -> None:
        """Have git measure the wanted reachable sizes of these wherever they are not known."""
        sizing_queue = SizingQueue(
            measure,
            on_started=self._watch.begun,
            on_measured=self._keep,
            thread_count=thread_count or _THREAD_COUNT,
        )
        self._queue = self._resources.enter_context(sizing_queue)
        for path, report in self._reports.items():
            questions = [one for one in open_questions(report) if one in wanted] if path in chosen else []
            if questions:
                self._open_count += len(questions)
                sizing_queue.submit(report, questions)
        self.wanted_count += self._open_count

    def answers(self) -> Iterator[GitAnswer | ExclusiveAnswer]:
        """Yield answers as they come; ends early if the survey is cancelled."""
        with self._resources:
            while (self._exclusive or self._open_count) and not self._cancel.is_set():
                if self._queue is not None:
                    self._queue.prioritise(self._priorities.paths())
                    yield from self._what_git_said()
                if self._exclusive:
                    yield self._next_exclusive()

    def _keep(self, report: RepositoryReport, question: Question, size: SizeMeasurement | Unreadable | None) -> None:
        self._watch.answered(report, question, size)
        self._git_answers.put(GitAnswer(path=report.repository.path, question=question, size=size))

    def _what_git_said(self) -> Iterator[GitAnswer]:
        """Yield the next answer of git, and wait for it if there is nothing else to do."""
        with contextlib.suppress(queue.Empty):
            answer = self._git_answers.get_nowait() if self._exclusive else self._git_answers.get(timeout=_WAIT_S)
            self._open_count -= 1
            yield answer

    def _next_exclusive(self) -> ExclusiveAnswer:
        # numpy is loaded only if there is something to measure.
        from gitdash.measurement.exclusive import LenderIds
        from gitdash.survey.exclusive import exclusive_of

        if self._lender_ids is None:
            self._lender_ids = LenderIds()
        path = self._priorities.first_of(self._exclusive) or next(iter(self._exclusive))
        del self._exclusive[path]
        report = self._reports[path]
        common_dir = report.repository.common_dir
        try:
            size = exclusive_of(common_dir, report.inspection, self._lender_ids, now_s=self._clock())
        except Exception as error:  # noqa: BLE001 - one repository must not cost the others their row
            size = unreadable(error)
        return ExclusiveAnswer(path=path, size=size)


def open_questions(report: RepositoryReport) -> tuple[Question, ...]:
    """Return the questions that git has not answered for this state of the repository."""
    known = ((Question.REACHABLE, report.sizes.reachable), (Question.REACHABLE_OWN, report.sizes.reachable_own))
    return tuple(question for question, size in known if not isinstance(size, SizeMeasurement))
