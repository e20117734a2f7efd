"""How jobs ended, by what the ledger says: those of this dashboard, and those of others before it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from gitdash.model.job import JobKind, JobState
from gitdash.model.ledger import LedgerEntry, Outcome
from gitdash.tui.feed.jobs import JobRegister

if TYPE_CHECKING:
    from gitdash.history.ledger import Ledger

_NOTHING_DONE: Final = {Outcome.REFUSED: JobState.REFUSED, Outcome.SKIPPED: JobState.SKIPPED}
_KINDS: Final = {"fetch": JobKind.FETCH, "maintain": JobKind.MAINTAIN}
"""What is done by the actions of the ledger that are jobs."""
_EARLIER_COUNT: Final = 20
"""Actions of before that are listed; the last tab of a repository has all of it."""


def how_it_ended(entries: Sequence[LedgerEntry]) -> tuple[JobState, str | None]:
    """Return how a job ended by what the ledger says of its parts, and why it was not done."""
    bad = [entry for entry in entries if not entry.outcome.is_good]
    if not entries or any(entry.outcome is Outcome.CANCELLED for entry in bad):
        return JobState.CANCELLED, None
    if not bad:
        return JobState.DONE, None
    # a task that failed keeps those after it from beginning
    worst = next((entry for entry in bad if entry.outcome not in _NOTHING_DONE), bad[0])
    return _NOTHING_DONE.get(worst.outcome, JobState.FAILED), worst.sentence


def recall(
    register: JobRegister, ledger: "Ledger", cut_off: Sequence[LedgerEntry]
) -> Iterator[tuple[int, LedgerEntry]]:
    """Put what others did before among the jobs, the oldest first, and yield the number of each with its entry.

    What was just found to be cut off is not settled: nobody may have seen it.
    """
    from gitdash.history.cut_off import this_process

    own = this_process()
    fresh = {entry.number for entry in cut_off}
    known = {entry.number: entry for entry in (*ledger.entries(limit=_EARLIER_COUNT), *cut_off)}
    for entry in sorted(known.values(), key=lambda entry: entry.started_at_s):
        kind = _KINDS.get(entry.action)
        is_own = (entry.process_id, entry.host) == (own.process_id, own.host)
        if kind is None or is_own or entry.outcome is Outcome.RUNNING:
            continue
        state, reason = how_it_ended([entry])
        what = entry.remote or (entry.task.value if entry.task is not None else "")
        is_settled = entry.number not in fresh
        yield register.recall(kind, entry, what=what, state=state, reason=reason, is_settled=is_settled), entry
