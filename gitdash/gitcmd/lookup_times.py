"""How long one object takes to be found: first, warm, and missing, through a reader that did not know the repository.

A handle that opens all packs for the first object makes a fetch slow, and one that looks for what is missing looks
everywhere twice. The method: a fresh `cat-file`, a real object once (an all-zero id loads nothing), the same again, and
ids that nobody has; medians, because one look-up takes microseconds. Starting git is not counted.
"""

import os
import time
from collections.abc import Iterable
from typing import Final

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.objects import DIGITS, ObjectReader, open_reader
from gitdash.model.lookup import LookupTimes

_FORMATS: Final = {digits: object_format for object_format, digits in DIGITS.items()}
_COUNT: Final = 7
"""Look-ups of which the median is taken."""


class ObjectMissingError(GitError):
    """The object that was to be looked up is not there."""


def measure_lookups(
    git_dir: bytes, object_id: str, *, time_limit_s: float, program: GitProgram | None = None
) -> LookupTimes:
    """Return how long look-ups take through a fresh reader of `git_dir`, where `objects` lies.

    `object_id` is the full id of an object that is there, best a branch tip; starting git is not counted.
    Raises GitError.
    """
    object_format = _FORMATS.get(len(object_id))
    if object_format is None:
        raise GitError("an object id has 40 or 64 digits", kind=GitFailure.REFUSED)
    with open_reader(
        program or find_git(), os.path.join(git_dir, b"objects"), object_format, time_limit_s=time_limit_s
    ) as reader:
        return time_lookups(reader, object_id, time_limit_s=time_limit_s)


def time_lookups(reader: ObjectReader, object_id: str, *, time_limit_s: float) -> LookupTimes:
    """Return how long look-ups take through a PLAIN reader that was not asked anything yet.

    The time limit is for all of them: where one takes long, fewer are made. Raises GitError, and ObjectMissingError.
    """
    deadline_s = time.monotonic() + time_limit_s
    # git knows that no object has this id and opens nothing: when the answer comes, the process is up.
    reader.has("0" * len(object_id), deadline_s=deadline_s)
    first_s, found = _timed(reader, object_id, deadline_s)
    if not found:
        raise ObjectMissingError("the object to look up is missing", kind=GitFailure.FAILED)
    return LookupTimes(
        first_s=first_s,
        warm_s=_median(reader, [object_id] * _COUNT, deadline_s, time_limit_s),
        missing_s=_median(reader, _absent_ids(len(object_id)), deadline_s, time_limit_s),
        object_id=object_id,
    )


def _median(reader: ObjectReader, object_ids: Iterable[str], deadline_s: float, time_limit_s: float) -> float:
    durations_s = []
    for object_id in object_ids:
        durations_s.append(_timed(reader, object_id, deadline_s)[0])
        if deadline_s - time.monotonic() < time_limit_s / 2:
            break
    return sorted(durations_s)[len(durations_s) // 2]


def _timed(reader: ObjectReader, object_id: str, deadline_s: float) -> tuple[float, bool]:
    started_s = time.perf_counter()
    found = reader.has(object_id, deadline_s=deadline_s)
    return time.perf_counter() - started_s, found


def _absent_ids(length: int) -> list[str]:
    """Ids that nobody has, spread over the fan-out folders."""
    return [f"{number * 37:02x}".ljust(length, "d") for number in range(_COUNT)]
