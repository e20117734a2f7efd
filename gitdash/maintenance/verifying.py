"""The check that everything reachable is there: git fsck without a look into the objects. Changes nothing.

Source: git-fsck(1) `--connectivity-only`: references, reflogs and the index are followed, through alternates, too.
"""

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError, GitFailure, signal_of
from gitdash.gitcmd.output import first_complaint
from gitdash.maintenance.steps import FSCK
from gitdash.maintenance.work import Work, corrupt, refused
from gitdash.units import printable, printable_path


def verify(work: Work) -> None:
    """Check the repository. Raises TaskStoppedError with reason CORRUPT if something is missing, GitError."""
    try:
        work.git(FSCK)
    except GitError as error:
        if not is_about_objects(error):
            raise
        complaint = printable(first_complaint(error.stderr) or str(error))
        raise corrupt(f"not everything reachable is there: {complaint}") from error


def require_usable_lenders(work: Work) -> None:
    """Raise TaskStoppedError unless all lenders can be used, and everything reachable is there."""
    if not work.lenders:
        raise refused("it borrows from no other repository")
    for lender in work.lenders:
        if lender.problem is not None:
            raise refused(f"the lender {printable_path(lender.path)} cannot be used: {lender.problem}")
    verify(work)


def is_about_objects(error: GitdashError) -> bool:
    """Return whether it is git's own word on the objects: it ended by itself, and not by a signal or a time limit."""
    if not isinstance(error, GitError) or error.kind is not GitFailure.FAILED:
        return False
    return (error.exit_code or 0) > 0 and signal_of(error.exit_code) is None
