"""The index difference of one repository with nothing known before; imported alone, for its memory is measured, too."""

from gitdash.measurement.exclusive import LenderIds
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes
from gitdash.survey.exclusive import exclusive_of
from gitdash.survey.inspect_now import inspect_now


def exclusive_sizes(git_dir: bytes) -> ExclusiveSizes | Unreadable:
    """Inspect a bare repository and return its figures."""
    return exclusive_of(git_dir, inspect_now(git_dir, git_dir, now_s=0.0), LenderIds(), now_s=0.0)
