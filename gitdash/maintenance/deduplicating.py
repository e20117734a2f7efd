"""What must be shown of the lenders before a member may give up its own copies of what they have.

A lender does not know its borrowers. What nothing there references its next gc drops, so a copy here of such an object
may be the only one tomorrow (`reference` sequence: the pool fetched the member's commit, the member's gc removed its
own copy, the pool deleted the branch). So four things are shown, in this order: everything reachable in the member is
there; everything reachable in each lender is there; each object that both have is reachable in the lender; and is whole
there, which no walk sees of a blob.
"""

import os

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.maintenance.copies import check_lent_copies
from gitdash.maintenance.reachability import (
    count_reachable,
    reference_tips,
    repository_of_store,
    shallow_file_of,
)
from gitdash.maintenance.verifying import is_about_objects, verify
from gitdash.maintenance.work import Work, refused
from gitdash.units import counted, printable_path


def check_lenders(work: Work) -> None:
    """Show that own copies of what lenders have are not needed. Raises TaskStoppedError otherwise."""
    if not work.lenders:
        raise refused("it borrows from no other repository")
    for lender in work.lenders:
        if lender.problem is not None:
            raise refused(f"the lender {printable_path(lender.path)} cannot be used: {lender.problem}")
    verify(work)
    for lender in work.lenders:
        _check_lender(work, lender.path)


def _check_lender(work: Work, objects_dir: bytes) -> None:
    from gitdash.maintenance.object_sets import shared_objects

    common_dir = repository_of_store(objects_dir)
    name = printable_path(common_dir)
    if os.path.lexists(common_dir + b"/info/grafts"):
        raise refused(f"the lender {name} has grafts, by which its gc takes for unreachable what a walk here finds")
    tips = reference_tips(work, common_dir, of_work_trees=False)
    shallow_file = shallow_file_of(common_dir)
    try:
        there = count_reachable(work, objects_dir, tips, shallow_file=shallow_file)
    except GitdashError as error:
        raise _unless_missing(error, f"the lender {name} lacks something that its references need: {error}") from error
    shared = shared_objects(work.objects_dir, objects_dir, work.inspection.object_format)
    everything = tuple(dict.fromkeys((*tips, *shared)))
    try:
        with_shared = count_reachable(work, objects_dir, everything, shallow_file=shallow_file)
    except GitError as error:
        raise _unless_missing(error, f"unreachable objects of the lender {name} are not whole: {error}") from error
    if with_shared != there:
        lost = counted(with_shared - there, "object")
        aside = ", the HEADs of its linked work trees aside" if os.path.lexists(common_dir + b"/worktrees") else ""
        raise refused(
            f"{lost} of what both have nothing references in the lender {name}{aside}: its next gc may drop them"
        )
    check_lent_copies(work, objects_dir, shared)
    work.lent_ids += shared


def _unless_missing(error: GitdashError, sentence: str) -> GitdashError:
    return refused(sentence) if is_about_objects(error) else error
