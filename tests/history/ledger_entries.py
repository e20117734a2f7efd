"""Entries for tests of the ledger."""

from gitdash.model.ledger import LedgerEntry, Outcome

MOMENT_S = 1_700_000_000.0


def entry(path: bytes = b"/srv/x.git", **more) -> LedgerEntry:
    fields = {
        "number": 0,
        "run": "run-1",
        "action": "fetch",
        "remote": "origin",
        "path": path,
        "outcome": Outcome.RUNNING,
        "started_at_s": MOMENT_S,
        "gitdash_version": "0.1.0",
        "git_version": "2.39.5",
        "process_id": 7,
        "process_started_at_s": 1_600_000_000.0,
        "host": "somewhere",
    }
    return LedgerEntry(**(fields | more))
