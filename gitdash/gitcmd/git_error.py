"""Why git gave no answer: the one error that leaves this folder."""

import enum
from typing import Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.masking import mask_credentials

_SIGNALS: Final = range(1, 32)
_BEYOND: Final = 128
"""A shell, and git for what it starts, add this to the number of the signal that ended a program."""
_USAGE: Final = 129
"""git's own code for a command line that it does not understand."""


class GitFailure(enum.Enum):
    """Why there is no answer from git."""

    FAILED = "failed"
    """It said so, or died."""
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    MISSING = "missing"
    """There is no git that runs."""
    TOO_OLD = "too old"
    NOT_STARTED = "not started"
    """The system, or what is asked, does not let it be started."""
    REFUSED = "refused"
    """We did not start it, for it would not have been safe."""


class GitError(GitdashError):
    """There is no answer from git; the text is one clause for people."""

    def __init__(
        self,
        message: str,
        *,
        kind: GitFailure,
        argv: tuple[str, ...] = (),
        exit_code: int | None = None,
        stderr: str = "",
    ) -> None:
        super().__init__(mask_credentials(message))
        self.kind = kind
        self.argv = argv
        """As in `GitOutput.argv`; empty if git was not started."""
        self.exit_code = exit_code
        """Negative for a signal; None if git was not started or its end was not seen."""
        self.stderr = stderr
        """Masked, and bounded."""


def signal_of(exit_code: int | None) -> int | None:
    """Return the signal that ended git or what stands for it; None if it ended by itself."""
    if exit_code is None or exit_code == _USAGE:
        return None
    number = -exit_code if exit_code < 0 else exit_code - _BEYOND
    return number if number in _SIGNALS else None
