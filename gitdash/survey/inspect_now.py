"""An inspection in this process, for what a survey finds out of date or outside its roots; no error leaves it."""

from gitdash.inspection.reading import unreadable
from gitdash.inspection.repository import Moment, inspect_if_changed, inspect_repository, place_of
from gitdash.model.inspection import Inspection
from gitdash.model.policy import Policy
from gitdash.model.repository import Unreadable


def inspect_now(
    git_dir: bytes, common_dir: bytes, *, now_s: float, loose_stale_age_s: float | None = None
) -> Inspection | Unreadable:
    """Return what the files of a repository say now; None as an age takes that of the default policy."""
    if loose_stale_age_s is None:
        loose_stale_age_s = Policy().loose_stale_age_s
    try:
        return inspect_repository(git_dir, common_dir, now_s=now_s, loose_stale_age_s=loose_stale_age_s)
    except Exception as error:  # noqa: BLE001 - as in a worker: only its own row is lost, whatever lies in a repository
        return unreadable(error)


def inspect_again(
    git_dir: bytes, common_dir: bytes, known: Inspection | Unreadable, *, now_s: float
) -> Inspection | Unreadable:
    """Return what `inspect_now` does; what is known where nothing has changed since: a third of the work."""
    if isinstance(known, Unreadable) or (known.valid_until_s is not None and now_s >= known.valid_until_s):
        return inspect_now(git_dir, common_dir, now_s=now_s)
    moment = Moment(now_s=now_s, loose_stale_age_s=Policy().loose_stale_age_s)
    try:
        return inspect_if_changed(place_of(git_dir, common_dir), known.fingerprint, moment) or known
    except Exception as error:  # noqa: BLE001 - the same
        return unreadable(error)
