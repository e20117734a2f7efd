"""The check that everything reachable is there: git fsck without a look into the objects. Changes nothing.

Source: git-fsck(1) `--connectivity-only`: references, reflogs and the index are followed, through alternates, too.
"""

from typing import Final

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.output import first_complaint
from gitdash.maintenance.work import Work, corrupt
from gitdash.units import printable

FSCK: Final = ("fsck", "--connectivity-only", "--no-dangling", "--no-progress")


def verify(work: Work) -> None:
    """Check the repository. Raises TaskStoppedError with reason CORRUPT if something is missing, GitError."""
    try:
        work.git(FSCK)
    except GitError as error:
        raise damage(error) if error.kind is GitFailure.FAILED and error.exit_code else error from error


def damage(error: GitError) -> Exception:
    """Return what a failed check means: the first complaint as a sentence, with reason CORRUPT."""
    return corrupt(f"not everything reachable is there: {printable(first_complaint(error.stderr) or str(error))}")
