"""Whether a member's fetch names what its lender has: a choice by rule, and the facts that it takes.

git names the lender's references to the server, so that what the lender has is not sent, and leaves them out of its
check of what came. With many references that costs more than most fetches; without, what the lender has is sent and
walked. So the references are left out unless the lender holds something of what is wanted and missing here, and that
lies far ahead. Measured: a packed reference costs 5 us, a loose one 14 us, an object that is received and walked 4 us,
and to count a commit 10 us; a commit comes with two or more other objects. So commits are counted up to a small part of
the references: to name those costs four times as much at least, or the counting is a seventh of it at most.
"""

import os
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.maintenance.fetching.refspecs import local_name
from gitdash.maintenance.fetching.session import FetchSession
from gitdash.maintenance.links import reference_count
from gitdash.model.fetch import RemotePlan
from gitdash.model.inspection import Inspection, ObjectFormat
from gitdash.units import counted

SUPPRESSING: Final = (("core.alternateRefsCommand", "exit 0 #"),)
"""A command that names none; git appends the lender's path, which the sign makes a comment."""

_ASKED_TIPS: Final = 500
"""One look-up of each in every pack of the lender."""
_REFERENCES_FOR_A_COMMIT: Final = 20
_HEADS: Final = "refs/heads/"
_LOOK_UP: Final = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
_PEELED: Final = "^{commit}"
"""To a commit, through any number of tags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternateRefsFacts:
    """What the choice depends on."""

    asked: str
    """`auto`, `suppress` or `use`."""
    has_lender: bool
    missing_count: int | None = None
    """Wanted tips that no reference here names; None if nobody asked, or the remote did not answer."""
    asked_count: int | None = None
    """Of how many of those the lender was asked; None is of all."""
    held_count: int = 0
    """How many of these it has."""
    lent_reference_count: int = 0
    """About how many references the lenders have."""
    behind_count: int | None = None
    """Commits between what is here and what of the lender's is wanted; None if they were not counted, or are many."""


def alternate_refs_choice(facts: AlternateRefsFacts) -> tuple[Literal["suppress", "use"], str]:
    """Return whether the lender's references are named, and why, one clause."""
    if facts.asked != "auto":
        return "use" if facts.asked == "use" else "suppress", "asked for"
    if not facts.has_lender:
        return "suppress", "it borrows from no other repository"
    if facts.missing_count is None:
        return "suppress", "what the remote has is not known"
    if not facts.missing_count:
        return "suppress", "nothing is wanted that is not here"
    asked = "" if facts.asked_count in {None, facts.missing_count} else f"the first {facts.asked_count:,} of "
    has = f"the lender has {facts.held_count or 'none'} of {asked}{counted(facts.missing_count, 'wanted tip')}"
    if not facts.held_count or facts.behind_count is None:
        return "use" if facts.held_count else "suppress", has
    commits, references = counted(facts.behind_count, "commit"), counted(facts.lent_reference_count, "reference")
    return "suppress", f"{has}, but to receive {commits} costs less than to name {references}"


