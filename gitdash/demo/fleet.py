"""The whole demo fleet: the one list of its exhibits, and the function that makes them.

What each shows stands beside it; a test surveys the fleet and compares.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.demo import accidents, lending, names, packing, settings
from gitdash.demo.exhibit import Exhibit, ObstacleError
from gitdash.demo.workshop import Workshop
from gitdash.units import printable_path

EXHIBITS: Final[tuple[Exhibit, ...]] = (
    *lending.EXHIBITS,
    *packing.EXHIBITS,
    *settings.EXHIBITS,
    *accidents.EXHIBITS,
    *names.EXHIBITS,
)
"""All repositories of the fleet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """What cannot be shown on this machine."""

    subjects: tuple[str, ...]
    """Findings that no other exhibit shows, and paths of healthy repositories."""
    reason: str
    """A clause that follows `because`."""


def build_fleet(workshop: Workshop, tell: Callable[[int, int], None]) -> tuple[Omission, ...]:
    """Make all exhibits below the root of the workshop, and return what cannot be shown here.

    `tell` is called before each with the number that are made and the number of all. Raises GitError and OSError, such
    as for a full disk; what was made until then stays.
    """
    left_out: list[tuple[Exhibit, str]] = []
    for done_count, exhibit in enumerate(EXHIBITS):
        tell(done_count, len(EXHIBITS))
        try:
            exhibit.build(workshop, os.path.join(workshop.root, exhibit.path))
        except ObstacleError as obstacle:
            left_out.append((exhibit, str(obstacle)))
    workshop.clear()
    return _omissions(left_out)


def _omissions(left_out: Sequence[tuple[Exhibit, str]]) -> tuple[Omission, ...]:
    """Put together what has the same reason, in the order of the exhibits."""
    without = [exhibit for exhibit, _ in left_out]
    shown = {rule for exhibit in EXHIBITS if exhibit not in without for rule in exhibit.shows}
    subjects: dict[str, list[str]] = {}
    for exhibit, reason in left_out:
        missed = [rule for rule in exhibit.shows if rule not in shown]
        subjects.setdefault(reason, []).extend(missed or [printable_path(exhibit.path)])
    return tuple(Omission(subjects=tuple(each), reason=reason) for reason, each in subjects.items())
