"""Actions that a former gitdash did not end: found when a new one starts, with what they may have left.

It looks into the repositories of such actions alone, and into none if there are none. That may wait for a file system
that does not answer: a front end that must not wait does it in a thread. Removes nothing from a repository.
"""

import contextlib
import os
from typing import TYPE_CHECKING

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.shadow import sweep_abandoned, temporary_folder
from gitdash.history.cut_off import is_action_alive, settle_cut_off
from gitdash.history.ledger import Ledger
from gitdash.maintenance.leftovers import CLOCK_STEP_S, leftovers
from gitdash.model.ledger import LedgerEntry
from gitdash.model.repository import Unreadable
from gitdash.survey.inspect_now import inspect_now
from gitdash.survey.single import find_repository
from gitdash.units import printable_path

if TYPE_CHECKING:
    from gitdash.config.settings import Settings


def settle_actions(
    ledger: Ledger, *, settings: "Settings", effective_uid: int, now_s: float
) -> tuple[LedgerEntry, ...]:
    """Mark actions whose gitdash is gone as cut off, and return them; `export.ledger_lines.cut_off_lines` tells them.

    Raises HistoryError for a damaged state file.
    """
    swept: tuple[tuple[str, float], ...] = ()
    with contextlib.suppress(GitError):
        # a fetch that was killed left a folder for temporary files, and a dry run all that it had received
        swept = sweep_abandoned(temporary_folder())

    def leftovers_of(entry: LedgerEntry) -> tuple[str, ...]:
        folders = [_swept(path) for path, changed_at_s in swept if changed_at_s >= entry.started_at_s - CLOCK_STEP_S]
        return (*_leftovers_of(entry, settings, effective_uid, now_s), *sorted(folders))

    return settle_cut_off(ledger, is_alive=is_action_alive, leftovers_of=leftovers_of)


def _swept(folder: str) -> str:
    state = "could not be removed" if os.path.lexists(folder) else "removed now"
    return f"{printable_path(os.fsencode(folder))}/ ({state})"


def _leftovers_of(entry: LedgerEntry, settings: "Settings", effective_uid: int, now_s: float) -> tuple[str, ...]:
    try:
        repository = find_repository(entry.path, settings=settings, effective_uid=effective_uid)
    except GitdashError as error:
        return (f"what cannot be told: {error}",)
    if repository.path != entry.path:
        return ("what cannot be told: the repository is not there any more",)
    inspection = inspect_now(repository.git_dir, repository.common_dir, now_s=now_s)
    if isinstance(inspection, Unreadable):
        return (f"what cannot be told: {inspection.reason}",)
    return leftovers(inspection, started_at_s=entry.started_at_s)
