"""Refspecs: which of a repository's config are safe to fetch by, and which local reference a remote one becomes.

Source: git-fetch(1) "CONFIGURED REMOTE-TRACKING BRANCHES", git-fetch(1) `<refspec>`, git's refspec.c. Pure.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gitdash.inspection.references import is_valid_reference_name

MAXIMUM_REFSPECS: Final = 500
"""They stand on a command line; the largest honest configs have some dozens."""

_FORM: Final = re.compile(r"\+?(refs/[^:^+]*):(refs/[^:^+]*)|\^(refs/[^:^+]*)")
_LOCAL: Final = ("refs/heads/", "refs/stash", "refs/replace/", "refs/bisect/", "refs/worktree/", "refs/rewritten/")
"""What belongs to whoever works in a work tree: a fetch that writes it loses commits, or moves what is checked out."""
_TRACKING: Final = "refs/remotes/"


def refspec_problem(refspec: str, *, is_bare: bool) -> str | None:
    """Return why nothing is fetched by a refspec, one clause; None if it may be.

    A negative one, which begins with `^`, only leaves something out.
    """
    match = _FORM.fullmatch(refspec)
    if match is None:
        return "is not of the form refs/...:refs/..."
    source, destination, left_out = match.groups()
    names = [left_out] if left_out else [source, destination]
    if any(name.count("*") > 1 or not _is_name(name.replace("*", "x")) for name in names):
        return "names no references that git would accept"
    if not left_out and source.count("*") != destination.count("*"):
        return "has a * on one side only"
    if left_out or is_bare:
        return None
    written = destination.partition("*")[0] if "*" in destination else destination
    if any(_overlaps(written, local, is_pattern="*" in destination) for local in _LOCAL):
        return "writes local branches, or references that belong to a work tree"
    return None


def _is_name(name: str) -> bool:
    return is_valid_reference_name(name.encode("utf-8", "surrogateescape"))


def _overlaps(written: str, local: str, *, is_pattern: bool) -> bool:
    return written.startswith(local) or (is_pattern and local.startswith(written))


def is_mirror(refspecs: Iterable[str]) -> bool:
    """Tell whether a repository's own branches are written."""
    return any(
        _overlaps(_destination(refspec).partition("*")[0], "refs/heads/", is_pattern="*" in refspec)
        for refspec in refspecs
        if not refspec.startswith("^")
    )


def only_tracks(refspecs: Iterable[str]) -> bool:
    """Tell whether all that is written, and could be pruned, are remote-tracking references."""
    return all(_destination(refspec).startswith(_TRACKING) for refspec in refspecs if not refspec.startswith("^"))


def _destination(refspec: str) -> str:
    return refspec.partition(":")[2]


def local_name(remote_name: str, refspecs: Sequence[str]) -> str | None:
    """Return the local name of a remote's reference; None if it is not fetched."""
    if any(_maps(remote_name, refspec[1:], "x") for refspec in refspecs if refspec.startswith("^")):
        return None
    for refspec in refspecs:
        source, colon, destination = refspec.removeprefix("+").partition(":")
        name = _maps(remote_name, source, destination) if colon else None
        if name is not None:
            return name
    return None


def _maps(name: str, source: str, destination: str) -> str | None:
    before, star, after = source.partition("*")
    if not star:
        return destination if name == source else None
    if len(name) < len(before) + len(after) or not (name.startswith(before) and name.endswith(after)):
        return None
    return destination.replace("*", name[len(before) : len(name) - len(after)], 1)
