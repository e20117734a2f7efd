"""Refusals because names in a repository lead elsewhere: what git writes or deletes there, another has.

Pure: `links`, `sharers` and `shared_files` have looked.
"""

from typing import Final

from gitdash.assessment.sentences import listed
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.refusal_rule import CHANGING, PACKING, JudgedRule, RefusalRule
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task

_OF_WHOLE_STORE: Final = frozenset({Task.RECLAIM, Task.UNLINK})
"""They drop, or leave a lender, by what the references of this repository alone need."""
_RELYING: Final = (PACKING - {Task.FULL_REPACK, Task.BITMAP, Task.DEDUPLICATE}) | {Task.UNLINK}
"""They remove a copy because another is here, and do not write that one anew."""


def symbolic_link(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse where git would lock, replace, delete or append to what lies elsewhere."""
    if facts.links:
        return f"git writes through symbolic links: {listed(facts.links)}; act on the repository that they lead to"
    return "not every name below refs and logs could be looked at" if facts.has_unseen_names else None


def linked_store(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse to decide for others that may have the same object store."""
    if facts.objects_is_link:
        return "its objects folder is a symbolic link: other repositories may have the same"
    return None if facts.store_elsewhere is None else f"others may need its objects: {facts.store_elsewhere}"


def shared_with_lender(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse where own copies and the lender's are the same file."""
    return facts.shared_with_lender


def linked_object(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse to rely on objects that are here as a link only."""
    if facts.linked_object is None:
        return None
    return f"{facts.linked_object} is a symbolic link: who owns what it leads to may remove it; full-repack copies it"


RULES: Final[tuple[JudgedRule, ...]] = (
    (
        RefusalRule(
            id="symbolic-link",
            tasks=CHANGING,
            meaning="git's locks, renames and deletions follow links: files of others, or references of another"
            " repository, would be overwritten or deleted",
            source="lockfile.c, refs/files-backend.c; packed-refs, refs, logs, objects/pack, objects/info and what lies"
            " there under a fixed name; tried with git 2.39 to 2.55",
        ),
        symbolic_link,
    ),
    (
        RefusalRule(
            id="linked-store",
            tasks=_OF_WHOLE_STORE,
            meaning="others may have the same objects or alternates, and need what this repository does not",
            source="`objects` as a symbolic link or a mount; device and inode of those of all known repositories and of"
            " neighbours; who cannot be looked at counts, and who lacks its objects unless `gitdash forget` gave it up",
        ),
        linked_store,
    ),
    (
        RefusalRule(
            id="shared-with-lender",
            tasks=CHANGING,
            meaning="the copy that goes and the lender's that stays are one file",
            source="device and inode of folders, packs and indexes: links, bind mounts, a file system mounted twice",
        ),
        shared_with_lender,
    ),
    (
        RefusalRule(
            id="linked-object",
            tasks=_RELYING,
            meaning="a good copy would go because another is here, which is another's",
            source="packs, indexes and loose objects that are symbolic links",
        ),
        linked_object,
    ),
)
"""What must not lead elsewhere."""
