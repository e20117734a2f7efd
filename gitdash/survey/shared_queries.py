"""One query of git for all who ask for its answer: at the same time, or for the other size where both are one question.

Without a lender there is nothing to leave out, and `reachable` and `own` are the same walk. It does not know what a
query is: equal keys stand for the same one, of files in the same state.
"""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.model.sizes import Question, SizeMeasurement

_TICK_S: Final = 0.05
"""How late a cancel may be noticed."""
_KEPT: Final = 16
"""Queries that have ended: whoever asked one question asks the other one next."""
_OTHER: Final = {Question.REACHABLE: Question.REACHABLE_OWN, Question.REACHABLE_OWN: Question.REACHABLE}


@dataclass(slots=True)
class _Query:
    has_ended: threading.Event = field(default_factory=threading.Event)
    outcome: SizeMeasurement | GitError | None = None
    """None until it has ended, and if that was for a reason of whoever asked."""
    owed: Counter[Question] = field(default_factory=Counter)
    """How many have had the answer to the other question, and so get this one from it, too."""

    def joined(self, question: Question) -> None:
        """Note that one more gets the answer to a question."""
        self.owed[_OTHER[question]] += 1


class SharedQueries:
    """Queries that run, and the last that have ended; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queries: dict[bytes, _Query] = {}

    def answer(
        self, key: bytes, question: Question, ask: Callable[[], SizeMeasurement], cancel: threading.Event
    ) -> SizeMeasurement:
        """Return the answer of the query that runs or ran for this key, else that of `ask`. Raises what `ask` raises.

        Who asks the same question again has it asked again. A query that is cancelled is over for its asker alone.
        Raises GitError if `cancel` is set meanwhile.
        """
        while True:
            query, is_ours = self._query(key, question)
            if is_ours:
                return self._asked(key, query, ask)
            while not query.has_ended.wait(_TICK_S):
                if cancel.is_set():
                    raise GitError("git was cancelled", kind=GitFailure.CANCELLED)
            if isinstance(query.outcome, GitError):
                raise query.outcome
            if query.outcome is not None:
                return query.outcome

    def _query(self, key: bytes, question: Question) -> tuple[_Query, bool]:
        """Return the query to wait for, or a new one, and whether it is new."""
        with self._lock:
            query = self._queries.get(key)
            if query is not None and not query.has_ended.is_set():
                query.joined(question)
                return query, False
            if query is not None and query.owed[question]:
                query.owed[question] -= 1
                return query, False
            query = _Query()
            query.joined(question)
            self._queries.pop(key, None)
            self._queries[key] = query
            return query, True

    def _asked(self, key: bytes, query: _Query, ask: Callable[[], SizeMeasurement]) -> SizeMeasurement:
        try:
            query.outcome = measurement = ask()
        except GitError as error:
            if error.kind is not GitFailure.CANCELLED:
                query.outcome = error
            raise
        finally:
            self._end(key, query)
        return measurement

    def _end(self, key: bytes, query: _Query) -> None:
        with self._lock:
            if query.outcome is None:
                del self._queries[key]
            ended = [other for other, one in self._queries.items() if one.has_ended.is_set()]
            for other in ended[: max(len(ended) + 1 - _KEPT, 0)]:
                del self._queries[other]
            query.has_ended.set()
