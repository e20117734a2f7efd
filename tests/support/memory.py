"""Peak memory of a process of a test or a benchmark, from proc_pid_status(5)."""

import re
from pathlib import Path


def peak_bytes(pid: int) -> int:
    """Return the most that a process had in memory since its exec(2); raises OSError once it has ended."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
