"""What of the machine stands beside a result: load, processors, host, file system. Nothing is judged."""

import os

from gitdash.inspection.mounts import filesystem_type
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.units import printable


def load_1m() -> float | None:
    """Return the load average of the last minute; None where the system has none."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def processor_count() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def host_name() -> str:
    """Return the name of the host, printable."""
    return printable(os.uname().nodename)


def filesystem_of(report: RepositoryReport) -> str | None:
    """Return the type of the file system on which a repository's objects lie; None if unknown."""
    inspection = report.inspection
    if isinstance(inspection, Inspection) and inspection.filesystem_type is not None:
        return inspection.filesystem_type
    return filesystem_type(report.repository.common_dir)
