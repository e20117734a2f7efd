"""Benchmarks of whole processes and of the index difference, against git on the same repositories."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.fleet import git_environment
from benchmarks.timing import Result, interleave, run_once, speedup

GITDASH = (sys.executable, "-m", "gitdash")


def survey(paths: list[Path], scratch: Path, runs: int) -> list[Result]:
    """First and repeated survey of a bare fleet against `xargs -P2 git count-objects -v`."""
    folder = paths[0].parent
    listing = scratch / "list"
    listing.write_text("\n".join(map(str, paths)))
    count_objects = ["xargs", "-P2", "-I{}", "git", "-C", "{}", "count-objects", "-v"]
    state = scratch / "again.db"

    def first() -> tuple[float, float]:
        with tempfile.TemporaryDirectory(dir=scratch) as fresh:
            return run_once([*GITDASH, "--state", f"{fresh}/state.db", "scan", str(folder), "--format", "csv"])

    def again() -> tuple[float, float]:
        return run_once([*GITDASH, "--state", str(state), "scan", str(folder), "--format", "csv"])

    def theirs() -> tuple[float, float]:
        return run_once(count_objects, stdin_path=str(listing))

    again()
    timings = interleave([("git count-objects -v", theirs), ("first survey", first), ("again", again)], runs)
    count, first_timing, again_timing = timings
    details = tuple(timing.text() for timing in timings)
    return [
        Result(f"survey of {len(paths)} bare repositories", speedup(first_timing, count), "x faster", 2, True, details),
        Result("the same again, nothing changed", speedup(again_timing, count), "x faster", 8, True),
    ]


def exclusive(member: Path, runs: int) -> list[Result]:
    """The index difference, files read from disk each time, against the walk that git would make."""
    command = ["git", "-C", str(member), "rev-list", "--not", "--alternate-refs", "--not", "--all", "--objects"]
    command.append("--disk-usage")
    answer = subprocess.run(command, capture_output=True, check=True, env=git_environment()).stdout
    difference = _exclusive_seconds(member)
    if difference[0] != int(answer):
        raise SystemExit(f"exclusive is {difference[0]}, git says {int(answer)}")
    ours, theirs = interleave(
        [("index difference", lambda: _exclusive_seconds(member)[1:]), ("rev-list", lambda: run_once(command))], runs
    )
    return [Result("exclusive", speedup(ours, theirs), "x faster", 20, True, (ours.text(), theirs.text()))]


def _exclusive_seconds(member: Path) -> tuple[int, float, float]:
    """Return exclusive bytes, wall and CPU seconds of a measurement that starts with nothing in memory."""
    from benchmarks.exclusive import exclusive_sizes

    start_s, cpu_s = time.perf_counter(), time.process_time()
    sizes = exclusive_sizes(os.fsencode(member))
    return sizes.exclusive_bytes, time.perf_counter() - start_s, time.process_time() - cpu_s


def size(repository: Path, runs: int) -> list[Result]:
    """`gitdash size` against the bare git command, process to process."""
    ours_command = [*GITDASH, "--no-state", "size", str(repository), "--format", "json"]
    answer = json.loads(subprocess.run(ours_command, capture_output=True, check=True).stdout)
    theirs_command = ["git", "-C", str(repository), "rev-list", "--all", "--objects", "--disk-usage"]
    if "--use-bitmap-index" in answer["argv"]:
        theirs_command.insert(4, "--use-bitmap-index")
    ours, theirs = interleave(
        [("gitdash size", lambda: run_once(ours_command)), ("git", lambda: run_once(theirs_command))], runs
    )
    over_s = statistics.median(a - 1.1 * b for a, b in zip(ours.wall_s, theirs.wall_s, strict=True))
    name = "size beyond 1.1 times the bare command"
    return [Result(name, over_s, "s", 0.2, False, (ours.text(), theirs.text()))]


def version(runs: int) -> list[Result]:
    """`gitdash --version`, whole process."""
    (timing,) = interleave([("gitdash --version", lambda: run_once([*GITDASH, "--version"]))], max(runs, 9))
    return [Result("--version", timing.median_wall_s, "s", 0.15, False, (timing.text(),))]


def exclusive_memory(member: Path, larger_object_count: int) -> list[Result]:
    """Peak memory of the index difference in a process of its own, above that of the imports.

    From /proc, because ru_maxrss starts with what the parent had when it forked.
    """
    program = (
        "import os, re, sys, numpy\n"
        "from benchmarks.exclusive import exclusive_sizes\n"
        "peak_kib = lambda: int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
        "before = peak_kib()\n"
        "exclusive_sizes(os.fsencode(sys.argv[1]))\n"
        "print((peak_kib() - before) * 1024)\n"
    )
    answer = subprocess.run([sys.executable, "-c", program, str(member)], capture_output=True, check=True).stdout
    return [Result("memory of exclusive", int(answer) / larger_object_count, "bytes an object", 100, False)]


def machine() -> dict[str, object]:
    """What the figures were measured on: load, cores, versions."""
    git_version = subprocess.run(["git", "version"], capture_output=True, check=True, text=True).stdout.strip()
    return {
        "load_average": os.getloadavg(),
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
        "git": git_version,
        "peak_memory_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
