# ruff: noqa: A005 - absolute imports alone are used, and the queue of actions is what it is
"""The queue of actions: fetches, maintenance and heavy measurements, on threads that end with the process.

`schedule` says what may start; this module starts it, once for each request that is the same, and tells how it ended.
A thread that finds nothing to do for a while ends. Ledger, plans and git are the business of the work itself.
"""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from gitdash.maintenance.claims import Claims
from gitdash.maintenance.outcomes import classify
from gitdash.maintenance.schedule import QueueLimits, Schedule, Turn
from gitdash.model.ledger import Outcome

Work = Callable[[threading.Event], Outcome]
"""Does an action; the event is set when it shall stop. It may raise whatever it likes."""

_LINGER_S: Final = 1.0
"""A thread waits so long for more: requests that come one after the other do not cost a thread each."""


class Ticket:
    """One request, from the moment it is queued."""

    __slots__ = (
        "_on_end",
        "_on_start",
        "_queue",
        "_work",
        "cancelled",
        "claims",
        "done",
        "error",
        "key",
        "outcome",
        "turn",
    )

    def __init__(self, queue: "ActionQueue", turn: Turn, key: Hashable, work: Work) -> None:
        self.claims = turn.claims
        self.key = key
        """What the request is the same by."""
        self.turn = turn
        self.done = threading.Event()
        """Set when all is over, what is called at the end included."""
        self.cancelled = threading.Event()
        """The event that the work is given."""
        self.outcome: Outcome | None = None
        """None if it waits, RUNNING while it runs."""
        self.error: BaseException | None = None
        """What the work raised, or what was called at its start or end."""
        self._queue = queue
        self._work = work
        self._on_start: list[Listener] = []
        self._on_end: list[Listener] = []

    def cancel(self) -> None:
        """Take it out of the queue, or ask it to stop if it runs. What is over stays as it is."""
        self._queue.cancel((self,))

    def listen(self, on_start: "Listener | None", on_end: "Listener | None") -> None:
        """Have functions called when it starts and when it is over; for the queue, which holds its lock meanwhile."""
        self._on_start += [on_start] if on_start else []
        self._on_end += [on_end] if on_end else []

    def run(self) -> None:
        """Do the work; whatever it raises is kept. For the queue."""
        try:
            for call in tuple(self._on_start):
                call(self)
            self.outcome = self._work(self.cancelled)
        except BaseException as error:  # noqa: BLE001 - one ticket ends, the thread has others to serve
            self.error = error
            self.outcome = classify(error).outcome

    def tell(self) -> None:
        """Call what wants to know that it is over. For the queue."""
        for call in tuple(self._on_end):
            try:
                call(self)
            except BaseException as error:  # noqa: BLE001 - the same
                self.error = self.error or error


Listener = Callable[[Ticket], object]


class ActionQueue:
    """Runs what it is given, as much at once as the limits allow. For any thread."""

    def __init__(self, limits: QueueLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._startable = threading.Condition(self._lock)
        self._all_over = threading.Condition(self._lock)
        self._schedule = Schedule(limits)
        self._open: dict[Turn, Ticket] = {}
        """What is not over."""
        self._by_key: dict[tuple[bytes, Hashable], Ticket] = {}
        self._thread_count = 0
        self._idle_count = 0

    def add(
        self,
        claims: Claims,
        key: Hashable,
        work: Work,
        *,
        on_start: Listener | None = None,
        on_end: Listener | None = None,
    ) -> Ticket:
        """Queue an action. One with the same repository and key that waits or runs is the answer, if there is one.

        `on_start` is called in the thread that does the work, before it, and not at all if the work has begun or never
        does. `on_end` is called in that thread, before anything starts that had to wait for this, or in the thread that
        takes it out of the queue. Neither may wait for other tickets.
        """
        with self._lock:
            ticket = self._by_key.get((claims.repository, key))
            if ticket is None or ticket.cancelled.is_set():
                turn = self._schedule.add(claims)
                ticket = Ticket(self, turn, key, work)
                self._open[turn] = self._by_key[claims.repository, key] = ticket
                self._summon()
            ticket.listen(on_start, on_end)
            return ticket

    def host_refused(self, host: str) -> None:
        """Double the pause between starts on a host that lets nobody in for now; each success there halves it."""
        with self._lock:
            self._schedule.pace(host).refused(self._clock())

    def cancel_all(self) -> None:
        """Empty the queue and ask everything that runs to stop; what is added from now on is not concerned."""
        self.cancel(None)

    def cancel(self, tickets: Sequence[Ticket] | None) -> None:
        """Cancel some tickets at once; None is all."""
        with self._lock:
            concerned = [ticket for ticket in self._open.values() if tickets is None or ticket in tickets]
            dropped = [ticket for ticket in concerned if ticket.outcome is None]
            for ticket in concerned:
                ticket.cancelled.set()
            for ticket in dropped:
                ticket.outcome = Outcome.CANCELLED
                self._schedule.drop(ticket.turn)
                self._join_no_more(ticket)
            self._summon()
        for ticket in dropped:
            ticket.tell()
        with self._lock:
            for ticket in dropped:
                self._is_over(ticket)

    def wait(self, limit_s: float) -> bool:
        """Wait until everything is over; False if that takes longer."""
        with self._lock:
            return self._all_over.wait_for(lambda: not self._open, limit_s)

    def _summon(self) -> None:
        """See to it that a thread looks at the schedule. Needs the lock, as all below that do not take it."""
        if not self._schedule.waiting_count:
            return
        if self._idle_count:
            self._startable.notify()
        elif self._thread_count < self._limits.jobs:
            self._thread_count += 1
            threading.Thread(target=self._serve, name="gitdash-action", daemon=True).start()

    def _serve(self) -> None:
        while (ticket := self._next()) is not None:
            ticket.run()
            with self._lock:
                self._join_no_more(ticket)
            ticket.tell()
            with self._lock:
                self._schedule.end(ticket.turn)
                if ticket.claims.host is not None and ticket.outcome is not None and ticket.outcome.is_good:
                    self._schedule.pace(ticket.claims.host).succeeded()
                self._is_over(ticket)

    def _next(self) -> Ticket | None:
        """Return what this thread does now, waiting for it for a while; None if the thread is not needed."""
        is_patient = True
        with self._lock:
            while (turn := self._schedule.start_next(self._clock())) is None:
                delay_s = self._schedule.delay_s(self._clock())
                if delay_s is None and not is_patient:
                    self._thread_count -= 1
                    return None
                self._idle_count += 1
                is_patient = self._startable.wait(_LINGER_S if delay_s is None else delay_s)
                self._idle_count -= 1
            ticket = self._open[turn]
            ticket.outcome = Outcome.RUNNING
            self._summon()
            return ticket

    def _join_no_more(self, ticket: Ticket) -> None:
        """Let no later request share a ticket."""
        key = (ticket.claims.repository, ticket.key)
        if self._by_key.get(key) is ticket:
            del self._by_key[key]

    def _is_over(self, ticket: Ticket) -> None:
        ticket.done.set()
        del self._open[ticket.turn]
        if not self._open:
            self._all_over.notify_all()
