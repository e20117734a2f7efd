"""That a repack leaves every object where it was, shown after it: in the repository itself, and not in a lender.

git leaves out of a cruft pack what any pack has that was not there when it began, with and without `-l`, and
`prune-packed` removes loose copies of what a lender has packed. A lender that is named in the moments between the last
look and git's own would so take over what is unreachable here. What is then missing is packed again while that lender
is there. Source: git-repack(1), builtin/pack-objects.c (read_cruft_objects); tried with git 2.39, 2.47 and 2.55.
"""

import contextlib
import os
import re
from collections.abc import Iterator

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.maintenance.pins import PINNED_CONFIG
from gitdash.maintenance.verifying import is_about_objects
from gitdash.maintenance.work import Work, corrupt
from gitdash.model.plan import Step
from gitdash.units import counted

_KEEPING = frozenset({"-k", "--cruft-expiration=never", "--geometric=2"})
"""Options of a repack that is to drop nothing."""
_DROPPING = re.compile(r"--(?:cruft-expiration|expire)=(?!never)")


@contextlib.contextmanager
def keeping_objects(work: Work, step: Step) -> Iterator[None]:
    """Run a step in the block; if it is a repack that drops nothing, see that all objects are still here.

    After one that drops some, what a lender that was named meanwhile has of what is gone or reachable is packed again:
    prune-packed ends it, and has removed what came meanwhile, too, if the lender had it packed. Raises
    TaskStoppedError CORRUPT if something is gone for good. A step that raises is not looked after: its time is
    over, or somebody wants an end. Repositories that borrow are looked after elsewhere.
    """
    is_keeping = step.arguments[:1] == ("repack",) and not _KEEPING.isdisjoint(step.arguments)
    if not (is_keeping or is_dropping(step)) or work.lenders:
        yield
        return
    from gitdash.maintenance.object_sets import gone_since, own_objects

    try:
        before = own_objects(work.objects_dir, work.inspection.object_format)
    except GitdashError:
        # a repack may be what mends a damaged index; what it lists nobody knows
        yield
        return
    yield
    missing = gone_since(before, work.objects_dir, work.inspection.object_format)
    if not is_keeping:
        missing = _lent(work, missing)
    if missing:
        _pack_again(work, missing)


def is_dropping(step: Step) -> bool:
    """Tell whether a step drops objects for good."""
    return step.arguments[:1] in {("repack",), ("prune",)} and any(map(_DROPPING.match, step.arguments))


def _lent(work: Work, gone: list[str]) -> list[str]:
    """Return what is not here but in a lender: of what is gone, and of all that is reachable."""
    if not os.path.lexists(work.objects_dir + b"/info/alternates"):
        return []
    from gitdash.maintenance.droppable_sets import TIPS, ids_of_lines
    from gitdash.maintenance.object_sets import gone_since

    walk = work.git(["rev-list", "--objects", "--no-object-names", *TIPS], config=PINNED_CONFIG)
    reachable = ids_of_lines(walk.stdout, work.inspection.object_format)
    sought = {*gone, *gone_since(reachable, work.objects_dir, work.inspection.object_format)}
    stdin = "".join(object_id + "\n" for object_id in sorted(sought)).encode()
    listed = work.git(["cat-file", "--batch-check=%(objectname)", "--buffer"], stdin=stdin).stdout.decode().split("\n")
    return [line for line in listed if line and not line.endswith(" missing")]


def _pack_again(work: Work, object_ids: list[str]) -> None:
    count = counted(len(object_ids), "object")
    target = os.path.join(work.report.repository.common_dir, b"objects/pack/pack")
    stdin = "".join(object_id + "\n" for object_id in object_ids).encode()
    try:
        work.git(["pack-objects", "--quiet", target], config=PINNED_CONFIG, stdin=stdin)
    except GitError as error:
        if is_about_objects(error):
            raise corrupt(f"{count} are gone: somebody removed them, or named a lender for a moment") from error
        raise
    work.notes.append(f"{count} packed once more: a lender was named meanwhile, and git left out what that has")
