"""One clone under strace: how many system calls of which kind, and how often it asked for names that are not there.

Source: strace(1), `-c -f` for the table, and once more with `-Z` for the names of calls that failed; `system_calls`
reads both. Does not clone: the caller does, under what it is given.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.environment import search_path
from gitdash.inspection.files import read_file
from gitdash.lab.commands import one_after_another
from gitdash.lab.machine import load_1m
from gitdash.lab.system_calls import count_absent, count_calls
from gitdash.lab.variant import Measured
from gitdash.model.experiment import ExperimentRun, VariantResult
from gitdash.units import human_count, printable

NAME: Final = "clone-counted"
TITLE: Final = "Clone, system calls counted"
EXPLANATION: Final = (
    "The same clone under strace, with all processes that git starts. On a network mount what counts is how often it"
    " asks for names that are not there: each is a round trip."
)
NOT_INSTALLED: Final = "needs strace, which is not installed"
TARGET: Final = b"clone.git"
"""What the clone is called in the folder that is given to `count`."""
_OUTPUT_LIMIT_BYTES: Final = 256 * 1024**2


def strace() -> str | None:
    """Return the path of strace; None if it is not installed."""
    for folder in search_path(os.environ).split(":"):
        path = os.path.join(folder, "strace")
        if os.access(path, os.X_OK):
            return path
    return None


def count(
    clone: Callable[[tuple[str, ...]], Measured],
    *,
    argv: tuple[str, ...],
    folder: bytes,
    number: int,
    started_at_s: float,
) -> VariantResult:
    """Clone twice under strace, into `folder`, which is ours, and return the counts as a variant without summary."""
    program = strace()
    if program is None:
        return _result(argv, skipped=NOT_INSTALLED)
    output = folder + b"/strace"
    to_output = ("-o", os.fsdecode(output))
    try:
        measured = clone((program, "-c", "-f", *to_output))
        argv = measured.argv
        counts = count_calls(read_file(output, _OUTPUT_LIMIT_BYTES))
    except GitdashError as error:
        return _result(argv, note=printable(f"Not counted: {error}."))
    note = "strace slows it down, so its time is not compared."
    try:
        # names whole, and only of calls that failed: a clone of a million objects succeeds millions of times
        named = clone((program, "-f", "-qq", "-Z", "-e", "trace=%file", "-s", "4096", *to_output))
        argv = one_after_another((argv, named.argv))
        lines = read_file(output, _OUTPUT_LIMIT_BYTES).splitlines()
        counts |= count_absent(lines, os.path.basename(folder) + b"/" + TARGET)
    except GitdashError as error:
        note += printable(f" Absent names are not counted: {error}.")
    run = replace(measured, counts=counts, answer=None, phases=()).as_run(
        NAME, number=number, started_at_s=started_at_s, load_1m=load_1m()
    )
    return _result(argv, runs=(run,), note=note)


def notes(counted: VariantResult) -> tuple[str, ...]:
    """Say what was counted in a sentence; nothing if nothing was."""
    return tuple(_sentence(run.counts) for run in counted.runs)


def _result(
    argv: tuple[str, ...], *, skipped: str | None = None, note: str = "", runs: tuple[ExperimentRun, ...] = ()
) -> VariantResult:
    return VariantResult(
        name=NAME, title=TITLE, explanation=EXPLANATION, argv=argv, skipped=skipped, note=note, runs=runs
    )


def _sentence(counts: Mapping[str, int]) -> str:
    said = f"A clone made {human_count(counts.get('all', 0))} system calls"
    if not any(kind.startswith("absent-") for kind in counts):
        return said + "."
    below = {kind: counts.get(f"absent-{kind}", 0) for kind in ("fan-out-folder", "object", "pack")}
    other_count = counts.get("absent-other-below-objects", 0)
    return (
        f"{said}; below objects it asked {human_count(sum(below.values()) + other_count)} times"
        " for a name that was not there:"
        f" {human_count(below['fan-out-folder'])} for fan-out folders, {human_count(below['object'])} for objects,"
        f" {human_count(below['pack'])} for packs, {human_count(other_count)} for others."
    )
