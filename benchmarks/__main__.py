"""Run the benchmarks: `python -m benchmarks [NAME ...]`. Fleets are made below a temporary folder and removed.

Each result says its target and whether it was met; all are kept as JSON in `benchmarks/results/`.
"""

import argparse
import functools
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import acting, dashboard, lab, processes
from benchmarks import soak as sequences
from benchmarks.fleet import make_bare_fleet, make_pool_and_member
from benchmarks.lab_table import Row
from benchmarks.timing import Result

RESULTS = Path(__file__).with_name("results")


def survey(scratch: Path, runs: int) -> list[Result]:
    """First and repeated survey of 2,000 bare repositories."""
    return processes.survey(make_bare_fleet(scratch / "fleet", 2000), scratch, runs)


def exclusive(scratch: Path, runs: int) -> list[Result]:
    """The index difference on a pool of 500,000 objects and a member of 100,000, its memory, and `size`."""
    pool, member = make_pool_and_member(scratch / "pool", 500_000, 100_000)
    results = processes.exclusive(member, runs)
    results += processes.exclusive_memory(member, 500_000)
    return results + processes.size(pool, runs)


def version(scratch: Path, runs: int) -> list[Result]:
    """`gitdash --version`."""
    del scratch
    return processes.version(runs)


def screen(scratch: Path, runs: int) -> list[Result]:
    """First paint, key to paint and memory with 10,000 repositories, in a pseudo-terminal."""
    return dashboard.measure(scratch, repository_count=10_000, runs=runs)


def fetch(scratch: Path, runs: int) -> list[Result]:
    """The choice about alternate refs, many fetches at once, and cancelling."""
    results = acting.alternate_references(scratch / "pool", runs)
    results += acting.orchestration(scratch / "many", runs)
    return results + acting.cancelling(scratch / "waiting", runs)


def soak(scratch: Path, runs: int) -> list[Result]:
    """500 random sequences of use, maintenance, kills and full disks, after which nothing may be missing."""
    del runs
    return sequences.soak(scratch)


BENCHMARKS: dict[str, Callable[[Path, int], list[Result]]] = {
    "version": version,
    "survey": survey,
    "exclusive": exclusive,
    "screen": screen,
    "soak": soak,
    "fetch": fetch,
}


def _benchmarks(options: argparse.Namespace) -> dict[str, Callable[[Path, int], Sequence[Result | Row]]]:
    table = functools.partial(lab.reference_table, programs=options.git or ["git"], scale=options.scale)
    return {**BENCHMARKS, "lab": table}


def main() -> None:
    """Run what was asked for, or everything; print and keep the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = (*BENCHMARKS, "lab")
    parser.add_argument("names", nargs="*", choices=[[], *names], metavar="NAME", help=", ".join(names))
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each variant (default 5)")
    parser.add_argument("--scratch", type=Path, help="where the fleets are made (default: the temporary folder)")
    parser.add_argument("--git", action="append", help="lab: the git to compare with; may be repeated (default: git)")
    parser.add_argument("--scale", type=float, default=1.0, help="lab: part of the full size of what is made")
    options = parser.parse_args()
    # With it, every start would compile gitdash and its libraries anew, which no installed program does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    results: list[Result | Row] = []
    for name in options.names or names:
        print(f"-- {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="gitdash-benchmark-", dir=options.scratch) as scratch:
            found = _benchmarks(options)[name](Path(scratch), options.runs)
        print("\n".join(result.text() for result in found), flush=True)
        results += found
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    report = RESULTS / f"{now:%Y%m%dT%H%M%SZ}.json"
    record = {"measured_at": now.isoformat(timespec="seconds"), "machine": processes.machine()}
    report.write_text(json.dumps(record | {"results": [result.record() for result in results]}, indent=1) + "\n")
    print(f"kept in {report.relative_to(Path.cwd()) if report.is_relative_to(Path.cwd()) else report}")


if __name__ == "__main__":
    main()
