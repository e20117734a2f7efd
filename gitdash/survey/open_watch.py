"""A watch that hears the end of its action once, whoever says it first: the work itself, or the queue after it."""

import threading
from collections.abc import Sequence

from gitdash.model.ledger import LedgerEntry, StoreFigures
from gitdash.survey.action_means import ActionWatch


class OpenWatch:
    """Stands for a watch until its action has ended."""

    def __init__(self, watch: ActionWatch) -> None:
        self._watch = watch
        self._lock = threading.Lock()
        self._has_ended = False

    @property
    def shows_progress(self) -> bool:
        """Whether anybody sees what `advances` says."""
        return self._watch.shows_progress

    def begins(self, before: StoreFigures) -> None:
        """Say that its turn has come."""
        self._watch.begins(before)

    def advances(
        self, step: str, done_count: int, known_count: int | None, *, received_bytes: int | None = None
    ) -> None:
        """Say how far a step is."""
        self._watch.advances(step, done_count, known_count, received_bytes=received_bytes)

    def ends(self, entries: Sequence[LedgerEntry]) -> None:
        """Say what became of it; what was said first stands."""
        with self._lock:
            is_first = not self._has_ended
            self._has_ended = True
        if is_first:
            self._watch.ends(entries)
