"""Clones and fetches on a FUSE file system that counts and delays look-ups, for the lab's table.

Whether absence is remembered is libfuse's `negative_timeout`: what NFS's `lookupcache=all` and `pos` differ in.
"""

import os
import statistics
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks import acting
from benchmarks.fleet import git, git_environment
from benchmarks.lab_table import Row, median_s, variants_of
from gitdash.gitcmd.git_program import GitProgram
from gitdash.model.experiment import ExperimentKind, ExperimentResult, Measure
from gitdash.units import fine_duration
from tests.support.fuse_mount import FuseMount, fuse_mount, why_not

_DELAY_S: Final = 0.003
"""(4957 s - 624 s) / 1.3 million objects, as the clones that were published."""
_REMEMBER_S: Final = 3600.0
_UNPACKED_COMMITS: Final = 30
"""Of three objects each: git unpacks what has fewer than 100."""

Run = Callable[[ExperimentKind, Path, GitProgram, tuple[str, ...]], ExperimentResult]


def rows(source: Path, scratch: Path, program: GitProgram, runs: int, run: Run) -> list[Row]:
    """Return what came out with one git; nothing, and a sentence, where no FUSE file system can be mounted."""
    reason = why_not()
    if reason is not None:
        print(f"no clones on a FUSE file system: {reason}")
        return []
    scratch.mkdir()
    found = _counted(source, scratch, program)
    return [*found, *_timed(source, scratch, program, runs, run)]


def _counted(source: Path, scratch: Path, program: GitProgram) -> list[Row]:
    object_count = _object_count(source)
    few = scratch / "few.git"
    git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(few))
    commits = b"".join(acting.commit("main", number, f"f{number % 50}") for number in range(_UNPACKED_COMMITS))
    git("-C", str(few), "fast-import", "--quiet", stdin=commits)
    folder = scratch / "counted"
    folder.mkdir()
    with fuse_mount(folder) as mount:
        _clone(program, source, mount.path / "clone.git")
        asked_count = _absent_below_objects(mount, mount.path / "clone.git")
        target = mount.path / "unpacked.git"
        _git(program, "init", "-q", "--bare", "--template=", target)
        mount.forget()
        _git(program, "-C", target, "-c", "fetch.unpackLimit=1000000", "fetch", "-q", few, "refs/*:refs/*")
        unpack_count = _absent_below_objects(mount, target)
    few_count = _object_count(few)
    load_1m = os.getloadavg()[0]
    return [
        Row(
            experiment="clone",
            compared=f"objects for each negative look-up below `objects`, {object_count:,} objects",
            published="282 look-ups (ours)",
            published_ratio=34_296 / 282,
            here=f"{asked_count} look-ups",
            ratio=object_count / asked_count,
            git=program.version_text,
            load_1m=load_1m,
            why="counted; once for each of 256 fan-out folders, the others for packs and `info`",
        ),
        Row(
            experiment="clone",
            compared="negative look-ups for each object, fetch that unpacks",
            published="5 look-ups (ours)",
            published_ratio=5,
            here=f"{unpack_count:,} look-ups for {few_count} objects",
            ratio=unpack_count / few_count,
            git=program.version_text,
            load_1m=load_1m,
            why="counted; the more objects come, the more fan-out folders are there already",
        ),
    ]


def _timed(source: Path, scratch: Path, program: GitProgram, runs: int, run: Run) -> list[Row]:
    with ExitStack() as resources:
        mounts = {}
        for name, timeout_s in (("pos", 0.0), ("all", _REMEMBER_S)):
            folder = scratch / name
            folder.mkdir()
            mount = fuse_mount(folder, delay_s=_DELAY_S, negative_timeout_s=timeout_s)
            mounts[name] = resources.enter_context(mount)
        repository = mounts["pos"].path / "fleet" / "few.git"
        _clone(program, scratch / "few.git", repository)
        operations = run(ExperimentKind.FILESYSTEM, repository, program, ("look-up-absent", "look-up-absent-again"))
        price_s = median_s(variants_of(operations)["look-up-absent"], Measure.WALL)
        times: dict[str, list[float]] = {name: [] for name in mounts}
        for number in range(runs):
            for name, mount in mounts.items():
                times[name].append(_clone(program, source, mount.path / f"{number}.git"))
        asked_count = _absent_below_objects(mounts["pos"], mounts["pos"].path / "0.git")
    more_s = (_object_count(source) - asked_count) * price_s
    ratios = tuple(pos_s / all_s for pos_s, all_s in zip(times["pos"], times["all"], strict=True))
    pos_s, all_s = (statistics.median(times[name]) for name in ("pos", "all"))
    predicted = tuple((one_s + more_s) / one_s for one_s in times["pos"])
    load_1m = os.getloadavg()[0]
    return [
        Row(
            experiment="clone",
            compared="absence not remembered, remembered",
            published="4957 s, 624 s",
            published_ratio=4957 / 624,
            here=f"{fine_duration(pos_s)}, {fine_duration(all_s)}",
            ratio=statistics.median(ratios),
            ratios=ratios,
            git=program.version_text,
            load_1m=load_1m,
            why="git asked for each object then, which remembering spared; since 2.21 it asks for each fan-out folder,"
            " and there is little left to remember",
        ),
        Row(
            experiment="filesystem",
            compared="clone with one check for each object (predicted), for each fan-out folder",
            published="4957 s, 577 s",
            published_ratio=4957 / 577,
            here=f"{fine_duration(pos_s + more_s)}, {fine_duration(pos_s)}",
            ratio=statistics.median(predicted),
            ratios=predicted,
            git=program.version_text,
            load_1m=load_1m,
            why="no git of today checks each object, so the first is the second and so many look-ups more, at what one"
            f" took here, {_DELAY_S * 1e3:g} ms and a little; the objects themselves, which were sent over a network"
            " there, cost little here",
        ),
    ]


def _absent_below_objects(mount: FuseMount, git_dir: Path) -> int:
    looked_up = mount.look_ups(git_dir)
    return sum(count for (kind, was_there), count in looked_up.items() if not was_there and kind != "elsewhere")


def _clone(program: GitProgram, source: Path, target: Path) -> float:
    """Clone, and return the seconds it took."""
    target.parent.mkdir(exist_ok=True)
    start_s = time.perf_counter()
    _git(program, "clone", "-q", "--bare", "--no-local", "--template=", source, target)
    return time.perf_counter() - start_s


def _git(program: GitProgram, *arguments: str | Path) -> None:
    subprocess.run([program.path, *arguments], check=True, capture_output=True, env=git_environment())


def _object_count(repository: Path) -> int:
    return int(git("-C", str(repository), "rev-list", "--count", "--objects", "--all"))
