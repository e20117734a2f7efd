"""The experiment `clone`: a real `git clone --bare` into the file system of a repository, timed, and its calls counted.

Source: git-clone(1). What is cloned is a throw-away copy, so that the git which serves it reads nothing of the
repository's configuration. Clones lie in a folder of our own beside the repository, one at a time, removed after each
run. strace makes a clone slower, so what is counted is another clone than those that are timed: see `counted_clone`.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from gitdash.gitcmd.git_program import GitProgram
from gitdash.lab import counted_clone
from gitdash.lab.beside import folder_beside, require_room
from gitdash.lab.copies import marked_folder, throw_away_copy
from gitdash.lab.fingerprint import fingerprint_of, object_folders
from gitdash.lab.measured_git import measured_git
from gitdash.lab.method import run_interleaved
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.lab.store_folders import files_of_store
from gitdash.lab.variant import Measured, RunContext, Variant
from gitdash.model.experiment import ExperimentKind, ExperimentResult
from gitdash.model.report import RepositoryReport
from gitdash.units import printable_path

TITLE: Final = "what a clone costs"
EXPLANATION: Final = (
    "A real clone into the file system of the repository: sent through git's protocol, as from a server, and by hard"
    " links. Where strace is installed, system calls are counted, and how often names are asked for that are not there."
)
_WIRE: Final = "clone"
_LINKED: Final = "clone-linked"
_OPTIONS: Final = {_WIRE: "--no-local", _LINKED: "--local"}
_ENVIRONMENT: Final = {"GIT_ALLOW_PROTOCOL": "file"}
"""The copy is ours, and its path is what git calls the file protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """From where to where."""

    source: bytes
    """The copy."""
    folder: bytes
    """Of our own, beside the repository."""

    @property
    def target(self) -> bytes:
        return self.folder + b"/" + counted_clone.TARGET


def variants(request: ExperimentRequest) -> Sequence[Variant]:
    """Return the clones, as a list to choose from; they cannot be run, for no copy is made."""
    return [*_timed(request.program, _no_places), _counted()]


def run(request: ExperimentRequest) -> ExperimentResult:
    """Clone, again and again, and count the calls of one clone more.

    Raises ExperimentError if no copy can be made, or if there is no room for a clone beside the repository.
    """
    report = request.report
    parent = folder_beside(report)
    require_room(parent, _needed_bytes(report))
    request.on_step("making a copy to clone from")
    wanted = tuple(name for name in request.chosen if name != counted_clone.NAME)
    with (
        throw_away_copy(report, room_needed_bytes=0, registry_dir=request.registry_dir) as copy,
        marked_folder(parent, request.registry_dir) as folder,
    ):
        _make(folder)
        places = _Places(source=copy.git_dir, folder=folder)
        result = run_interleaved(
            _timed(request.program, lambda: places),
            # counts say something beside the time of a clone only
            replace(request, chosen=wanted or ((_WIRE,) if request.chosen else ())),
            kind=ExperimentKind.CLONE,
            fingerprint=fingerprint_of(report),
        )
        if request.chosen and counted_clone.NAME not in request.chosen:
            return result
        return _with_counts(result, request, places)


def _timed(program: GitProgram, places: Callable[[], _Places]) -> list[Variant]:
    return [
        Variant(
            name=_WIRE,
            title="Clone through git's protocol",
            explanation="One git packs, another checks and stores the pack, as in a clone from a server here: processor"
            " and disk. For absent names it asks once for each fan-out folder, and for the tip of each branch and tag.",
            run=_run_of(program, _WIRE, places),
            argv=_argv(_WIRE),
        ),
        Variant(
            name=_LINKED,
            title="Clone by hard links",
            explanation="Files are linked, or copied where the file system has no links: it costs what creating so many"
            " names costs, and checks nothing.",
            run=_run_of(program, _LINKED, places),
            argv=_argv(_LINKED),
        ),
    ]


def _counted() -> Variant:
    is_there = counted_clone.strace() is not None
    return Variant(
        name=counted_clone.NAME,
        title=counted_clone.TITLE,
        explanation=counted_clone.EXPLANATION,
        run=_run_of_none,
        argv=("strace", "-c", "-f", *_argv(_WIRE)),
        skipped=None if is_there else counted_clone.NOT_INSTALLED,
    )


def _argv(name: str) -> tuple[str, ...]:
    return ("git", "clone", "--quiet", "--bare", _OPTIONS[name], "--template=", "COPY", "CLONE")


def _run_of(program: GitProgram, name: str, places: Callable[[], _Places]) -> Callable[[RunContext], Measured]:
    return lambda context: _clone(program, name, places(), context)


def _clone(program: GitProgram, name: str, places: _Places, context: RunContext) -> Measured:
    """Clone once, and remove the clone untimed."""
    shutil.rmtree(places.target, ignore_errors=True)
    try:
        return measured_git(
            program, [*_argv(name)[1:-2], places.source, places.target], context, environment=_ENVIRONMENT
        )
    finally:
        shutil.rmtree(places.target, ignore_errors=True)


def _with_counts(result: ExperimentResult, request: ExperimentRequest, places: _Places) -> ExperimentResult:
    if request.cancel.is_set():
        return result
    request.on_step("counting the system calls of a clone")

    def clone(wrapper: tuple[str, ...]) -> Measured:
        context = RunContext(cancel=request.cancel, time_limit_s=request.limits.budget_s)
        return _clone(replace(request.program, wrapper=wrapper), _WIRE, places, context)

    number = 1 + max((one.number for variant in result.variants for one in variant.runs), default=0)
    counted = counted_clone.count(
        clone, argv=_counted().argv, folder=places.folder, number=number, started_at_s=request.clock()
    )
    for one in counted.runs:
        request.on_run(one)
    return msgspec.structs.replace(
        result, variants=(*result.variants, counted), notes=(*result.notes, *counted_clone.notes(counted))
    )


def _needed_bytes(report: RepositoryReport) -> int:
    """Return the bytes of all packs that a clone may be made of, those of lenders too, and of loose objects' files."""
    needed_bytes = 0
    for folder in object_folders(report):
        for file in files_of_store(folder):
            with contextlib.suppress(FileNotFoundError):
                needed_bytes += file.stat(follow_symlinks=False).st_size
    return needed_bytes


def _make(folder: bytes) -> None:
    try:
        os.mkdir(folder, 0o700)
    except OSError as error:
        where = printable_path(os.path.dirname(folder))
        raise ExperimentError(f"no folder can be made in {where}: {error.strerror}") from error


def _no_places() -> _Places:
    raise ExperimentError("no copy was made for this")


def _run_of_none(_context: RunContext) -> Measured:
    raise ExperimentError("it is counted, not timed")
