"""What speaks against a fetch at the moment in which it would begin: somebody's word, the volume, symbolic links.

Minutes may lie between a plan and its turn, so this is read just before git is called. git locks, replaces, appends to
and removes what links lead to (`maintenance.links`), and so would reach another repository, or any file of the user's.
An object store that is a link as a whole is passed over: many tools make such, and a fetch adds objects alone.
"""

import os
from dataclasses import dataclass, field
from typing import Final

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.ownership import foreign_owner
from gitdash.gitcmd.shadow import temporary_folder
from gitdash.gitcmd.store_files import irregular_file, irregular_reference_file
from gitdash.inspection.config_includes import irregular_include
from gitdash.maintenance.facts import volume_of
from gitdash.maintenance.links import Links, find_links, irregular_reference
from gitdash.maintenance.pause import pause_marker
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository
from gitdash.units import human_bytes, printable_path

PREVIEW_FREE_BYTES: Final = 256 << 20
"""How much will come nobody says before it comes; a small memory disk for temporary files is not to be filled."""
_WRITTEN: Final = (b"refs", b"logs", b"reftable", b"packed-refs", b"shallow", b"objects/")
"""By a fetch, with all that lies below, and what stands beside: locks, and files that take another's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is read of a repository just before a fetch."""

    owner_uid: int | None = None
    """Of another user whom nobody vouches for; None if it is ours."""
    pause: str | None = None
    """Where the pause marker stands."""
    is_mounted_read_only: bool = False
    temporary_free_bytes: int | None = None
    """On the volume of the folder for temporary files, to which a preview downloads; None if nobody knows."""
    irregular: str | None = None
    """What git would open in the store of a lender, and might wait for. Printable."""
    links: Links = field(default_factory=Links)


def read_surroundings(report: RepositoryReport, *, names_lent: bool = True) -> Surroundings:
    """Read them now; the report says who lends, `names_lent` whether git may be told to list their references."""
    repository = report.repository
    return Surroundings(
        owner_uid=_owner_uid(repository),
        pause=pause_marker(repository.git_dir, repository.common_dir),
        is_mounted_read_only=volume_of(repository.common_dir + b"/objects")[0],
        temporary_free_bytes=_temporary_free_bytes(),
        irregular=_irregular_in_lenders(report, names_lent=names_lent),
        links=find_links(repository.common_dir),
    )


def _temporary_free_bytes() -> int | None:
    try:
        return volume_of(os.fsencode(temporary_folder()))[1]
    except GitError:
        # whoever needs the folder says so
        return None


def _irregular_in_lenders(report: RepositoryReport, *, names_lent: bool) -> str | None:
    for lender in report.alternate_stores:
        if not lender.exists:
            continue
        git_dir = os.path.dirname(lender.path)
        for folder, found in ((lender.path, irregular_file(lender.path)), (git_dir, irregular_reference_file(git_dir))):
            if found is not None:
                return f"{printable_path(folder + b'/' + found[0])} is {found[1]}"
        problem = _listing_problem(git_dir) if names_lent else None
        if problem is not None:
            return problem
    return None


def _listing_problem(git_dir: bytes) -> str | None:
    """Return what would hold up a git that lists the references of a lender with that one's own config."""
    if not os.path.lexists(git_dir + b"/HEAD"):
        # a store of objects alone: git does not look for references there
        return None
    reference = irregular_reference(git_dir)
    if reference is not None:
        return f"{printable_path(git_dir + b'/' + reference)} is not a regular file"
    problem = irregular_include(git_dir, git_dir)
    return None if problem is None else f"{printable_path(git_dir)}: {problem}"


def _owner_uid(repository: Repository) -> int | None:
    if repository.trusted_by_config:
        return None
    foreign = foreign_owner((repository.path, repository.git_dir, repository.common_dir), os.geteuid())
    return None if foreign is None else foreign[1]


def refusal_of(found: Surroundings, *, is_preview: bool) -> str | None:
    """Return why nothing is fetched, one clause; None if it may be. A preview writes nothing to the repository."""
    if found.owner_uid is not None:
        return f"user {found.owner_uid} owns it"
    if found.pause is not None:
        return f"paused by {found.pause}"
    irregular = found.irregular or next(map(printable_path, found.links.irregular), None)
    if irregular is not None:
        return f"git would open what is no file: {irregular}"
    if is_preview:
        return _preview_refusal(found.temporary_free_bytes)
    if found.is_mounted_read_only:
        return "its file system is mounted read-only"
    return _links_refusal(found.links)


def refusal_meanwhile(common_dir: bytes, *, is_preview: bool) -> str | None:
    """Return why nothing is fetched by what is at git's names now; None if it may be. To be asked right before git."""
    return refusal_of(Surroundings(links=find_links(common_dir)), is_preview=is_preview)


def link_met(common_dir: bytes) -> str | None:
    """Return a symbolic link through which a fetch writes, printable; None if there is none."""
    written = _written_link(find_links(common_dir))
    return None if written is None else printable_path(written)


def _preview_refusal(free_bytes: int | None) -> str | None:
    if free_bytes is None or free_bytes >= PREVIEW_FREE_BYTES:
        return None
    free = human_bytes(free_bytes)
    return f"a dry run downloads what would come to the folder for temporary files, where {free} are free"


def _links_refusal(links: Links) -> str | None:
    written = _written_link(links)
    if written is not None:
        return f"{printable_path(written)} is a symbolic link: git would write to what it leads to"
    return None if links.is_complete else "not all of its references and logs can be looked at for symbolic links"


def _written_link(links: Links) -> bytes | None:
    return next((path for path in links.paths if path.startswith(_WRITTEN)), None)
