"""File systems that do not answer, without one: system calls in folders of certain names never return.

`hang.git` hangs the worker that inspects it, `dead` the search that comes to it, as a network file system does whose
server is gone. `python -m tests.support.dead_folders LIMIT_S ROOT` opens the dashboard over such a root.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator

from gitdash.config.settings import ScanSettings, Settings
from gitdash.discovery import search
from gitdash.discovery.search import Result
from gitdash.gitcmd.installed import find_git
from gitdash.survey import workers
from gitdash.tui.app import run_dashboard

WORKER_MODULE = "tests.survey.strange_worker"
DEAD = b"dead"
HANG_S = 3600.0

_look_at = search._RootSearch._look_at


def look_at(self: search._RootSearch, folder: search._Folder) -> Iterator[Result]:
    """Stand in for the look at one folder of a search."""
    if folder.name == DEAD:
        threading.Event().wait(HANG_S)
    return _look_at(self, folder)


def main(limit_s: float, root: str) -> int:
    """Open the dashboard."""
    workers.WORKER_MODULE = WORKER_MODULE
    search._RootSearch._look_at = look_at  # type: ignore[method-assign]
    settings = Settings(scan=ScanSettings(time_limit_s=limit_s, workers=1))
    return run_dashboard(
        [os.fsencode(root)],
        settings=settings,
        history=None,
        git=find_git(),
        registry_dir=os.fsencode(root) + b"-lab",
        clock=time.time,
    )


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2]))
