"""The register of jobs: which there are, where each stands, and the event that cancels it.

Usable from any thread. It does no work: who does says when a job starts, how far it is and how it ended. Ended jobs are
kept up to a number, so that a survey of 10,000 repositories does not leave 10,000 lines.
"""

import threading
from collections.abc import Callable
from typing import Final

import msgspec

from gitdash.model.job import Job, JobFigures, JobKind, JobState
from gitdash.model.ledger import LedgerEntry
from gitdash.tui.clock import Clock

KEPT_PARTS: Final = 100
"""Parts of surveys that went well: the last of them show what was done just now."""
KEPT_ENDED: Final = 1_000
"""Each of the others that ended: parts that did not go well, and jobs of a person's own that did, or did not."""


class JobRegister:
    """All jobs by number; every change is handed on in its order."""

    def __init__(self, clock: Clock, *, on_changed: Callable[[Job], None], on_forgotten: Callable[[int], None]) -> None:
        """Take who is told of changes: from whichever thread makes one, while the register waits."""
        self._clock = clock
        self._on_changed = on_changed
        self._on_forgotten = on_forgotten
        self._lock = threading.Lock()
        self._last_number = 0
        self._jobs: dict[int, Job] = {}
        self._cancels: dict[int, threading.Event] = {}
        """Of the jobs that have not ended."""
        self._on_cancel: dict[int, Callable[[], None]] = {}
        """What else is to be called when one of these is cancelled."""
        self._ended: dict[tuple[bool, bool], dict[int, None]] = {}
        """Numbers in the order of ending, by whether it was part of a survey and whether it went well."""
        self._failed: dict[tuple[JobKind, bytes | None], list[int]] = {}
        """Those of each kind on a repository that were not done and are not settled."""

    def ask(  # noqa: PLR0913 - what is known of a job from the start, each by name
        self,
        kind: JobKind,
        path: bytes | None,
        *,
        what: str = "",
        host: str | None = None,
        run: str = "",
        part_of: int | None = None,
        cancel: threading.Event | None = None,
    ) -> int:
        """Add a job to the queue and return its number; `cancel` is the event to cancel it by, if there is one."""
        with self._lock:
            self._last_number += 1
            number = self._last_number
            self._cancels[number] = cancel or threading.Event()
            self._put(
                Job(
                    number=number,
                    kind=kind,
                    path=path,
                    what=what,
                    host=host,
                    run=run,
                    part_of=part_of,
                    state=JobState.QUEUED,
                    asked_at_s=self._clock(),
                )
            )
            return number

    def job(self, number: int) -> Job | None:
        """Return a job; None if it was forgotten, or never was."""
        with self._lock:
            return self._jobs.get(number)

    def writer_count(self) -> int:
        """Return how many jobs change a repository now."""
        with self._lock:
            return sum(
                (job := self._jobs[number]).is_open_change and job.state is JobState.RUNNING for number in self._cancels
            )

    def is_queued(self, number: int) -> bool:
        """Tell whether a job waits for its turn."""
        job = self.job(number)
        return job is not None and job.state is JobState.QUEUED

    def start(self, number: int, *, before: JobFigures | None = None) -> threading.Event | None:
        """Say that a job begins, and return the event that cancels it; None if it is not to begin any more."""
        with self._lock:
            job = self._jobs.get(number)
            if job is None or job.state is not JobState.QUEUED:
                return None
            now_s = self._clock()
            self._put(
                msgspec.structs.replace(
                    job, state=JobState.RUNNING, started_at_s=now_s, step_started_at_s=now_s, before=before
                )
            )
            return self._cancels[number]

    def advance(
        self,
        number: int,
        *,
        step: str,
        done_count: int = 0,
        known_count: int | None = None,
        received_bytes: int | None = None,
        may_grow: bool = False,
    ) -> None:
        """Say how far a running job is."""
        with self._lock:
            job = self._running(number)
            if job is None:
                return
            self._put(
                msgspec.structs.replace(
                    job,
                    step=step,
                    done_count=done_count,
                    known_count=known_count,
                    received_bytes=received_bytes,
                    may_grow=may_grow,
                    step_started_at_s=job.step_started_at_s if step == job.step else self._clock(),
                )
            )

    def end(
        self,
        number: int,
        state: JobState,
        *,
        after: JobFigures | None = None,
        reason: str | None = None,
        entries: tuple[LedgerEntry, ...] = (),
    ) -> None:
        """Say how a job ended; what was said first stands."""
        with self._lock:
            job = self._jobs.get(number)
            if job is not None and not job.state.has_ended:
                self._end(msgspec.structs.replace(job, entries=entries), state, after, reason)

    def recall(
        self,
        kind: JobKind,
        entry: LedgerEntry,
        *,
        what: str,
        state: JobState,
        reason: str | None,
        is_settled: bool,
    ) -> int:
        """Add what another gitdash did earlier, and return its number; the oldest is to come first."""
        with self._lock:
            self._last_number += 1
            job = Job(
                number=self._last_number,
                kind=kind,
                path=entry.path,
                what=what,
                run=entry.run,
                state=state,
                asked_at_s=entry.started_at_s,
                started_at_s=entry.started_at_s,
                ended_at_s=entry.started_at_s + (entry.elapsed_s or 0.0),
                reason=reason,
                entries=(entry,),
                is_earlier=True,
                is_settled=is_settled,
            )
            self._put(job)
            self._group_of(job)[job.number] = None
            if not is_settled:
                self._settle(job)
                self._failed.setdefault((kind, entry.path), []).append(job.number)
            return job.number

    def on_cancel(self, number: int, call: Callable[[], None]) -> None:
        """Have something called once a job is cancelled; at once if it is already."""
        with self._lock:
            cancel = self._cancels.get(number)
            job = self._jobs.get(number)
            is_cancelled = (cancel is not None and cancel.is_set()) or (
                cancel is None and job is not None and job.state is JobState.CANCELLED
            )
            if cancel is not None and not is_cancelled:
                self._on_cancel[number] = call
        if is_cancelled:
            call()

    def cancel(self, number: int) -> None:
        """Have a running job end soon, and one that waits not begin; of one that failed a person has taken note."""
        with self._lock:
            # called without the lock: it may end the job itself
            call = self._on_cancel.get(number)
            self._cancel(number)
        if call is not None:
            call()

    def _cancel(self, number: int) -> None:
        job = self._jobs.get(number)
        if job is None or job.state.has_ended:
            if job is not None and number in self._failed.get((job.kind, job.path), ()):
                self._settle_one(job)
            return
        self._cancels[number].set()
        if job.state is JobState.QUEUED:
            self._end(job, JobState.CANCELLED, None, None)

    def cancel_all(self) -> None:
        """Have all end soon, without a word: nobody looks any more."""
        with self._lock:
            for cancel in self._cancels.values():
                cancel.set()

    def end_parts(self, number: int) -> None:
        """Say that what still runs for a survey ends with it."""
        with self._lock:
            for job in [self._jobs[open_number] for open_number in self._cancels]:
                if job.part_of == number:
                    self._end(job, JobState.CANCELLED, None, None)

    def settle(self, kind: JobKind, path: bytes) -> None:
        """Say that a repository is known by now to be none that such a job fails on."""
        with self._lock:
            for number in tuple(self._failed.get((kind, path), ())):
                self._settle_one(self._jobs[number])

    def _running(self, number: int) -> Job | None:
        job = self._jobs.get(number)
        return job if job is not None and job.state is JobState.RUNNING else None

    def _end(self, job: Job, state: JobState, after: JobFigures | None, reason: str | None) -> None:
        ended = msgspec.structs.replace(job, state=state, ended_at_s=self._clock(), after=after, reason=reason)
        del self._cancels[job.number]
        self._on_cancel.pop(job.number, None)
        self._put(ended)
        if state is not JobState.CANCELLED:
            self._settle(ended)
        if state.is_undone:
            self._failed.setdefault((job.kind, job.path), []).append(job.number)
        group = self._group_of(ended)
        group[job.number] = None
        if len(group) > (KEPT_PARTS if job.part_of is not None and state is JobState.DONE else KEPT_ENDED):
            self._forget(self._jobs[next(iter(group))])

    def _settle(self, by: Job) -> None:
        """Settle what a job has tried again; surveys that fail in the same place leave the last failure only."""
        for number in tuple(self._failed.get((by.kind, by.path), ())):
            failed = self._jobs[number]
            if not _is_tried_again(failed, by):
                continue
            if by.state.is_undone and None not in (by.part_of, failed.part_of):
                self._forget(failed)
            else:
                self._settle_one(failed)

    def _settle_one(self, failed: Job) -> None:
        self._failed[failed.kind, failed.path].remove(failed.number)
        self._put(msgspec.structs.replace(failed, is_settled=True))

    def _forget(self, job: Job) -> None:
        del self._group_of(job)[job.number], self._jobs[job.number]
        numbers = self._failed.get((job.kind, job.path), [])
        if job.number in numbers:
            numbers.remove(job.number)
        self._on_forgotten(job.number)

    def _group_of(self, job: Job) -> dict[int, None]:
        return self._ended.setdefault((job.part_of is not None, job.state is JobState.DONE), {})

    def _put(self, job: Job) -> None:
        self._jobs[job.number] = job
        self._on_changed(job)


def _is_tried_again(failed: Job, by: Job) -> bool:
    """Tell whether a later job was about all that failed: each of its remotes or tasks, and for real if it was."""
    is_for_real = not _is_preview(by) or _is_preview(failed)
    return is_for_real and _parts(failed) <= _parts(by)


def _parts(job: Job) -> frozenset[str]:
    """Return the remote or the tasks of a job; of one that did not get so far as to name any, nothing."""
    return frozenset(filter(None, job.what.split(", ")))


def _is_preview(job: Job) -> bool:
    return any(entry.is_preview for entry in job.entries)
