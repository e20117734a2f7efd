"""Rules on what could not be read, and on whose it is.

Source: git-config(1) `safe.directory` for ownership. What is unreadable is said here once; every other rule is silent
about it.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from gitdash.assessment.case import Case
from gitdash.assessment.rule import Evidence, Judge, Rule
from gitdash.assessment.sentences import listed, shell_word
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import Inspection
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import SizeMeasurement
from gitdash.units import counted, human_bytes, printable_path

REPOSITORY_UNREADABLE = Rule(
    id="repository-unreadable",
    severities=(Severity.CRITICAL,),
    title="repository cannot be read",
    meaning="Nothing can be said of it: git, too, would take it for no repository, or its files cannot be read.",
    source="a `.git` file or folder that leads to no repository; a folder with two of HEAD, objects and refs in which"
    " the third is missing or one is damaged (without HEAD only if there is something else of git's: config,"
    " packed-refs, or pack, info or two hex digits in objects); inspection of its files",
    remedy="mend what the reason says, from a backup or another clone; if it never was a repository, exclude its folder"
    " by `scan.exclude`",
    per_store=False,
)
UNREADABLE_PARTS = Rule(
    id="unreadable-parts",
    severities=(Severity.WARNING,),
    title="parts cannot be read",
    meaning="Files that are damaged, of an unknown format, or not ours to read. What depends on them shows as `?`, and"
    " no rule draws a conclusion from it.",
    source="inspection of its files",
    remedy="`{git} fsck` says more about damaged files; derived ones (index, bitmap, commit-graph, multi-pack-index)"
    " can be written again",
    per_store=False,
)
FOREIGN_OWNER = Rule(
    id="foreign-owner",
    severities=(Severity.NOTICE,),
    title="another user owns it",
    meaning="git refuses to work in a repository of another user, whose config could run programs as you. gitdash reads"
    " its files and runs git only over its objects.",
    source="owner of work tree, .git entry and git directory; git-config(1) safe.directory",
    remedy="if you trust its owner: `git config --global --add safe.directory <path>`",
    per_store=False,
    for_anyone=True,
)
DISK_INCOMPLETE = Rule(
    id="disk-incomplete",
    severities=(Severity.NOTICE,),
    title="disk size is a lower bound",
    meaning="A folder below the git directory could not be searched, so that the sum is too small.",
    source="inspection of its files, bytes",
    remedy="make the folder readable",
    per_store=False,
)
SIZE_UNREADABLE = Rule(
    id="size-unreadable",
    severities=(Severity.NOTICE, Severity.WARNING, Severity.CRITICAL),
    title="a size cannot be told",
    meaning="git or gitdash cannot say what is stored or reachable here: objects are missing, or files are damaged. A"
    " notice if a newer git would answer, or git did not end in time; critical if no reference leads to an object.",
    source="an answer that is an error; a missing lender has a finding of its own",
    remedy="`{git} fsck` says more; an index can be made again with `{git} index-pack <the .pack file>`",
    per_store=False,
    needs_sizes=("exclusive", "reachable"),
)
MEASUREMENT_NOTES = Rule(
    id="measurement-notes",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="a size with a reservation",
    meaning="git or gitdash had something to say while a size was measured. A warning if it is a sign of damage:"
    " references that are broken or lead to missing objects, derived files that are damaged or contradict the objects.",
    source="what git wrote to its error output, and gitdash's checks of the number",
    remedy="`gitdash size --explain <repository>` tells more",
    for_anyone=True,
    needs_sizes=("reachable",),
)

_LIMITS = re.compile(r"needs git|did not end within|was cancelled")
"""What git or the time limit is the reason for, and not the repository."""
_LOSS = re.compile(r"no reference can be followed")
"""What is left when the objects are gone and the references are not."""

_PARTS = ("head", "packs", "loose", "multi_pack_index", "commit_graph", "references", "alternates", "config", "disk")
_WRITTEN_AGAIN = {
    "multi_pack_index": (
        "multi-pack-index",
        "it is made from the packs: remove objects/pack/multi-pack-index, then `{git} multi-pack-index write`",
    ),
    "commit_graph": (
        "commit-graph",
        "it is made from the commits: remove objects/info/commit-graph and objects/info/commit-graphs, then"
        " `{git} commit-graph write --reachable`",
    ),
}
"""Parts that are derived from others: the task that removes what cannot be read and writes it anew, and how by hand."""


def repository_unreadable(case: Case) -> Iterator[Finding]:
    """Yield a finding if nothing could be read."""
    inspection = case.subject.inspection
    if isinstance(inspection, Unreadable):
        yield REPOSITORY_UNREADABLE.finding(
            case, Severity.CRITICAL, f"cannot be read: {inspection.reason}", {"reason": inspection.reason}
        )


def unreadable_parts(case: Case) -> Iterator[Finding]:
    """Yield a finding for each part that a task writes again, and one for all others and for single files."""
    if case.inspection is None:
        return
    reasons = {name: f"{name.replace('_', '-')} ({reason})" for name, reason in _unreadable(case.inspection)}
    for name, (task, remedy) in _WRITTEN_AGAIN.items():
        if name in reasons:
            found = _unread(case, [reasons.pop(name)], remedy)
            yield msgspec.structs.replace(found, task=task)
    others = [*reasons.values(), *(f"{problem.path} ({problem.reason})" for problem in case.inspection.problems)]
    if others:
        more_count = sum(problem.file_count - 1 for problem in case.inspection.problems)
        yield _unread(case, others, count=len(others) + more_count)


def _unread(case: Case, reasons: Sequence[str], remedy: str | None = None, *, count: int = 1) -> Finding:
    return UNREADABLE_PARTS.finding(
        case,
        Severity.WARNING,
        f"{counted(count, 'part')} cannot be read: {listed(reasons, of_count=count)}",
        {"unreadable_count": count},
        remedy=remedy,
    )


def _unreadable(inspection: Inspection) -> Iterator[tuple[str, str]]:
    """Yield name and reason of each part that cannot be read."""
    for name in _PARTS:
        part = getattr(inspection, name)
        if isinstance(part, Unreadable):
            yield name, part.reason


def foreign_owner(case: Case) -> Iterator[Finding]:
    """Yield a finding with the exact `safe.directory` line if git's ownership check would refuse the repository."""
    repository = case.subject.repository
    owner_uid = repository.foreign_owner_uid
    if owner_uid is None or not repository.is_foreign:
        return
    owned = printable_path(repository.foreign_path or repository.path)
    yield FOREIGN_OWNER.finding(
        case,
        Severity.NOTICE,
        f"user {owner_uid} owns {owned}, so git refuses to work here",
        {"owner_uid": owner_uid},
        remedy=f"if you trust its owner: `git config --global --add safe.directory {shell_word(repository.path)}`",
    )


