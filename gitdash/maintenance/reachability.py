"""Whether everything that references reach is in a store, asked without the repository's own configuration.

git walks in a shadow git directory (`gitcmd.shadow`), so repositories of other users can be asked, too. Derived files
that could lie are not read: no commit-graph, which would vouch for commits that are gone. What a walk does not do is to
look into blobs: they are there, and may be damaged. Source: git-rev-list(1), connected.c.
"""

import os
from collections.abc import Sequence
from typing import Final

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.ownership import foreign_owner
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.gitcmd.store_view import make_store_view
from gitdash.inspection.references import read_tips
from gitdash.maintenance.vouching import is_folder
from gitdash.maintenance.work import Work, corrupt, refused
from gitdash.units import printable_path

_WALK: Final = ("rev-list", "--objects", "--count", "--stdin")
_OF_WORK_TREES: Final = b"worktrees/"
_PARANOID: Final = (("core.commitGraph", "false"),)


def reference_tips(work: Work, common_dir: bytes, *, of_work_trees: bool = True) -> tuple[str, ...]:
    """Return what the references and HEADs of a repository point to, from its files, or by git if it has reftables.

    Without `of_work_trees` the HEADs and own references of linked work trees do not count: git forgets them once the
    folder of the work tree is gone, or at once where the file `gitdir` is (worktree.c, should_prune_worktree).

    Raises TaskStoppedError where one of them is broken, GitError and FileError.
    """
    if is_folder(common_dir + b"/reftable"):
        return _tips_by_git(work, common_dir)
    tips = read_tips(common_dir, common_dir, work.inspection.object_format)
    left_out = () if of_work_trees else (_OF_WORK_TREES,)
    broken = [(name, why) for name, why in tips.broken if not name.startswith(left_out)]
    if broken:
        raise corrupt(f"{printable_path(broken[0][0])} in {printable_path(common_dir)}: {broken[0][1]}")
    counted = (object_id for name, object_id in tips.references if not name.startswith(left_out))
    return tuple(dict.fromkeys(counted))


def _tips_by_git(work: Work, common_dir: bytes) -> tuple[str, ...]:
    if foreign_owner([common_dir], os.geteuid()) is not None:
        raise refused(f"only git reads the references of {printable_path(common_dir)}, and another user owns it")
    listed = work.git(["for-each-ref", "--format=%(objectname)"], git_dir=common_dir)
    if "ignoring" in listed.stderr:
        raise corrupt(f"a reference of {printable_path(common_dir)} is broken")
    return tuple(dict.fromkeys(listed.stdout.decode().split()))


def count_reachable(
    work: Work, objects_dir: bytes, tips: Sequence[str], *, shallow_file: bytes | None, is_alone: bool = False
) -> int:
    """Return how many objects are reachable from `tips`; every one of them is there.

    `is_alone` leaves out what the store borrows. Raises GitError with kind FAILED if an object is missing.
    """
    if not tips:
        return 0
    object_format = work.inspection.object_format
    with shadow_git_dir(object_format=object_format, objects_dir=objects_dir, shallow_file=shallow_file) as shadow:
        environment = shadow.environment
        if is_alone:
            # the one object folder of the shadow directory that git does not look into: it is empty
            view = make_store_view(os.path.join(shadow.path, b"objects"), objects_dir, ())
            environment = environment | {"GIT_OBJECT_DIRECTORY": os.fsdecode(view)}
        stdin = "".join(tip + "\n" for tip in tips).encode()
        output = work.git(_WALK, environment=environment, config=_PARANOID, stdin=stdin)
    try:
        return int(output.stdout)
    except ValueError:
        raise GitError("git rev-list gave no number", kind=GitFailure.FAILED, stderr=output.stderr) from None


def shallow_file_of(common_dir: bytes) -> bytes | None:
    """Return the list of shallow commits of a repository, None if it has none."""
    path = common_dir + b"/shallow"
    return path if os.path.lexists(path) else None
