"""The family of one repository, found anew when the fleet has changed, but not for every change."""

import math
import time
from collections.abc import Callable, Iterable
from typing import Final

from gitdash.export.family import Family, family
from gitdash.model.summary import RepositorySummary

LOOK_INTERVAL_S: Final = 1.0
"""Between two looks at the fleet, at least: each goes over all repositories."""


class Relatives:
    """Knows whom a repository borrows from, and who borrows from it."""

    def __init__(
        self, path: bytes, summaries: Callable[[], Iterable[RepositorySummary]], later: Callable[[float], object]
    ) -> None:
        """`later` is asked to call `due` and to have the family asked for again, in so many seconds."""
        self._path = path
        self._summaries = summaries
        self._later = later
        self._family: Family | None = None
        self._is_stale = False
        self._is_awaited = False
        self._looked_at_s = -math.inf

    def changed(self) -> None:
        """The fleet is other than before."""
        self._is_stale = True

    def due(self) -> None:
        """The time that `later` was told is over, by whatever clock."""
        if self._is_awaited:
            self._is_awaited = False
            self._looked_at_s = -math.inf

    def family(self) -> Family:
        """Return the family as it is now, or was a moment ago. 30 ms among 10,000 repositories."""
        if self._family is not None and not self._is_stale:
            return self._family
        left_s = self._looked_at_s + LOOK_INTERVAL_S - time.monotonic()
        if self._family is None or left_s <= 0:
            self._family = family(self._path, self._summaries())
            self._is_stale = self._is_awaited = False
            self._looked_at_s = time.monotonic()
        elif not self._is_awaited:
            self._is_awaited = True
            self._later(left_s)
        return self._family
