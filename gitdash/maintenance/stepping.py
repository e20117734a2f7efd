"""Runs the steps of one task, in order: readers closed and warmed around them, what damage calls for, and locks met.

What git says of a step decides whether the next begins, never whether anything changed. Sources:
git-multi-pack-index(1), VFS for Git's order of closing readers, replacing packs and warming readers. What the task is
and what came of it, `running` says.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitOutput
from gitdash.maintenance.action_facts import Neighbourhood
from gitdash.maintenance.acts import ACT_FUNCTIONS
from gitdash.maintenance.config_meanwhile import refuse_if_config_came
from gitdash.maintenance.keeping import is_dropping, keeping_objects
from gitdash.maintenance.lasting import PAUSE_S
from gitdash.maintenance.links_meanwhile import refuse_if_links_came
from gitdash.maintenance.outcomes import classify
from gitdash.maintenance.reclaiming import require_unneeded
from gitdash.maintenance.steps import FSCK
from gitdash.maintenance.verifying import verify
from gitdash.maintenance.work import Work, corrupt
from gitdash.model.ledger import Reason
from gitdash.model.plan import Step
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport
from gitdash.units import printable

_INDEX_WRITTEN: Final = ("multi-pack-index", "write")
_REMARK: Final = re.compile(r"error: [Oo]bject [0-9a-f]{4,64} (?:is an? \w+, )?not an? \w+")
"""Said of a reference that leads to no commit while pseudo-merges are made; it harms nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a task is run with, besides its repository."""

    look: Callable[[], RepositoryReport]
    """Reads the facts again."""
    others: Neighbourhood
    """What was seen of repositories that might need its objects."""
    look_around: Callable[[], Neighbourhood]
    """Looks for them again."""
    policy: Policy | None
    """From which age on a lock is stale; None for the default."""
    on_step: Callable[[str, int, int], None]
    """Is told what a step does, its number from 1 on, and how many there are."""
    close_readers: Callable[[], None]
    """Before packs are deleted or replaced."""
    warm_readers: Callable[[], None]
    """After that."""


def run_steps(work: Work, around: Surroundings, steps: tuple[Step, ...]) -> GitdashError | OSError | None:
    """Run the steps; return what stopped them."""
    try:
        for number, step in enumerate(steps, 1):
            around.on_step(step.does, number, len(steps))
            _run_with_recovery(work, around, step)
    except (GitdashError, OSError) as error:
        return error
    return None


def _run_with_recovery(work: Work, around: Surroundings, step: Step) -> None:
    try:
        _run_past_lock(work, around, step)
    except GitError as error:
        if error.kind is not GitFailure.FAILED or not step.recovery or _is_about_lock(error):
            raise
        work.notes.append(f"`{step.does}` failed ({error}): what it is about was removed and written anew")
        for repair in step.recovery:
            _run_step(work, around, repair)
        _run_step(work, around, step)


def _run_past_lock(work: Work, around: Surroundings, step: Step) -> None:
    """Run a step, and once more a moment later if git met a lock: that of a push is there for milliseconds."""
    try:
        _run_step(work, around, step)
    except GitError as error:
        if not _is_about_lock(error):
            raise
        work.cancel.wait(PAUSE_S)
        work.refuse_if_cancelled()
        _run_step(work, around, step)


def _is_about_lock(error: GitError) -> bool:
    return error.kind is GitFailure.FAILED and classify(error).reason is Reason.LOCK_HELD


def _run_step(work: Work, around: Surroundings, step: Step) -> None:
    # what is kept for a step is found by git, too
    refuse_if_config_came(work)
    if step.replaces_packs:
        around.close_readers()
    try:
        with keeping_objects(work, step):
            _do(work, around, step)
    finally:
        if step.replaces_packs:
            around.warm_readers()


def _do(work: Work, around: Surroundings, step: Step) -> None:
    work.refuse_if_lenders_changed()
    if is_dropping(step):
        # a check takes minutes, and a borrower may have come meanwhile
        require_unneeded(work, around.look_around())
    refuse_if_links_came(work)
    # to look for borrowers and links takes a while: this one comes last
    refuse_if_config_came(work)
    if step.act is not None:
        work.refuse_if_cancelled()
        ACT_FUNCTIONS[step.act](work)
    elif step.arguments == FSCK:
        verify(work)
    else:
        _require_no_error(step, work.git(step.arguments, config=step.config, stdin=step.stdin.encode()))


def _require_no_error(step: Step, output: GitOutput) -> None:
    """Stop where git left a damaged pack out of a multi-pack-index: it says so, and ends with 0."""
    if step.arguments[:2] != _INDEX_WRITTEN:
        return
    lines = output.stderr.splitlines()
    errors = [line for line in lines if line.startswith("error: ") and not _REMARK.fullmatch(line)]
    if errors:
        raise corrupt(f"a pack is damaged: {printable(errors[0].removeprefix('error: '))}")