def disk_incomplete(case: Case) -> Iterator[Finding]:
    """Yield a finding if the size on disk is a lower bound."""
    disk = case.inspection.disk if case.inspection else None
    if isinstance(disk, DiskFacts) and disk.incomplete:
        yield DISK_INCOMPLETE.finding(
            case,
            Severity.NOTICE,
            f"some folder could not be searched: it occupies at least {human_bytes(disk.bytes)}"
            f" in {counted(disk.file_count, 'file')}",
            {"disk_bytes": disk.bytes, "file_count": disk.file_count},
        )


def size_unreadable(case: Case) -> Iterator[Finding]:
    """Yield a finding if a size could not be measured, unless a missing lender or an unreadable part says why."""
    if case.inspection is None or case.has_lost_lender:
        return
    sizes = case.subject.sizes
    said = {reason for _, reason in _unreadable(case.inspection)}
    reasons = [
        *dict.fromkeys(
            size.reason
            for size in (sizes.exclusive, sizes.reachable, sizes.reachable_own)
            if isinstance(size, Unreadable) and size.reason not in said
        )
    ]
    if reasons:
        yield SIZE_UNREADABLE.finding(
            case,
            _weight(reasons),
            f"sizes cannot be told: {'; '.join(reasons)}",
            {"reason_count": len(reasons)},
            remedy=_after_indexes(case),
        )


def _after_indexes(case: Case) -> str | None:
    """Return a remedy that leaves the indexes to the finding that asks for them; None where no pack lacks one."""
    if case.packs is None or all(pack.has_index for pack in case.packs.packs):
        return None
    return "first what `pack-without-index` asks for; if sizes still cannot be told, `{git} fsck` says more"


def _weight(reasons: Sequence[str]) -> Severity:
    if any(map(_LOSS.search, reasons)):
        return Severity.CRITICAL
    return Severity.NOTICE if all(map(_LIMITS.search, reasons)) else Severity.WARNING


def measurement_notes(case: Case) -> Iterator[Finding]:
    """Yield a finding if a measured size comes with a reservation."""
    sizes = (case.subject.sizes.reachable, case.subject.sizes.reachable_own)
    measured = [size for size in sizes if isinstance(size, SizeMeasurement)]
    warnings = dict.fromkeys(note for size in measured for note in size.warnings)
    notes = [*(warnings | dict.fromkeys(note for size in measured for note in size.notes))]
    if notes:
        severity = Severity.WARNING if warnings else Severity.NOTICE
        evidence: Evidence = {"note_count": len(notes), "damage_count": len(warnings)}
        yield MEASUREMENT_NOTES.finding(case, severity, _said(notes), evidence, remedy=_explain(case))


def _said(notes: Sequence[str], at_most: int = 2) -> str:
    """Notes are sentences with commas of their own."""
    rest_count = len(notes) - at_most
    more = f"; and {counted(rest_count, 'more note')}" if rest_count > 0 else ""
    return f"sizes: {'; '.join(notes[:at_most])}{more}"


def _explain(case: Case) -> str:
    return f"`gitdash size --explain {shell_word(case.subject.repository.path)}` tells more"


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (REPOSITORY_UNREADABLE, repository_unreadable),
    (UNREADABLE_PARTS, unreadable_parts),
    (FOREIGN_OWNER, foreign_owner),
    (DISK_INCOMPLETE, disk_incomplete),
    (SIZE_UNREADABLE, size_unreadable),
    (MEASUREMENT_NOTES, measurement_notes),
)
