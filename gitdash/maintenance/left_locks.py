"""Names the job of gitdash that left a lock, as the ledger has it. Pure.

A lock is of a job that was seen to leave it and has ended since, if the file changed last while that job ran and no
process has it open. Of a job that was cut off nobody knows when it ended: it may be another's. Removes nothing.
"""

from collections.abc import Iterable

import msgspec

from gitdash.maintenance.action_facts import ActionFacts, HeldLock
from gitdash.maintenance.leftovers import CLOCK_STEP_S
from gitdash.maintenance.lock import clock_text
from gitdash.model.ledger import LedgerEntry


def with_known_jobs(facts: ActionFacts, entries: Iterable[LedgerEntry]) -> ActionFacts:
    """Return the facts, with the job for each lock without a holder; `entries` are the repository's, newest first."""
    known = tuple(entries)
    locks = tuple(
        msgspec.structs.replace(lock, left_by=_job(lock, known, facts.read_at_s)) for lock in facts.live_locks
    )
    return msgspec.structs.replace(facts, live_locks=locks)


def _job(lock: HeldLock, entries: Iterable[LedgerEntry], now_s: float) -> str | None:
    if lock.holder is not None:
        return None
    for entry in entries:
        if lock.path not in entry.leftovers or lock.since_s < entry.started_at_s - CLOCK_STEP_S:
            continue
        name = f"{entry.task or entry.action} of {clock_text(entry.started_at_s, now_s)}"
        if entry.elapsed_s is None:
            return f"gitdash's {name}, which was cut off, may have left it behind"
        if lock.since_s <= entry.started_at_s + entry.elapsed_s + CLOCK_STEP_S:
            return f"gitdash's {name} left it behind"
    return None
