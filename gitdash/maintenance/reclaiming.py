"""What must hold before anything is dropped: RECLAIM alone does it, and only as a person confirmed by name.

These rules come on top of those of every task (`refusals`), and are applied under the lock to facts that were read
there. Source: design 9: no time is safe for whoever lends, so nothing that may be a lender is ever reclaimed.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.maintenance.lending import lending_hints
from gitdash.maintenance.work import Work, refused
from gitdash.model.plan import Step
from gitdash.units import printable_path

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
