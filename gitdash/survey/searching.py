"""Discovery in a thread of its own, so that a folder that does not answer costs no more than what lies below it.

After some seconds of silence the thread is left where it hangs, and the search begins anew without that folder: what
came out before does not come out again. A search of what is known to the kernel takes a second for 10,000 repositories.
At the end what hangs is waited for: a thread that goes on searches what it was kept from, and a folder that is silent
for the whole time limit is given up.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Container, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from gitdash.discovery.roots import DiscoveryLimits, check_root, discover
from gitdash.discovery.search import Place, Result
from gitdash.inspection.files import read_file
from gitdash.model.repository import NotRepository
from gitdash.survey.events import Waiting
from gitdash.survey.patience import NOTED_S, silence, within

if TYPE_CHECKING:
    from gitdash.config.settings import Settings

_LOOK_INTERVAL_S: Final = 0.005
"""Between two looks at what was found: who waited for each would be woken for each."""
_AHEAD_LIMIT: Final = 1024
"""Results that nobody has read yet: more would only take memory."""

_ROOT_LIMIT_S: Final = 2.0
"""Nothing is painted before the roots are known to be there."""

Start = Callable[[Place, Container[bytes], threading.Event], Iterator[Result]]
"""Begins a search that writes its place down, avoids some folders, and ends when an event is set."""


@dataclass(slots=True)
class _Run:
    """One search in its thread."""

    avoided: set[bytes]
    """Folders that it does not touch; may grow while it runs."""
    cancel: threading.Event = field(default_factory=threading.Event)
    place: Place = field(default_factory=Place)
    found: "queue.SimpleQueue[Result | Exception | None]" = field(default_factory=queue.SimpleQueue)
    """None at the end."""
    path: bytes = b""
    """Where it was at the last look."""
    since_s: float = field(default_factory=time.monotonic)
    """When a look first found it there."""

    def search(self, start: Start) -> None:
        """Run to the end."""
        try:
            for one in start(self.place, self.avoided, self.cancel):
                self.found.put(one)
                while self.found.qsize() > _AHEAD_LIMIT and not self.cancel.is_set():
                    self.cancel.wait(_LOOK_INTERVAL_S)
            self.found.put(None)
        except Exception as error:  # noqa: BLE001 - it is raised again where somebody waits
            self.found.put(error)

    def has_answered(self) -> bool:
        """Tell whether it has gone on since the last look."""
        return self.place.path != self.path or not self.found.empty()

    def silent_s(self) -> float:
        """Look where it is; returns for how long it has been there."""
        now_s = time.monotonic()
        if self.place.path != self.path:
            self.path, self.since_s = self.place.path, now_s
        return now_s - self.since_s


def check_roots(roots: Sequence[bytes]) -> None:
    """Raise RootError unless all roots can be searched; one that does not answer is left to the search."""
    for root in roots:
        with contextlib.suppress(TimeoutError):
            within(_ROOT_LIMIT_S, partial(check_root, root))


class Searching:
    """A search that nothing can stop for longer than a time limit, and that goes on with the rest meanwhile."""

    def __init__(self, start: Start, *, time_limit_s: float, cancel: threading.Event) -> None:
        """Take how a search is begun, and how long one folder may take."""
        self.silent: list[bytes] = []
        """Folders that did not answer."""
        self._start = start
        self._time_limit_s = time_limit_s
        self._aside_after_s = min(NOTED_S, time_limit_s)
        self._cancel = cancel
        self._aside: list[_Run] = []
        """Runs that hang; others go on without the folders where they do."""
        self._seen: set[bytes] = set()

    def results(self) -> Iterator[Result | Waiting]:
        """Yield what is found, and `Waiting` whenever there is nothing for a moment. Raises what the search raises."""
        run: _Run | None = self._begin()
        try:
            while run is not None:
                if (yield from self._results_of(run)):
                    run.cancel.set()
                    run = yield from self._answering()
                else:
                    self._set_aside(run)
                    run = self._begin()
        finally:
            for one in (run, *self._aside):
                if one is not None:
                    one.cancel.set()

    def _begin(self) -> _Run:
        run = _Run(avoided={*self.silent, *(other.path for other in self._aside)})
        threading.Thread(target=run.search, args=(self._start,), name="search", daemon=True).start()
        return run

    def _set_aside(self, run: _Run) -> None:
        """Leave a run where it hangs; should it go on, it searches what no other does."""
        for other in self._aside:
            other.avoided.add(run.path)
        self._aside.append(run)

    def _results_of(self, run: _Run) -> Generator[Result | Waiting, None, bool]:
        """Yield the results of one run; returns whether it came to its end, or else hangs."""
        while not self._cancel.is_set():
            try:
                one = run.found.get_nowait()
            except queue.Empty:
                if run.silent_s() > self._aside_after_s:
                    return False
                yield self._waiting(run)
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

    def _answering(self) -> Generator[Result | Waiting, None, _Run | None]:
        """Wait for those that hang until one goes on, and return it; None once all are given up."""
        while self._aside and not self._cancel.is_set():
            for run in list(self._aside):
                if run.has_answered():
                    self._aside.remove(run)
                    return run
                if run.silent_s() > self._time_limit_s:
                    self._aside.remove(run)
                    run.cancel.set()
                    self.silent.append(run.path)
                    yield NotRepository(path=run.path, reason=silence(self._time_limit_s))
            if self._aside:
                yield self._waiting(self._aside[0])
                self._cancel.wait(_LOOK_INTERVAL_S)
        return None

    def _waiting(self, run: _Run) -> Waiting:
        """Say what has been silent for longest: what was set aside first, if anything was."""
        run = next(iter(self._aside), run)
        return Waiting(step="searching", path=run.path, for_s=time.monotonic() - run.since_s)


def search_roots(
    roots: Sequence[bytes], *, settings: "Settings", effective_uid: int, cancel: threading.Event
) -> Searching:
    """Return a search below roots as the settings have it. Raises RootError unless all roots can be searched."""
    limits = DiscoveryLimits(
        exclude=settings.exclude(), maximum_depth=settings.scan.depth, one_file_system=settings.scan.one_file_system
    )

    def start(place: Place, avoided: Container[bytes], cancel: threading.Event) -> Iterator[Result]:
        return discover(
            roots,
            replace(limits, avoided=avoided),
            read=read_file,
            effective_uid=effective_uid,
            trusted_roots=settings.trusted_roots(),
            cancel=cancel,
            place=place,
        )

    check_roots(roots)
    return Searching(start, time_limit_s=settings.scan.time_limit_s, cancel=cancel)
