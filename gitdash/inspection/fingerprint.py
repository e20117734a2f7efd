"""The files of a repository at one moment, and their fingerprint: whether it changed since it was inspected.

The fingerprint covers names, times, modes and sizes of everything below the git directory and the common directory,
the times of the shards (not what is in them: adding or removing an object changes the shard's time), the identity of
the object store, and which alternates there are and whether they exist. It does not cover included config files, nor
ages: `Inspection.valid_until_s` says when those may differ. How it is taken again at less cost: `watch`.
"""

from dataclasses import dataclass

from gitdash.inspection.alternates import inspect_alternates
from gitdash.inspection.files import FileError
from gitdash.inspection.listing import Listing, list_git_directory
from gitdash.inspection.reading import Problems
from gitdash.inspection.watch import combined_fingerprint
from gitdash.model.inspection import AlternatesFacts
from gitdash.model.repository import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files of one repository at one moment."""

    common: Listing
    """Of the common directory: objects, references, config."""
    own: Listing
    """Of the git directory: HEAD, index, locks. The same as `common` except in a linked worktree."""
    alternates: AlternatesFacts | Unreadable | None
    problems: Problems
    fingerprint: bytes
    watched: bytes
    """What `watch` needs to take the fingerprint again; empty if only another snapshot can."""


def take_snapshot(
    git_dir: bytes, common_dir: bytes, *, common_prefix: bytes | None = None, objects_prefix: bytes | None = None
) -> Snapshot:
    """List a repository and take its fingerprint.

    Raises FileError if one of the two directories cannot be listed.

    Args:
        git_dir: Absolute.
        common_dir: Absolute.
        common_prefix: A shorter path of the common directory, with a slash at the end.
        objects_prefix: A shorter path of its `objects`, empty if that is the current folder.
    """
    for path in (git_dir, common_dir):
        if not path.startswith(b"/") or not path.strip(b"/"):
            # an empty path would else be the root of the file system, and the walk take in the whole machine
            raise FileError(path, "not the absolute path of a git directory")
    common = list_git_directory(common_dir + b"/" if common_prefix is None else common_prefix, objects_prefix)
    own = common if git_dir == common_dir else list_git_directory(git_dir + b"/")
    problems = Problems()
    alternates = None
    if b"alternates" in common.folders.get(b"objects/info", {b"alternates": None}):
        # where the folder could not be listed, there may be some
        alternates = inspect_alternates(common_dir + b"/objects", problems)
    return Snapshot(
        common=common,
        own=own,
        alternates=alternates,
        problems=problems,
        fingerprint=combined_fingerprint(
            common.fingerprint,
            _alternates_text(alternates),
            common.top().get(b"objects"),
            own_digest=b"" if own is common else own.fingerprint,
        ),
        watched=common.watched if own is common else b"",
    )


def alternates_text(common_dir: bytes) -> bytes:
    """Return what of the lenders the fingerprint covers."""
    return _alternates_text(inspect_alternates(common_dir + b"/objects", Problems()))


def _alternates_text(alternates: AlternatesFacts | Unreadable | None) -> bytes:
    """Return what of the lenders matters here: which they are and whether they can be used."""
    if not isinstance(alternates, AlternatesFacts):
        return b""
    lenders = [
        b"%b %d %d %d" % (alternate.path, alternate.problem is None, alternate.device or 0, alternate.inode or 0)
        for alternate in alternates.alternates
    ]
    return b"\0".join((*lenders, alternates.incomplete.encode()) if alternates.incomplete else lenders)


def fingerprint(git_dir: bytes, common_dir: bytes) -> bytes:
    """Return the fingerprint; equal means unchanged. Raises FileError if the directory cannot be listed."""
    return take_snapshot(git_dir, common_dir).fingerprint