def list_remote_arguments(remote: str, refspecs: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments that ask a remote for its references; for branches only where no other is fetched."""
    sources = [refspec.removeprefix("+").partition(":")[0] for refspec in refspecs if not refspec.startswith("^")]
    only = ("--heads",) if sources and all(source.startswith(_HEADS) for source in sources) else ()
    return ("ls-remote", "--quiet", "--refs", *only, "--upload-pack=git-upload-pack", remote)


def missing_tips(listed: str, refspecs: Sequence[str], present: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ids that a fetch would write and no reference here has.

    Args:
        listed: What `ls-remote` said.
        refspecs: What is fetched.
        present: Id by name of the references that are here.
    """
    wanted: dict[str, None] = {}
    here = set(present.values())
    for line in listed.split("\n"):
        object_id, _, name = line.partition("\t")
        if name and object_id not in here and local_name(name, refspecs) is not None:
            wanted[object_id] = None
    return tuple(wanted)


def read_references(listed: str) -> dict[str, str]:
    """Return id by name, of `for-each-ref` with the format `%(objectname) %(refname)`."""
    pairs = (line.partition(" ") for line in listed.split("\n"))
    return {name: object_id for object_id, _, name in pairs if name}


LIST_REFERENCES: Final = ("for-each-ref", "--format=%(objectname) %(refname)")


def held_by(
    session: FetchSession, objects_dir: bytes, object_format: ObjectFormat, tips: Sequence[str]
) -> Mapping[str, str]:
    """Return type by id of the tips that a lender has, asked in a shadow of it; none if it cannot be asked."""
    answer = _answer(session, objects_dir, object_format, _LOOK_UP, tips)
    pairs = (line.partition(" ") for line in answer.split("\n"))
    return {tip: kind for tip, _, kind in pairs if kind not in {"", "missing"}}


def _commits_of(
    session: FetchSession, objects_dir: bytes, object_format: ObjectFormat, held: Mapping[str, str]
) -> frozenset[str]:
    """Return the commits among some tips, and those that tags among them lead to."""
    commits = {tip for tip, kind in held.items() if kind == "commit"}
    tags = [tip + _PEELED for tip, kind in held.items() if kind == "tag"]
    if tags:
        lines = _answer(session, objects_dir, object_format, _LOOK_UP, tags).split("\n")
        commits.update(line.removesuffix(" commit") for line in lines if line.endswith(" commit"))
    return frozenset(commits)


def _answer(
    session: FetchSession,
    objects_dir: bytes,
    object_format: ObjectFormat,
    arguments: Sequence[str],
    lines: Iterable[str],
) -> str:
    """Return what a command says to some lines, of a store without its references; nothing if it cannot be asked."""
    question = "".join(f"{line}\n" for line in lines).encode()
    try:
        with shadow_git_dir(object_format=object_format, objects_dir=objects_dir) as shadow:
            output = session.run(arguments, environment=shadow.environment, stdin=question, for_fetch=False)
    except GitError as error:
        if error.kind in {GitFailure.CANCELLED, GitFailure.TIMED_OUT}:
            raise
        return ""
    return output.stdout.decode("ascii", "replace")


def commits_between(tips: Collection[str], present: Container[str], listed: str) -> int | None:
    """Return how many commits lead from what is present to some tips; None if the listed ones do not tell. Pure.

    Args:
        tips: Where to start.
        present: Where to stop.
        listed: What `rev-list --parents` said: a commit and its parents in each line.
    """
    parents = {commit: rest.split() for commit, _, rest in (line.partition(" ") for line in listed.split("\n"))}
    found: set[str] = set()
    waiting = list(tips)
    while waiting:
        commit = waiting.pop()
        if commit in found or commit in present:
            continue
        if commit not in parents:
            return None
        found.add(commit)
        waiting += parents[commit]
    return len(found)


def _listed_commits(
    session: FetchSession, objects_dir: bytes, object_format: ObjectFormat, tips: Iterable[str], maximum_count: int
) -> str:
    """Return the latest commits of some tips with their parents, from a store; empty if it cannot be asked.

    No limit is set by what is present: git would walk all that lies between before it says the first.
    """
    arguments = ("rev-list", "--parents", f"--max-count={maximum_count}", "--ignore-missing", "--stdin")
    return _answer(session, objects_dir, object_format, arguments, tips)


def read_alternate_refs_facts(
    session: FetchSession,
    remote: RemotePlan,
    objects_dir: bytes,
    inspection: Inspection,
    environment: Mapping[str, str],
) -> AlternateRefsFacts:
    """Ask the remote for its tips, and the lenders for those that are missing here, where the choice depends on it.

    What the remote says to that it would say to the fetch, too: there it is judged. Raises GitError if cancelled or out
    of time.
    """
    lenders = [lender.path for lender in inspection.alternate_stores if lender.exists and lender.depth == 1]
    facts = AlternateRefsFacts(asked=remote.alternate_refs, has_lender=bool(lenders))
    if not lenders or facts.asked != "auto":
        return facts
    try:
        listed = session.ask(list_remote_arguments(remote.name, remote.refspecs), environment)
        present = read_references(session.ask(LIST_REFERENCES, environment))
    except GitError as error:
        if error.kind in {GitFailure.CANCELLED, GitFailure.TIMED_OUT}:
            raise
        return facts
    missing = missing_tips(listed, remote.refspecs, present)
    held: dict[str, str] = {}
    asked = missing[:_ASKED_TIPS]
    for lender in lenders if asked else ():
        held |= held_by(session, lender, inspection.object_format, asked)
    facts = replace(facts, missing_count=len(missing), asked_count=len(asked), held_count=len(held))
    if not held:
        return facts
    lent_count = sum(reference_count(os.path.dirname(path)) for path in lenders)
    few = lent_count // _REFERENCES_FOR_A_COMMIT
    if not few:
        return facts
    commits = _commits_of(session, objects_dir, inspection.object_format, held)
    listed_commits = _listed_commits(session, objects_dir, inspection.object_format, commits, few)
    behind = commits_between(commits, frozenset(present.values()), listed_commits)
    return replace(facts, lent_reference_count=lent_count, behind_count=behind)
