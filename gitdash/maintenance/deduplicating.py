"""What must be shown of the lenders before a member may give up its own copies of what they have.

A lender does not know its borrowers. What nothing there references its next gc drops, so a copy here of such an object
may be the only one tomorrow (`reference` sequence: the pool fetched the member's commit, the member's gc removed its
own copy, the pool deleted the branch). So four things are shown, in this order: everything reachable in the member is
there; everything reachable in each lender is there; each object that both have is reachable in the lender; and is whole
there, which no walk sees of a blob.
"""

import os
import re
from typing import Final

from gitdash.assessment.sentences import shell_word
from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.maintenance.copies import check_lent_copies
from gitdash.maintenance.reachability import (
    count_reachable,
    reference_tips,
    shallow_file_of,
)
from gitdash.maintenance.verifying import is_about_objects, require_usable_lenders
from gitdash.maintenance.vouching import objection_to_lender
from gitdash.maintenance.work import Work, refused
from gitdash.units import counted, printable_path

_PLAIN_NAME: Final = re.compile(rb"[A-Za-z0-9_-]+")
"""What git takes as a part of a reference's name, whatever it is."""


def check_lenders(work: Work) -> None:
    """Show that own copies of what lenders have are not needed. Raises TaskStoppedError otherwise."""
    require_usable_lenders(work)
    for lender in work.lenders:
        _check_lender(work, lender.path)


def _check_lender(work: Work, objects_dir: bytes) -> None:
    from gitdash.maintenance.object_sets import shared_objects

    objection = objection_to_lender(objects_dir)
    if objection is not None:
        raise refused(objection)
    common_dir = os.path.dirname(objects_dir)
    name = printable_path(common_dir)
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
            f"no reference of the lender {name}{aside} reaches {lost} that are here as well, so its next gc may drop"
            f" them; nothing was removed. Let the lender keep references to them first, for instance by:"
            f" {_keeping_command(work, common_dir)}"
        )
    check_lent_copies(work, objects_dir, shared)
    work.lent_ids += shared


def _keeping_command(work: Work, common_dir: bytes) -> str:
    """Return the command that lets a lender keep what the references of this repository reach."""
    path = work.report.repository.path
    name = os.path.basename(path).removesuffix(b".git")
    below = name.decode() if _PLAIN_NAME.fullmatch(name) else "borrower"
    refspec = shell_word(f"+refs/*:refs/borrowers/{below}/*".encode())
    return f"git -C {shell_word(common_dir)} fetch {shell_word(path)} {refspec}"


def _unless_missing(error: GitdashError, sentence: str) -> GitdashError:
    return refused(sentence) if is_about_objects(error) else error
