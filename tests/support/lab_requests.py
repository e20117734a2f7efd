"""Requests for experiments on repositories that a test has built, and what must stay as it is meanwhile."""

import os
import stat
import time
from pathlib import Path
from typing import Any

from gitdash.gitcmd.installed import find_git
from gitdash.lab.request import ExperimentRequest
from gitdash.lab.variant import Limits
from tests.support.fetching import report_of
from tests.support.repositories import GIT, GitRepository


def request_for(repository: GitRepository, registry_dir: Path, **more: Any) -> ExperimentRequest:
    """Two runs of each variant unless a test says otherwise."""
    values = {"limits": Limits(least_runs=2, most_runs=2, budget_s=60)} | more
    return ExperimentRequest(
        report=report_of(repository.path),
        program=find_git(GIT),
        clock=time.time,
        registry_dir=os.fsencode(registry_dir),
        **values,
    )


def files_of(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Mode, inode, time and content of a folder and of everything below it."""
    found = {}
    for parent, _, names in os.walk(folder):
        for path in (Path(parent), *(Path(parent, name) for name in names)):
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[str(path)] = (status.st_mode, status.st_ino, status.st_mtime_ns, content)
    return found


def import_objects(repository: GitRepository, commit_count: int) -> int:
    """Add commits with one new file each to main, packed; return how many objects there are then."""
    lines = [
        f"commit refs/heads/main\ncommitter A <a@example.com> {1_700_000_000 + number} +0000\n"
        f"data 1\nx\nM 100644 inline d/f{number}\ndata <<E\nline {number}\nE\n"
        for number in range(commit_count)
    ]
    repository.git("fast-import", "--quiet", "--force", stdin="\n".join(lines).encode())
    repository.repack()
    return int(repository.git("rev-list", "--count", "--objects", "--all"))
