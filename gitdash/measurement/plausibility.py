"""Whether a size that git gave with exit code 0 can be believed.

Derived files (commit-graph, bitmap, multi-pack-index) are not verified when git reads them: a commit-graph without
parents gave 2,128 bytes instead of 10,212, bits flipped in a bitmap 15,419, offsets damaged in an index
18,446,744,071,562,078,193, all with exit code 0. So each answer is held against what the files allow; a doubt costs one
more query that uses none of these files.

Pure. Checks no file; `checksums.py` finds the ones that are damaged.
"""

import re
from typing import Final

_LENDER_COMPLAINT: Final = re.compile(r"alternate object (?:path|stores)|info/alternates")
"""What git says when it leaves a lender out and answers all the same."""

_LEAST_EXPECTED_SHARE: Final = 0.5
"""Below this share of what packs hold, unreachable objects are an unlikely explanation."""


def doubts(
    size_bytes: int,
    *,
    complaint: str | None = None,
    upper_bound_bytes: int | None = None,
    expected_bytes: int | None = None,
) -> tuple[str, ...]:
    """Return the reasons, one clause each, not to believe a size; none if it is plausible.

    `complaint` is what git wrote to stderr. `upper_bound_bytes` are all packs and loose files that the size can come
    from, lenders included. `expected_bytes` are the objects that should nearly all be counted.
    """
    found = [f"git complained: {complaint}"] if complaint else []
    found += filter(None, (_impossible(size_bytes, upper_bound_bytes), _too_small(size_bytes, expected_bytes)))
    return tuple(found)


def is_impossible(size_bytes: int, upper_bound_bytes: int | None) -> bool:
    """Return whether no store could give this size, whatever is reachable."""
    return _impossible(size_bytes, upper_bound_bytes) is not None


def lender_was_left_out(stderr: str) -> bool:
    """Return whether git said that it could not use a lender: its number then answers another question."""
    return _LENDER_COMPLAINT.search(stderr) is not None


def _impossible(size_bytes: int, upper_bound_bytes: int | None) -> str | None:
    if size_bytes < 0:
        return f"{size_bytes:,} bytes are less than nothing"
    if upper_bound_bytes is not None and size_bytes > upper_bound_bytes:
        return f"{size_bytes:,} bytes are more than the {upper_bound_bytes:,} bytes of all packs and loose objects"
    return None


def _too_small(size_bytes: int, expected_bytes: int | None) -> str | None:
    if expected_bytes is not None and size_bytes < expected_bytes * _LEAST_EXPECTED_SHARE:
        return f"{size_bytes:,} bytes are less than half of the {expected_bytes:,} bytes that are stored"
    return None
