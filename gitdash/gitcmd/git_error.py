"""Why git gave no answer: the one error that leaves this folder."""

import enum

from gitdash.errors import GitdashError
from gitdash.gitcmd.masking import mask_credentials


class GitFailure(enum.Enum):
    """Why there is no answer from git."""

    FAILED = "failed"
    """It said so, or died."""
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    MISSING = "missing"
    """There is no git that runs."""
    TOO_OLD = "too old"
    REFUSED = "refused"
    """We did not start it."""


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
