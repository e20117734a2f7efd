"""Inspection in worker processes: many repositories at once, and none that can stop the others.

Each worker is `python -m gitdash.inspection.worker` and answers requests in order. Some requests are under way in
each at any time, but never more bytes than a pipe holds, so that a write to a worker cannot block. A worker that
owes an answer for longer than the time limit, or that ends, costs exactly the repository that it worked on. Answers
leave a worker several at a time, so which one that was is only known if no other was under way: all that were are
asked for again, one at a time, and the one that fails alone is unreadable. While others wait behind it, one has no
more than a few seconds before that.

It does not inspect, and it does not know what a fingerprint is.
"""

import os
import selectors
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from gitdash.gitcmd.workers import WorkerProcess, start_worker
from gitdash.inspection.messages import (
    EMPTY,
    LENGTH,
    InspectionReply,
    InspectionRequest,
    complete_message,
    read_reply,
    request_message,
)
from gitdash.model.repository import Unreadable
from gitdash.survey.patience import silence

WORKER_MODULE = "gitdash.inspection.worker"
_QUEUED_BYTES_LIMIT = 32_768
"""Half of what a Linux pipe holds (pipe(7): 65,536): requests of one worker that may be unread at any time."""
_READ_BYTES = 1 << 20
_SHARED_LIMIT_S = 3.0
"""A repository that takes longer is asked for again by itself: hundreds may wait behind it."""
START_LIMIT_S = 30.0
"""A worker that has not said within this that it is up will never be."""


@dataclass(slots=True)
class _Worker:
    process: WorkerProcess
    is_up: bool = False
    under_way: deque[tuple[InspectionRequest, int]] = field(default_factory=deque)
    """Requests that were written and not answered, with their length; the first one is being worked on."""
    queued_bytes: int = 0
    received: bytearray = field(default_factory=bytearray)
    busy_since_s: float = 0.0
    """Monotonic time at which the first request under way became the first."""


class InspectionPool:
    """Worker processes that inspect; use it as a context manager, so that none outlives the survey."""

    def __init__(self, worker_count: int, *, time_limit_s: float) -> None:
        """Start the workers at once: their start-up overlaps with discovery."""
        self._time_limit_s = time_limit_s
        self._waiting: deque[InspectionRequest] = deque()
        self._suspects: deque[InspectionRequest] = deque()
        """Were under way in a worker that failed: asked for again, each alone."""
        self._failed: list[InspectionReply] = []
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        for _ in range(worker_count):
            self._start()
        self.unanswered_count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, request: InspectionRequest) -> None:
        """Queue a request; its reply comes out of `replies` some time later, in any order."""
        self.unanswered_count += 1
        self._waiting.append(request)

    def replies(self, wait_s: float) -> Iterator[InspectionReply]:
        """Hand out queued requests, wait at most `wait_s` for answers and yield those that came."""
        self._distribute()
        for key, _ in self._selector.select(wait_s if self.unanswered_count else 0):
            yield from self._counted(self._receive(key.data))
        self._replace_silent_workers()
        failed, self._failed = self._failed, []
        yield from self._counted(iter(failed))
        self._distribute()

    def most_silent(self) -> tuple[InspectionRequest, float] | None:
        """Return what a worker has not answered for the longest time, with the seconds; None if all are idle."""
        busy = [worker for worker in self._workers if worker.under_way]
        if not busy:
            return None
        worker = min(busy, key=lambda worker: worker.busy_since_s)
        return worker.under_way[0][0], time.monotonic() - worker.busy_since_s

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            self._selector.unregister(worker.process.stdout)
            worker.process.stop()
        self._workers.clear()
        self._selector.close()

    def _counted(self, replies: Iterator[InspectionReply]) -> Iterator[InspectionReply]:
        for reply in replies:
            self.unanswered_count -= 1
            yield reply

    def _start(self) -> None:
        worker = _Worker(process=start_worker(WORKER_MODULE), busy_since_s=time.monotonic())
        self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        self._workers.append(worker)
        # The answer says that it is up, so that its start counts for no repository.
        _write(worker, EMPTY)

    def _distribute(self) -> None:
        if not self._workers and (self._waiting or self._suspects):
            self._start()
        for worker in self._workers:
            if not worker.is_up:
                continue
            # suspects last: each may take the whole time limit, and all others can do without them
            if self._waiting:
                self._hand_out(worker, self._waiting, is_alone=False)
            else:
                self._hand_out(worker, self._suspects, is_alone=True)

    def _hand_out(self, worker: _Worker, requests: deque[InspectionRequest], *, is_alone: bool) -> None:
        messages = bytearray()
        while requests and not (is_alone and worker.under_way):
            message = request_message(requests[0])
            if worker.under_way and worker.queued_bytes + len(message) > _QUEUED_BYTES_LIMIT:
                break
            if not worker.under_way:
                worker.busy_since_s = time.monotonic()
            worker.under_way.append((requests.popleft(), len(message)))
            worker.queued_bytes += len(message)
            messages += message
        if messages:
            _write(worker, messages)

    def _receive(self, worker: _Worker) -> Iterator[InspectionReply]:
        chunk = os.read(worker.process.stdout.fileno(), _READ_BYTES)
        if not chunk:
            self._replace(worker, "the inspection of this repository ended its process")
            return
        worker.received += chunk
        yield from self._decode(worker)

    def _decode(self, worker: _Worker) -> Iterator[InspectionReply]:
        received, start = worker.received, 0
        worker.busy_since_s = time.monotonic()
        while (body := complete_message(received, start)) is not None:
            start += LENGTH.size + len(body)
            if not body:
                worker.is_up = True
                continue
            worker.queued_bytes -= worker.under_way.popleft()[1]
            yield read_reply(body)
        del received[:start]

    def _replace_silent_workers(self) -> None:
        now_s = time.monotonic()
        for worker in list(self._workers):
            silent_s = now_s - worker.busy_since_s
            if not worker.is_up and silent_s > START_LIMIT_S:
                self._replace(worker, "the process to inspect it did not start")
            elif worker.under_way and silent_s > self._limit_s(worker):
                self._replace(worker, silence(self._time_limit_s))

    def _limit_s(self, worker: _Worker) -> float:
        return self._time_limit_s if len(worker.under_way) == 1 else min(_SHARED_LIMIT_S, self._time_limit_s)

    def _replace(self, worker: _Worker, reason: str) -> None:
        self._selector.unregister(worker.process.stdout)
        worker.process.stop()
        self._workers.remove(worker)
        requests = [request for request, _ in worker.under_way]
        if not requests:
            # A worker that ends before it got anything costs one request, too: so replacing has an end.
            requests = self._next_request()
        if len(requests) == 1:
            self._failed.append(InspectionReply(number=requests[0].number, inspection=Unreadable(reason)))
        else:
            self._suspects.extend(requests)
        if self._waiting or self._suspects:
            self._start()

    def _next_request(self) -> list[InspectionRequest]:
        queue = self._suspects or self._waiting
        return [queue.popleft()] if queue else []


def _write(worker: _Worker, messages: bytes | bytearray) -> None:
    try:
        worker.process.stdin.write(messages)
        worker.process.stdin.flush()
    except OSError:
        # The worker has ended; its output says so as well, and there it is replaced.
        return
