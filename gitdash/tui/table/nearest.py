"""Where a cursor goes whose line is gone. Pure."""

from collections.abc import Container, Sequence
from itertools import zip_longest


def nearest_line(
    former_lines: Sequence[int], former_position: int, lines: Sequence[int], present: Container[int]
) -> int | None:
    """Return which of `lines` (all are in `present`) was nearest to a place among the former lines, rather below it.

    Where none of the former lines is left it is the one at that place now; None if there are no lines.
    """
    below = former_lines[former_position:]
    above = [None, *reversed(former_lines[:former_position])]
    for pair in zip_longest(below, above):
        for line in pair:
            if line is not None and line in present:
                return line
    return lines[min(former_position, len(lines) - 1)] if lines else None
