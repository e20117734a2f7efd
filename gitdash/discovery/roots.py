"""Find the repositories below roots: the first step of every survey. Runs no git.

Source: gitrepository-layout(5), git-worktree(1), gitsubmodules(7). What is found and what is not searched:

- a folder whose `.git` is a git directory, or a file or link to one, is a work tree, and its other folders are
  searched for nested clones; a folder that is itself a git directory is bare and only its `modules` are searched;
- a git directory is one row, however many ways lead to it; worktrees are known by their `.git` file;
- symbolic links to folders are not followed, other file systems only if the limits say so; what looks like a
  repository and is none, and what cannot be searched, comes out with its reason;
- what clearly was a repository, and git would not take for one now, is a row with its problem: a `.git` file or folder
  that leads nowhere, a folder with two of HEAD, objects and refs.

Names are looked up by path: someone who swaps a folder for a link while we search can make us read elsewhere what
they could have shown us anyway. Does not read what a repository contains: that is inspection.
"""

import itertools
import os
import stat
import threading
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from gitdash.discovery.exclusion import Exclusion
from gitdash.discovery.git_directory import ReadFile, system_reason
from gitdash.discovery.search import Place, Search
from gitdash.errors import GitdashError
from gitdash.model.repository import NotRepository, Repository
from gitdash.units import printable_path


class RootError(GitdashError):
    """A root does not exist, or is not a folder."""

    def __init__(self, path: bytes, reason: str) -> None:
        super().__init__(f"cannot search '{printable_path(path)}': {reason}")
        self.path = path
        """As it was given."""
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryLimits:
    """What of the roots is not searched."""

    exclude: tuple[str, ...] = ()
    """Patterns of folders, see `exclusion`."""
    avoided: Container[bytes] = frozenset()
    """Absolute paths of folders that are not touched at all."""
    maximum_depth: int | None = None
    """Folders deeper below the root than this are not looked at; 0 is the root alone, None is no limit."""
    one_file_system: bool = True
    """Do not cross into other file systems; each that is met comes out with a reason."""
    is_thorough: bool = False
    """Look for repositories in git directories, too, and name links to folders, which are not followed."""


def discover(  # noqa: PLR0913 - the parts of a search, the last three with a default
    roots: Sequence[bytes],
    limits: DiscoveryLimits,
    *,
    read: ReadFile,
    effective_uid: int,
    trusted_roots: frozenset[bytes] = frozenset(),
    cancel: threading.Event | None = None,
    place: Place | None = None,
) -> Iterator[Repository | NotRepository]:
    """Check the roots, then return what lies below them, in the order of names, as it is found.

    `trusted_roots` are folders below which the user's config vouches for all owners. Once `cancel` is set, the iterator
    ends. A work tree's `.git` file or folder may be given as a root, too. `place` follows where the search is.
    Raises RootError at once.
    """
    place = place or Place()
    for root in roots:
        place.path = os.path.abspath(root)
        if place.path not in limits.avoided:
            check_root(root)
    search = Search(
        read=read,
        effective_uid=effective_uid,
        exclusion=Exclusion(limits.exclude),
        maximum_depth=limits.maximum_depth,
        one_file_system=limits.one_file_system,
        is_thorough=limits.is_thorough,
        cancel=cancel or threading.Event(),
        trusted_roots=trusted_roots,
        place=place,
        avoided=limits.avoided,
    )
    return itertools.chain.from_iterable(search.below(os.path.abspath(root)) for root in roots)


def check_root(root: bytes) -> None:
    """Raise RootError unless a root can be searched."""
    try:
        mode = os.stat(root).st_mode
    except FileNotFoundError:
        raise RootError(root, "no such file or folder") from None
    except (OSError, ValueError) as error:
        reason = system_reason(error) if isinstance(error, OSError) else "not a path"
        raise RootError(root, reason) from error
    if not stat.S_ISDIR(mode) and os.path.basename(os.path.abspath(root)) != b".git":
        raise RootError(root, "not a folder")
