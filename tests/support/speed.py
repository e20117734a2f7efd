"""How fast this machine is now, so that a limit on processor time means the same on a slower or a busier one."""

import time
from collections.abc import Callable
from typing import Final

_USUAL_S: Final = 0.015
"""What the yardstick took on the machine on which the limits were set."""
_RUNS: Final = 3


def cpu_s(work: Callable[[], object], *, runs: int = _RUNS) -> float:
    """Do some work several times; return the processor time of the quickest."""
    times_s = []
    for _ in range(runs):
        started_s = time.process_time()
        work()
        times_s.append(time.process_time() - started_s)
    return min(times_s)


def slowness() -> float:
    """Return how many times longer than usual Python takes here, at least 1."""
    return max(cpu_s(_yardstick) / _USUAL_S, 1.0)


def _yardstick() -> int:
    names = [b"%040x refs/tags/v%d\n" % (number, number) for number in range(20_000)]
    return len({name[:40]: name.split(b" ") for name in names})
