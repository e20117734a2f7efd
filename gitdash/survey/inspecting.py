"""The first half of a survey: discovery, and meanwhile the inspection of what it finds, in worker processes.

Where a report is stored, the worker gets its fingerprint and says whether the files still have it; then the stored
inspection stands, and only its moment is new.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator

import msgspec

from gitdash.inspection.messages import InspectionReply, InspectionRequest
from gitdash.model.inspection import Inspection
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import NotRepository, Repository, Unreadable
from gitdash.survey.events import Discovered, NotARepository, Progress, SurveyEvent, Waiting
from gitdash.survey.judging import Inspected
from gitdash.survey.patience import NOTED_S
from gitdash.survey.workers import InspectionPool

_AHEAD_LIMIT = 1024
"""Repositories that discovery may be ahead of inspection: more would only take memory."""
_LOOK_INTERVAL = 32
"""Repositories that discovery finds between two looks at what the workers said."""
_WAIT_S = 0.05
_NOTE_INTERVAL_S = 1.0

StoredReport = Callable[[Repository], tuple[RepositoryReport | None, bytes | None]]
"""Returns the stored report of a repository, and the fingerprint with which its inspection is still true, if it is."""


class Inspecting:
    """Discovers and inspects; `inspected` is complete when `events` has ended."""

    def __init__(
        self,
        pool: InspectionPool,
        *,
        stored: StoredReport,
        policy_for: Callable[[bytes], Policy],
        now_s: float,
        cancel: threading.Event,
    ) -> None:
        self.inspected: dict[bytes, Inspected] = {}
        self.reused_count = 0
        self._pool = pool
        self._stored = stored
        self._policy_for = policy_for
        self._now_s = now_s
        self._cancel = cancel
        self._repositories: list[Repository] = []
        self._reports: list[RepositoryReport | None] = []
        self._noted_at_s = 0.0

    def events(self, found: Iterable[Repository | NotRepository | Waiting]) -> Iterator[SurveyEvent | Inspected]:
        """Yield events, and each repository when it is inspected; ends early if the survey is cancelled."""
        for one in found:
            if isinstance(one, Waiting):
                # the search has nothing for a moment: inspection goes on
                yield from self._noted(one)
                yield from self._look(0)
                continue
            if isinstance(one, NotRepository):
                yield NotARepository(one)
                continue
            yield Discovered(one)
            if one.problem is None:
                self._submit(one)
            else:
                yield self._without_a_look(one, one.problem)
            if len(self._repositories) % _LOOK_INTERVAL == 0:
                yield from self._look(0)
            while self._pool.unanswered_count > _AHEAD_LIMIT and not self._cancel.is_set():
                yield from self._look(_WAIT_S)
        while self._pool.unanswered_count and not self._cancel.is_set():
            yield from self._look(_WAIT_S, complete=True)
        self._restore_order()

    def _submit(self, repository: Repository) -> None:
        report, fingerprint = self._stored(repository)
        request = InspectionRequest(
            number=len(self._repositories),
            git_dir=repository.git_dir,
            common_dir=repository.common_dir,
            known_fingerprint=fingerprint,
            watched=_watched(report) if fingerprint is not None else b"",
            now_s=self._now_s,
            loose_stale_age_s=self._policy_for(repository.path).loose_stale_age_s,
        )
        self._repositories.append(repository)
        self._reports.append(report)
        self._pool.submit(request)

    def _without_a_look(self, repository: Repository, problem: str) -> Inspected:
        """Take a repository of which nothing but its problem can be known."""
        self._repositories.append(repository)
        self._reports.append(None)
        one = Inspected(repository=repository, inspection=Unreadable(problem))
        self.inspected[repository.path] = one
        return one

    def _look(self, wait_s: float, *, complete: bool = False) -> Iterator[SurveyEvent | Inspected]:
        answered = False
        for reply in self._pool.replies(wait_s):
            answered = True
            yield self._take(reply)
        if answered:
            yield Progress(
                step="inspected",
                done_count=len(self.inspected),
                known_count=len(self._repositories),
                complete=complete,
            )
        elif (silent := self._pool.most_silent()) is not None:
            yield from self._noted(Waiting(step="inspecting", path=silent[0].common_dir, for_s=silent[1]))

    def _noted(self, waiting: Waiting) -> Iterator[Waiting]:
        """Yield it if it is worth a word, and the last word is a second ago."""
        now_s = time.monotonic()
        if waiting.for_s >= NOTED_S and now_s - self._noted_at_s >= _NOTE_INTERVAL_S:
            self._noted_at_s = now_s
            yield waiting

    def _take(self, reply: InspectionReply) -> Inspected:
        repository, stored = self._repositories[reply.number], self._reports[reply.number]
        self._reports[reply.number] = None
        one = _inspected(repository, reply.inspection, stored, self._now_s)
        self.reused_count += one.is_reused
        self.inspected[repository.path] = one
        return one

    def _restore_order(self) -> None:
        """Put what was inspected back into the order of discovery, which answers do not keep."""
        paths = (repository.path for repository in self._repositories)
        self.inspected = {path: self.inspected[path] for path in paths if path in self.inspected}


def _watched(report: RepositoryReport | None) -> bytes:
    return report.inspection.watched if report is not None and isinstance(report.inspection, Inspection) else b""


def _inspected(
    repository: Repository,
    answer: Inspection | Unreadable | None,
    stored: RepositoryReport | None,
    now_s: float,
) -> Inspected:
    """Put an answer and the stored report together; None answers that the stored inspection is still true."""
    known = stored.inspection if stored is not None and isinstance(stored.inspection, Inspection) else None
    if answer is None:
        if known is None:
            return Inspected(repository=repository, inspection=Unreadable("no answer from its inspection"))
        inspection = msgspec.structs.replace(known, inspected_at_s=now_s)
        return Inspected(repository=repository, inspection=inspection, stored=stored, before=stored, is_reused=True)
    is_unchanged = known is not None and isinstance(answer, Inspection) and answer.fingerprint == known.fingerprint
    return Inspected(repository=repository, inspection=answer, stored=stored if is_unchanged else None, before=stored)
