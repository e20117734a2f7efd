"""`git daemon` on the loopback, one process for each connection."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from tests.support.repositories import GIT, clean_environment
from tests.support.servers.listening import Handle, Listener, listening, program


def daemon_handle(folder: Path) -> Handle:
    """Return what serves a connection with `git daemon --inetd`: it answers as the one that listens itself does."""
    argv = [GIT, "daemon", "--inetd", "--export-all", f"--base-path={os.fspath(folder)}", "--informative-errors"]
    return program(argv, clean_environment())


@contextlib.contextmanager
def git_daemon(folder: Path) -> Iterator[Listener]:
    """Serve every repository below `folder` as `git://127.0.0.1:PORT/NAME`."""
    with listening(daemon_handle(folder)) as listener:
        yield listener
