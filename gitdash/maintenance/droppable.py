"""How many objects RECLAIM would drop now, counted one by one before a person confirms it.

git has no dry run of `repack --cruft`, so its rule is applied to all ids: what no reference, reflog or index reaches
goes, unless it is younger than the grace or something so young needs it. Source: builtin/pack-objects.c
(`enumerate_and_traverse_cruft_objects`), reachable.c (`add_unseen_recent_objects_to_traversal`). It costs a walk over
everything reachable, and some 100 bytes of memory for each object. Drops nothing.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.maintenance.action_facts import Droppable
from gitdash.maintenance.pins import PINNED_CONFIG
from gitdash.maintenance.work import STDOUT_LIMIT_BYTES, objects_dir_of
from gitdash.model.inspection import Inspection
from gitdash.model.progress import CommandProgress
from gitdash.model.report import RepositoryReport

if TYPE_CHECKING:
    from gitdash.measurement.sorted_ids import SortedIds

GRACE_S: Final = 14 * 86_400.0
"""git's `2.weeks.ago`, which RECLAIM names."""


def count_droppable(
    report: RepositoryReport,
    *,
    program: GitProgram,
    now_s: float,
    time_limit_s: float,
    cancel: threading.Event | None = None,
    on_progress: Callable[[CommandProgress], None] | None = None,
) -> Droppable | None:
    """Count what RECLAIM would drop of a repository; None where that cannot be told.

    Raises GitError only if cancelled.
    """
    # numpy comes with it
    from gitdash.maintenance.droppable_sets import TIPS, ids_of_lines, lines_of_ids, unreachable_objects

    if not isinstance(report.inspection, Inspection):
        return None
    object_format = report.inspection.object_format

    def walk(tips: Sequence[str], stdin: bytes = b"") -> "SortedIds":
        output = run_git(
            program,
            ["rev-list", "--objects", "--no-object-names", "--progress=Walking", *tips],
            git_dir=report.repository.common_dir,
            config=PINNED_CONFIG,
            stdin=stdin,
            time_limit_s=time_limit_s,
            cancel=cancel,
            on_progress=on_progress,
            stdout_limit_bytes=STDOUT_LIMIT_BYTES,
        )
        return ids_of_lines(output.stdout, object_format)

    try:
        unreachable = unreachable_objects(
            objects_dir_of(report), walk(TIPS), object_format, young_from_s=now_s - GRACE_S
        )
    except GitdashError:
        if cancel is not None and cancel.is_set():
            raise
        return None
    young = lines_of_ids(unreachable.young_ids)
    needed: SortedIds | None = None
    if young:
        try:
            needed = walk(("--stdin", "--not", *TIPS), young)
        except GitError:
            # something that a young object names is gone: git passes over that, and a walk here does not
            if cancel is not None and cancel.is_set():
                raise
    count, size_bytes = unreachable.dropped_without(needed)
    is_exact = not unreachable.has_kept_pack and (needed is not None or not young)
    return Droppable(count=count, bytes=size_bytes, is_exact=is_exact)
