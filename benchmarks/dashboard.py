"""Benchmarks of the dashboard in a real pseudo-terminal: first paint, key to paint, memory."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.fleet import make_bare_fleet
from benchmarks.memory import MEGABYTE, PeakMemory
from benchmarks.timing import Result
from tests.support.pty_session import PtySession

LOOSE_PER_REPOSITORY = 2
"""Few, because what is measured here is the number of rows."""
UPDATES_PER_S = 200
KEYS = 60


def measure(scratch: Path, *, repository_count: int, runs: int) -> list[Result]:
    """Open the dashboard on repositories that are known from an earlier survey."""
    make_bare_fleet(scratch / "fleet", repository_count, loose_count=LOOSE_PER_REPOSITORY)
    state = scratch / "state.db"
    command = [sys.executable, "-m", "gitdash", "--state", str(state)]
    subprocess.run([*command, "scan", str(scratch / "fleet"), "--format", "csv"], check=True, stdout=subprocess.DEVNULL)
    paints_s: list[float] = []
    peaks: list[PeakMemory] = []
    for _ in range(runs):
        with PtySession([*command, str(scratch / "fleet")], columns=160, lines=50) as session:
            with PeakMemory(session.pid) as memory:
                paints_s.append(session.wait_for_text("repository-0"))
                session.wait_for_text("measuring", limit_s=120)
            peaks.append(memory)
            session.send(b"q")
            session.wait_for_exit()
    largest = max(peaks, key=lambda memory: memory.total_bytes)
    workers = f"{largest.total_bytes / MEGABYTE:.0f} MB with its {largest.worker_count} workers"
    main_bytes = max(memory.main_bytes for memory in peaks)
    spread = f"{min(paints_s):.3f} .. {max(paints_s):.3f} s over {runs} starts"
    name = f"{repository_count} known repositories"
    return [
        Result(f"first paint with {name}", statistics.median(paints_s), "s", 1.0, False, (spread,)),
        Result(f"peak memory with {name}", main_bytes / MEGABYTE, "MB", 150, False, (workers,)),
        _key_to_paint(repository_count),
    ]


def _key_to_paint(row_count: int) -> Result:
    """Time from a cursor key to the painted cursor while rows change."""
    command = [sys.executable, "-m", "tests.support.moving_fleet", str(row_count), str(UPDATES_PER_S)]
    with PtySession(command, columns=160, lines=50) as session:
        session.wait_for_text("inspecting")
        times_ms = []
        for number in range(KEYS):
            _type_as_people_do(session, number)
            times_ms.append(1000 * session.key_to_paint(b"j", "▌"))
        times_ms.sort()
        session.send(b"q")
        session.wait_for_exit()
    spread = f"{times_ms[0]:.1f} .. {times_ms[-1]:.1f} ms, 95th of 100 at {times_ms[int(KEYS * 0.95)]:.1f} ms"
    name = f"key to paint at {row_count} rows, {UPDATES_PER_S} of them changing a second"
    return Result(name, statistics.median(times_ms), "ms", 16, False, (spread,))


def _type_as_people_do(session: PtySession, number: int) -> None:
    """Let 25 to 75 ms pass, as between the keys of a person who holds one down or types fast.

    A key that comes right upon a paint waits for the next frame, which a terminal program draws 60 times a second:
    back to back that would be measured, and nothing else. The pause differs, so as not to fall into step with it.
    """
    ends_s = time.monotonic() + 0.025 + 0.05 * (number * 7 % 11) / 10
    while (left_s := ends_s - time.monotonic()) > 0:
        session.read_available(left_s)
