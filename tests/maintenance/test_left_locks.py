"""A lock is of a job that the ledger saw leave it; one that may be another's is told as such."""

import pytest

from gitdash.maintenance.left_locks import with_known_jobs
from gitdash.maintenance.refused_now import live_lock
from gitdash.model.ledger import LedgerEntry, Outcome
from gitdash.model.task import Task
from tests.assessment.subjects import NOW_S
from tests.support.maintenance_values import action_facts, held, report

LOCK = "packed-refs.lock"
AN_HOUR_S = 3_600.0


def entry(began_before_s: float, elapsed_s: float | None, *leftovers: str) -> LedgerEntry:
    """An action that began so long before now."""
    return LedgerEntry(
        number=1,
        run="r",
        action="maintain",
        task=Task.PACK_REFS,
        path=b"/srv/x.git",
        outcome=Outcome.CUT_OFF if elapsed_s is None else Outcome.FAILED,
        started_at_s=NOW_S - began_before_s,
        elapsed_s=elapsed_s,
        gitdash_version="1",
        git_version="2",
        leftovers=leftovers,
        process_id=1,
        process_started_at_s=0.0,
        host="here",
    )


@pytest.mark.parametrize(
    ("known", "holder", "told"),
    [
        (entry(AN_HOUR_S + 60, 90, LOCK), None, "left it behind"),
        (entry(AN_HOUR_S + 60, None, LOCK), None, "which was cut off, may have left it behind"),
        (entry(AN_HOUR_S + 60, 30, LOCK), None, None),
        (entry(AN_HOUR_S - 60, 90, LOCK), None, None),
        (entry(AN_HOUR_S + 60, 90, "HEAD.lock"), None, None),
        (entry(AN_HOUR_S + 60, 90, LOCK), "PID 4711", None),
    ],
    ids=["while it ran", "cut off", "after it", "before it", "another lock", "somebody holds it"],
)
def test_lock_is_told_to_be_of_the_job_that_left_it(known: LedgerEntry, holder: str | None, told: str | None) -> None:
    """The lock is an hour old."""
    facts = with_known_jobs(action_facts(live_locks=(held(LOCK, holder),)), [known])
    reason = live_lock(report(), facts, Task.PACK_REFS) or ""
    assert reason.startswith("another git is at work") == (told is None)
    assert told is None or ("gitdash's pack-refs of " in reason and f"{told}; " in reason)
