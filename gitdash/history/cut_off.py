"""Which process an action belongs to, and what becomes of entries whose process is gone.

Source: proc_pid_stat(5) by way of psutil: a process is known by its id together with when it began, for ids are used
again. Of another host nothing can be asked, so its actions count as alive. Does not look into repositories: what an
action may have left, the caller finds out.
"""

import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from gitdash.history.ledger import Ledger
from gitdash.model.ledger import LedgerEntry, Outcome, Reason

_START_TOLERANCE_S: Final = 2.0
"""A start is counted from the boot, which the kernel gives in whole seconds of a clock that is being adjusted."""
_SENTENCE: Final = "gitdash ended in the middle of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """One process of one host."""

    process_id: int
    started_at_s: float
    """Seconds since the epoch."""
    host: str


def this_process() -> ProcessIdentity:
    """Return what tells this process from all others; a fork has another identity than its parent."""
    import psutil  # type: ignore[import-untyped]

    process_id = os.getpid()
    return ProcessIdentity(
        process_id=process_id, started_at_s=psutil.Process(process_id).create_time(), host=os.uname().nodename
    )


def is_process_alive(identity: ProcessIdentity) -> bool:
    """Say whether a process still runs; one of another host, or that may not be looked at, counts as running.

    A clock that was set anew since makes it look like another process.
    """
    import psutil

    if identity.host != os.uname().nodename:
        return True
    try:
        process = psutil.Process(identity.process_id)
        is_zombie = process.status() == psutil.STATUS_ZOMBIE
        return not is_zombie and abs(process.create_time() - identity.started_at_s) <= _START_TOLERANCE_S
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def is_action_alive(entry: LedgerEntry) -> bool:
    """Say whether the gitdash that began an action still runs."""
    identity = ProcessIdentity(process_id=entry.process_id, started_at_s=entry.process_started_at_s, host=entry.host)
    return is_process_alive(identity)


def settle_cut_off(
    ledger: Ledger,
    *,
    is_alive: Callable[[LedgerEntry], bool],
    leftovers_of: Callable[[LedgerEntry], tuple[str, ...]],
) -> tuple[LedgerEntry, ...]:
    """Mark the actions of processes that are gone as cut off, and return those that this call has marked.

    One that ended just before its process did keeps its own end. Raises HistoryError for a damaged file.
    """
    settled = []
    for entry in ledger.open_entries():
        if is_alive(entry):
            continue
        ended = msgspec.structs.replace(
            entry,
            outcome=Outcome.CUT_OFF,
            reason=Reason.CUT_OFF,
            sentence="".join((_SENTENCE, *_while(entry))),
            leftovers=leftovers_of(entry),
        )
        if ledger.end_running(ended):
            settled.append(ended)
    return tuple(settled)


def _while(entry: LedgerEntry) -> Iterator[str]:
    """Yield which command had begun and not ended; it may have ended before anything could be written."""
    if entry.commands and entry.commands[-1].elapsed_s is None:
        yield f"; the last that it began was {shlex.join(entry.commands[-1].short_argv)}"
