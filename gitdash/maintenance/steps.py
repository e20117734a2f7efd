"""The steps that tasks are made of: git commands with what is pinned, and the acts of gitdash's own by name.

Pure. What an act does to files, other modules know.
"""

from typing import Final

from gitdash.maintenance.pins import PINNED_CONFIG
from gitdash.maintenance.shell_words import posix_word
from gitdash.model.plan import Step
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable

GIT: Final = "\0"
"""Stands in `Step.shell` for git with what each of its commands begins with: no path can have it in it."""

CHECK_COPIES: Final = "check-copies"
CHECK_LENDERS: Final = "check-lenders"
GIVE_UP_LENT_COPIES: Final = "give-up-lent-copies"
LEAVE_LENDERS: Final = "leave-lenders"
LINK_LENT_OBJECTS: Final = "link-lent-objects"
REMOVE_BITMAPS: Final = "remove-bitmaps"
REMOVE_COMMIT_GRAPH: Final = "remove-commit-graph"
REMOVE_MULTI_PACK_INDEX: Final = "remove-multi-pack-index"
REMOVE_ORPHAN_INDEXES: Final = "remove-orphan-indexes"
REMOVE_PACK_BITMAPS: Final = "remove-pack-bitmaps"
REMOVE_PACKED_LOOSE: Final = "remove-packed-loose"
SWEEP: Final = "sweep"
ACTS: Final = {
    CHECK_COPIES: "read every packed copy of what is here twice, for a damaged one must not outlive a good one",
    CHECK_LENDERS: "see that every lender is there, that everything reachable here is there with them, and that what"
    " they have of it is reachable and whole there",
    GIVE_UP_LENT_COPIES: "repack without what the lenders have, and keep what is unreachable; then remove the old"
    " packs, if each of their objects is in the new one or was seen in a lender",
    LEAVE_LENDERS: "set the alternates file aside as a backup, see that everything reachable is here, and put the file"
    " back if anything is not",
    LINK_LENT_OBJECTS: "make hard links here to all objects of all lenders, or copies across file systems",
    REMOVE_BITMAPS: "remove the bitmap files of this repository",
    REMOVE_COMMIT_GRAPH: "remove the commit-graph or its chain",
    REMOVE_MULTI_PACK_INDEX: "remove the multi-pack-index, its bitmap and its chain",
    REMOVE_ORPHAN_INDEXES: "remove index files whose pack is gone",
    REMOVE_PACK_BITMAPS: "remove the bitmap files of packs, for that of the multi-pack-index covers them",
    REMOVE_PACKED_LOOSE: "remove loose objects that an index of this repository's own packs lists",
    SWEEP: "remove temporary files, locks and transfer marks that are older than their age and open in no process",
}
"""Acts of gitdash's own, by name, and what each does."""


def git_step(
    does: str,
    *arguments: str,
    config: tuple[tuple[str, str], ...] = (),
    replaces_packs: bool = False,
    recovery: tuple[Step, ...] = (),
) -> Step:
    """Return the step of one git command; what is pinned comes first, so that `config` may add to it."""
    return Step(
        does=does,
        arguments=arguments,
        config=PINNED_CONFIG + config,
        replaces_packs=replaces_packs,
        recovery=recovery,
    )


def act_step(name: str, *, by_shell: str | None = None, replaces_packs: bool = False) -> Step:
    """Return the step of one act; `by_shell` is how a shell does it, with GIT in it, None if none should."""
    return Step(does=ACTS[name], act=name, shell=by_shell, replaces_packs=replaces_packs)


def in_shell(step: Step, git: str) -> str | None:
    """Return how a POSIX shell does an act, None if none should; `git` is what commands of git begin with there."""
    return None if step.shell is None else step.shell.replace(GIT, git)


def in_objects(report: RepositoryReport, below: bytes) -> bytes:
    """Return the absolute path of what lies below the object store."""
    return report.repository.common_dir + b"/objects/" + below


def removal(report: RepositoryReport, below: tuple[bytes, ...]) -> str:
    """Return the shell command that removes what lies there below the object store."""
    words = " ".join(posix_word(in_objects(report, name)) for name in below)
    return f"rm -rf -- {words}"


FSCK: Final = ("fsck", "--connectivity-only", "--no-dangling")
"""The check whose failure is damage, and no failure of git."""


def copies_check(report: RepositoryReport) -> Step:
    """Return the step that comes before copies are removed; a shell verifies all packs instead."""
    indexes = f"{posix_word(in_objects(report, b'pack'))}/*.idx"
    inspection = report.inspection
    object_format = "" if isinstance(inspection, Unreadable) else f" --object-format={inspection.object_format.value}"
    # outside the repository, whose multi-pack-index may be what is damaged, and would be read first
    verify = f"{GIT} --git-dir=/dev/null verify-pack{object_format}"
    # in a subshell, which ends at the first that fails: a loop would tell of the last one alone
    each = f'[ ! -e "${{index%.idx}}.pack" ] || {verify} -- "$index" || exit'
    by_shell = f"(for index in {indexes}; do {each}; done)"
    return act_step(CHECK_COPIES, by_shell=by_shell)


def verification() -> Step:
    """Return the step that follows everything reachable. Lenders are part of it; `--no-dangling` spares a long list."""
    return git_step(
        "see that everything reachable is there",
        *FSCK,
    )


def removes_own_copies(step: Step) -> bool:
    """Tell whether a step removes copies of what a lender has; `repack -d` ends with prune-packed."""
    if step.act is not None:
        return step.act == GIVE_UP_LENT_COPIES or (step.act == REMOVE_PACKED_LOOSE and step.shell is not None)
    command, *options = step.arguments or ("",)
    return command == "prune-packed" or (command == "repack" and "-d" in options)
