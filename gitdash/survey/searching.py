"""Discovery in a thread of its own, so that a folder that does not answer costs no more than what lies below it.

The thread is left behind in the folder where it hangs, and the search begins anew without that folder: what came out
before does not come out again. A search of what is known to the kernel takes a second for 10,000 repositories.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from gitdash.discovery.roots import check_root
from gitdash.discovery.search import Place, Result
from gitdash.model.repository import NotRepository
from gitdash.survey.events import Waiting
from gitdash.survey.patience import silence, within

_LOOK_INTERVAL_S: Final = 0.005
"""Between two looks at what was found: who waited for each would be woken for each."""
_AHEAD_LIMIT: Final = 1024
"""Results that nobody has read yet: more would only take memory."""

_ROOT_LIMIT_S: Final = 2.0
"""Nothing is painted before the roots are known to be there."""

Start = Callable[[Place, frozenset[bytes], threading.Event], Iterator[Result]]
"""Begins a search that writes its place down, avoids some folders, and ends when an event is set."""


@dataclass(slots=True)
class _Run:
    """One search in its thread."""

    cancel: threading.Event = field(default_factory=threading.Event)
    place: Place = field(default_factory=Place)
    found: "queue.SimpleQueue[Result | Exception | None]" = field(default_factory=queue.SimpleQueue)
    """None at the end."""

    def search(self, start: Start, avoided: frozenset[bytes]) -> None:
        """Run to the end."""
        try:
            for one in start(self.place, avoided, self.cancel):
                self.found.put(one)
                while self.found.qsize() > _AHEAD_LIMIT and not self.cancel.is_set():
                    self.cancel.wait(_LOOK_INTERVAL_S)
            self.found.put(None)
        except Exception as error:  # noqa: BLE001 - it is raised again where somebody waits
            self.found.put(error)


def check_roots(roots: Sequence[bytes]) -> None:
    """Raise RootError unless all roots can be searched; one that does not answer is left to the search."""
    for root in roots:
        with contextlib.suppress(TimeoutError):
            within(_ROOT_LIMIT_S, partial(check_root, root))


class Searching:
    """A search that nothing can stop for longer than a time limit."""

    def __init__(self, start: Start, *, time_limit_s: float, cancel: threading.Event) -> None:
        """Take how a search is begun, and how long one folder may take."""
        self.silent: list[bytes] = []
        """Folders that did not answer."""
        self._start = start
        self._time_limit_s = time_limit_s
        self._cancel = cancel
        self._seen: set[bytes] = set()

    def results(self) -> Iterator[Result | Waiting]:
        """Yield what is found, and `Waiting` whenever there is nothing for a moment. Raises what the search raises."""
        while not self._cancel.is_set():
            run = _Run()
            arguments = (self._start, frozenset(self.silent))
            threading.Thread(target=run.search, args=arguments, name="search", daemon=True).start()
            try:
                is_over = yield from self._results_of(run)
            finally:
                run.cancel.set()
            if is_over:
                return
            self.silent.append(run.place.path)
            yield NotRepository(path=run.place.path, reason=silence(self._time_limit_s))

    def _results_of(self, run: _Run) -> Generator[Result | Waiting, None, bool]:
        """Yield the results of one run; returns whether it came to its end."""
        place, since_s = b"", time.monotonic()
        while not self._cancel.is_set():
            try:
                one = run.found.get_nowait()
            except queue.Empty:
                now_s = time.monotonic()
                if run.place.path != place:
                    place, since_s = run.place.path, now_s
                if now_s - since_s > self._time_limit_s:
                    return False
                yield Waiting(step="searching", path=place, for_s=now_s - since_s)
                self._cancel.wait(_LOOK_INTERVAL_S)
                continue
            if one is None:
                return True
            if isinstance(one, Exception):
                raise one
            if one.path not in self._seen:
                self._seen.add(one.path)
                yield one
        return True
