"""Symbolic links that appear at git's names while a task is under way.

A task is refused where git would write through one (`refused_for_links`), but its steps may take hours, and no lock
keeps a link from being put there. So each step looks again, and so does the end: what a step met while it ran can only
be told. Source: `links`.
"""

import os

from gitdash.maintenance.links import OBJECTS, find_links
from gitdash.maintenance.work import Work, refused
from gitdash.units import printable_path


def refuse_if_links_came(work: Work) -> None:
    """Raise TaskStoppedError if git's names lead elsewhere than when the task began."""
    sentence = sentence_on_links(work)
    if sentence is not None:
        raise refused(sentence)


def sentence_on_links(work: Work) -> str | None:
    """Return what is to be said of names that lead elsewhere than when the task began; None if all are as they were."""
    if work.links is None:
        return None
    common_dir = work.report.repository.common_dir
    # `objects` as a whole may be a link, as long as it leads to the same store
    found = {printable_path(path) for path in find_links(common_dir).paths if path != OBJECTS}
    came = sorted(found - work.links)
    if os.path.realpath(common_dir + b"/" + OBJECTS) != os.path.realpath(work.objects_dir):
        came.append(printable_path(OBJECTS))
    if not came:
        return None
    return f"{came[0]} became a symbolic link during the task: look at what it leads to, git may have written there"
