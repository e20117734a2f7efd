"""What comes to stand in a repository's config while a task is under way.

A task is refused for keys that no override makes harmless (`refused_by_config`), and for an include that git would wait
for. A check of a large store takes minutes, though, and anybody who may write the config can add such a key meanwhile:
so each step judges it again, by the same rules. What comes once git has been started, it cannot see; then the time
limit of the command is what ends a wait. Reads the repository's own config alone, not those of lenders.
"""

import stat

import msgspec

from gitdash.inspection.config import inspect_config
from gitdash.inspection.config_includes import include_problem
from gitdash.inspection.files import FileError
from gitdash.inspection.folders import list_folder
from gitdash.inspection.hooks import FOLDERS_OF_CONCERN
from gitdash.inspection.listing import Listing
from gitdash.inspection.reading import Problems
from gitdash.maintenance import refused_by_config
from gitdash.maintenance.work import Work, refused
from gitdash.model.inspection import Inspection
from gitdash.model.repository import Unreadable
from gitdash.units import printable


def refuse_if_config_came(work: Work) -> None:
    """Raise TaskStoppedError if the config now says what would have refused the task when it began."""
    reason = _reason(work)
    if reason is not None:
        raise refused(f"its config changed during the task: {printable(reason)}")


def _reason(work: Work) -> str | None:
    inspection = work.report.inspection
    if work.task is None or work.facts is None or not isinstance(inspection, Inspection):
        return None
    repository = work.report.repository
    git_dir, common_dir = repository.git_dir, repository.common_dir
    try:
        common = _listing(common_dir)
        own = common if git_dir == common_dir else _listing(git_dir)
    except FileError as error:
        return error.reason
    config = inspect_config(common, git_dir, common_dir, own, Problems()).facts
    if isinstance(config, Unreadable):
        return config.reason
    report = msgspec.structs.replace(work.report, inspection=msgspec.structs.replace(inspection, config=config))
    rules = (judge for rule, judge in refused_by_config.RULES if work.task in rule.tasks)
    found = (judge(report, work.facts, work.task) for judge in rules)
    # git would wait for a FIFO for hours
    return next(filter(None, found), None) or include_problem(git_dir, common_dir)


def _listing(git_dir: bytes) -> Listing:
    """List what a config is judged by: to walk over references and packs, too, takes long where there are many."""
    listing = Listing(prefix=git_dir + b"/", objects_prefix=git_dir + b"/objects/")
    listing.folders[b""] = dict(zip(*list_folder(listing.prefix), strict=True))
    for name in FOLDERS_OF_CONCERN:
        found = listing.top().get(name)
        if found is not None and stat.S_ISDIR(found.st_mode):
            listing.folders[name] = dict(zip(*list_folder(listing.path(name + b"/")), strict=True))
    return listing
