"""Whether a member's fetch names what its lender has: a choice by rule, and the facts that it takes.

git names the lender's references to the server, so that what the lender has is not sent, and leaves them out of its
check of what came. With many references that costs more than most fetches; without, what the lender has is sent and
walked. So the references are left out unless the lender holds something of what is wanted and missing here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.maintenance.fetching.refspecs import local_name
from gitdash.maintenance.fetching.session import FetchSession
from gitdash.model.fetch import RemotePlan
from gitdash.model.inspection import AlternatesFacts, Inspection, ObjectFormat
from gitdash.units import counted

SUPPRESSING: Final = (("core.alternateRefsCommand", "exit 0 #"),)
"""A command that names none; git appends the lender's path, which the sign makes a comment."""

_ASKED_TIPS: Final = 500
"""One look-up of each in every pack of the lender."""
_HEADS: Final = "refs/heads/"
_LOOK_UP: Final = ("cat-file", "--batch-check=%(objectname)")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternateRefsFacts:
    """What the choice depends on."""

    asked: str
    """`auto`, `suppress` or `use`."""
    has_lender: bool
    missing_count: int | None = None
    """Wanted tips that no reference here names; None if nobody asked, or the remote did not answer."""
    held_count: int = 0
    """How many of those the lender has."""


def alternate_refs_choice(facts: AlternateRefsFacts) -> tuple[Literal["suppress", "use"], str]:
    """Return whether the lender's references are named, and why, one clause."""
    if facts.asked != "auto":
        return "use" if facts.asked == "use" else "suppress", "asked for"
    if not facts.has_lender:
        return "suppress", "it borrows from nobody"
    if facts.missing_count is None:
        return "suppress", "what the remote has is not known"
    if not facts.missing_count:
        return "suppress", "nothing is wanted that is not here"
    if facts.held_count:
        return "use", f"the lender has {facts.held_count} of {counted(facts.missing_count, 'wanted tip')}"
    return "suppress", f"the lender has none of {counted(facts.missing_count, 'wanted tip')}"


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
) -> frozenset[str]:
    """Return which of the first 500 tips a lender has, asked in a shadow of it; none if it cannot be asked."""
    asked = tips[:_ASKED_TIPS]
    question = "".join(f"{tip}\n" for tip in asked).encode()
    try:
        with shadow_git_dir(object_format=object_format, objects_dir=objects_dir) as shadow:
            output = session.run(_LOOK_UP, environment=shadow.environment, stdin=question, for_fetch=False)
    except GitError as error:
        if error.kind in {GitFailure.CANCELLED, GitFailure.TIMED_OUT}:
            raise
        return frozenset()
    return frozenset(asked) & frozenset(output.stdout.decode("ascii", "replace").split("\n"))


def read_alternate_refs_facts(
    session: FetchSession, remote: RemotePlan, inspection: Inspection, environment: Mapping[str, str]
) -> AlternateRefsFacts:
    """Ask the remote for its tips, and the lenders for those that are missing here, where the choice depends on it.

    What the remote says to that it would say to the fetch, too: there it is judged. Raises GitError if cancelled or out
    of time.
    """
    alternates = inspection.alternates.alternates if isinstance(inspection.alternates, AlternatesFacts) else ()
    lenders = [alternate.path for alternate in alternates if alternate.exists and alternate.depth == 1]
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
    held: set[str] = set()
    for objects_dir in lenders if missing else ():
        held |= held_by(session, objects_dir, inspection.object_format, missing)
    return replace(facts, missing_count=len(missing), held_count=len(held))
