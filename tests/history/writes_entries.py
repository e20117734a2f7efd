"""A process that begins and ends actions until it is killed, and says on stdout what it has been given.

Run with the path of a state file: `python -m tests.history.writes_entries FILE RUN`.
"""

import sys

import msgspec

from gitdash.history.store import open_history
from gitdash.model.ledger import Outcome, ReferenceChange
from tests.history.ledger_entries import entry


def say(what: str, number: int) -> None:
    sys.stdout.write(f"{what} {number}\n")
    sys.stdout.flush()


changes = tuple(ReferenceChange(name=f"refs/heads/{number}", kind="new", new="a" * 40) for number in range(200))
with open_history(sys.argv[1]) as history:
    while True:
        begun = history.ledger.begin(entry(run=sys.argv[2]))
        say("begun", begun.number)
        history.ledger.put(msgspec.structs.replace(begun, outcome=Outcome.DONE, reference_changes=changes))
        say("ended", begun.number)
