"""Timing of whole processes, interleaved A B A B, so that a drift of the machine's speed meets both alike."""

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """The runs of one command."""

    label: str
    """What ran."""
    wall_s: tuple[float, ...]
    """Wall time of each run."""
    cpu_s: tuple[float, ...]
    """User and system time of each run, children included."""

    @property
    def median_wall_s(self) -> float:
        """The median wall time."""
        return statistics.median(self.wall_s)

    def text(self) -> str:
        """Median, spread and CPU for people."""
        return (
            f"{self.label}: wall {self.median_wall_s:.3f} s ({min(self.wall_s):.3f} .. {max(self.wall_s):.3f}), "
            f"CPU {statistics.median(self.cpu_s):.3f} s"
        )


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one benchmark: a figure, its target and whether it is met."""

    name: str
    """What was measured."""
    figure: float
    """The measured figure, in `unit`."""
    unit: str
    """`x faster`, `x of`, `s`, `ms`, `MB`."""
    target: float
    """The bound on the figure."""
    at_least: bool
    """True if the figure must reach the target, False if it must stay at or below it."""
    details: tuple[str, ...] = ()
    """Medians and spreads that the figure comes from."""

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.figure >= self.target if self.at_least else self.figure <= self.target

    def text(self) -> str:
        """One line and the details for people."""
        sign = ">=" if self.at_least else "<="
        verdict = "met" if self.met else "MISSED"
        head = f"{verdict:6} {self.name}: {self.figure:.3g} {self.unit} (target {sign} {self.target:g})"
        return "\n".join([head, *(f"         {line}" for line in self.details)])

    def record(self) -> dict[str, object]:
        """The result for JSON."""
        return asdict(self) | {"met": self.met}


def run_once(command: Sequence[str], *, stdin_path: str = os.devnull, cwd: str | None = None) -> tuple[float, float]:
    """Run a command to its end and return wall and CPU seconds; its output is thrown away."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start_s = time.perf_counter()
    with open(stdin_path, "rb") as stdin:
        finished = subprocess.run(
            command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=cwd, check=False
        )
    wall_s = time.perf_counter() - start_s
    if finished.returncode:
        raise SystemExit(f"{' '.join(command)[:200]} -> {finished.returncode}: {finished.stderr[-500:].decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interleave(labels_and_runs: Sequence[tuple[str, Callable[[], tuple[float, float]]]], runs: int) -> list[Timing]:
    """Run every variant once to warm up, then all in turn `runs` times."""
    for _, run in labels_and_runs:
        run()
    samples: list[list[tuple[float, float]]] = [[] for _ in labels_and_runs]
    for _ in range(runs):
        for collected, (_, run) in zip(samples, labels_and_runs, strict=True):
            collected.append(run())
    return [
        Timing(label, tuple(wall_s for wall_s, _ in collected), tuple(cpu_s for _, cpu_s in collected))
        for (label, _), collected in zip(labels_and_runs, samples, strict=True)
    ]


def speedup(ours: Timing, theirs: Timing) -> float:
    """Return how many times faster ours is, pair by pair, as a median."""
    return statistics.median(b / a for a, b in zip(ours.wall_s, theirs.wall_s, strict=True))
