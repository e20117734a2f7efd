"""The door to GitPython, which is imported when something of it is first needed.

On import GitPython looks for a git at once and runs it in our environment: it is given none that runs.
"""

import functools
import os
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from git.cmd import Git
    from git.util import RemoteProgress

_QUIET: Final = {"GIT_PYTHON_GIT_EXECUTABLE": os.devnull, "GIT_PYTHON_REFRESH": "quiet"}
_importing: Final = threading.Lock()


def load_git_class() -> type["Git"]:
    """Return the class that starts processes of git."""
    return _load()[0]


def load_progress_class() -> type["RemoteProgress"]:
    """Return the class that understands what git says of its progress."""
    return _load()[1]


@functools.cache
def _load() -> tuple[type["Git"], type["RemoteProgress"]]:
    with _importing:
        inherited = {name: os.environ[name] for name in _QUIET if name in os.environ}
        os.environ.update(_QUIET)
        try:
            from git.cmd import Git
            from git.util import RemoteProgress
        finally:
            for name in _QUIET:
                del os.environ[name]
            os.environ.update(inherited)
    return Git, RemoteProgress
