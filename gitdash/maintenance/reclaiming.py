"""What must hold before anything is dropped: RECLAIM alone does it, and only as a person confirmed by name.

These rules come on top of those of every task (`refusals`), and are applied under the lock to facts that were read
there. No time is safe for whoever lends, so nothing that may be a lender is ever reclaimed.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.errors import GitdashError
from gitdash.maintenance.action_facts import Neighbourhood
from gitdash.maintenance.gains import looked_below
from gitdash.maintenance.lending import lending_hints
from gitdash.maintenance.remembered_loans import told_borrower
from gitdash.maintenance.sharers import mounted_part, sharer_of
from gitdash.maintenance.work import Work, refused
from gitdash.model.plan import Step
from gitdash.units import counted, human_bytes, printable_path

_EXPIRIES: Final = ("--cruft-expiration=", "--expire=")
_LEAST_GRACE: Final = "2.weeks.ago"
"""git's own default, and the least: a push or an edit under way may need what nothing references yet."""


def require_confirmation(work: Work, steps: Sequence[Step]) -> None:
    """Raise TaskStoppedError unless a person typed the name, and nobody may need what would go."""
    reason = next(_objections(work, steps), None)
    if reason is not None:
        raise refused(reason)


def _objections(work: Work, steps: Sequence[Step]) -> Iterator[str]:
    name = os.path.basename(work.report.repository.path)
    if work.confirmed_name is None:
        yield f"it was not confirmed by typing '{printable_path(name)}'"
    elif work.confirmed_name != name:
        yield f"'{printable_path(work.confirmed_name)}' is not its name, which is '{printable_path(name)}'"
    hints = lending_hints(work.report)
    if hints:
        yield f"others may borrow from it: {', '.join(hints)}"
    if work.lenders:
        yield "it borrows objects: leave the lenders first"
    for argument in (argument for step in steps for argument in step.arguments):
        for option in _EXPIRIES:
            if argument.startswith(option) and argument != option + _LEAST_GRACE:
                yield f"a grace of less than two weeks, or another one than is known: {argument}"


def require_unneeded(work: Work, others: Neighbourhood) -> None:
    """Raise TaskStoppedError if somebody may need objects by what is seen now, with the sentence that a plan has."""
    common_dir = work.report.repository.common_dir
    sharer = mounted_part(common_dir) or sharer_of(common_dir, others.paths, others.given_up)
    needed = sharer or told_borrower(others.loans)
    if needed is not None:
        raise refused(f"others may need its objects: {needed}")
    if others.objection is not None:
        raise refused(f"others may borrow from it: {others.objection}")


def note_objects(work: Work) -> None:
    """Remember which objects are here before some are dropped. Raises GitdashError for a damaged index."""
    from gitdash.maintenance.object_sets import stored_objects

    if work.searched:
        work.notes.append(looked_below(tuple(map(printable_path, work.searched))))
    work.objects_before = stored_objects(work.objects_dir, work.inspection.object_format)


def dropped_objects(work: Work) -> tuple[str, ...]:
    """Return the ids of the objects that are gone, the largest first, and note how many and how many bytes.

    Nothing where no task was to drop any, or where the store cannot be read any more, which is noted, too.
    """
    from gitdash.maintenance.object_sets import missing_since

    if work.objects_before is None:
        return ()
    try:
        gone = missing_since(work.objects_before, work.objects_dir, work.inspection.object_format)
    except GitdashError as error:
        work.notes.append(f"which objects are gone cannot be said: {error}")
        return ()
    size = human_bytes(sum(size_bytes for _, size_bytes in gone))
    work.notes.append(f"{counted(len(gone), 'object')} of {size} dropped for good" if gone else "no object was dropped")
    return tuple(object_id for object_id, _ in gone)
