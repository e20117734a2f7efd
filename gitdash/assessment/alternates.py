"""Rules on borrowing: what can go wrong between a member and its lenders.

Sources: gitrepository-layout(5) objects/info/alternates, Gitaly on pools, git-config(1) `core.alternateRefsCommand`.
The lender's side is in `pools.py`.
"""

import math
from collections.abc import Iterator

import msgspec

from gitdash.assessment.case import Case
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.sentences import ago, listed, shell_word
from gitdash.model.config_facts import ConfigEffect
from gitdash.model.finding import Finding, Severity
from gitdash.model.repository import RepositoryKind
from gitdash.model.sizes import ExclusiveSizes
from gitdash.units import counted, human_bytes, printable_path

_DEDUPLICATE = (
    "the task deduplicate of gitdash, which first sees that the lender keeps those objects reachable and whole."
    " `{git} repack -a -d -l -k` drops the own copies of what the lender has in packs without a look at that"
)

_STORED_PER_COPY = 10
"""Second copies count from a tenth of what is stored."""
_PLAIN_REPACK = "`{git} repack --cruft --cruft-expiration=never -d` keeps one copy of each, and drops no object"
_LENDER_REPACK = "`{git} repack -a -d -k` keeps one copy of each, and drops no object"
MISSING_LENDER = Rule(
    id="missing-lender",
    severities=(Severity.CRITICAL,),
    title="lender missing",
    meaning="An object store that this repository borrows from cannot be used: its objects are lost here, and git only"
    " warns, so that sizes look larger and checks fail later.",
    source="entries of objects/info/alternates, followed to git's depth of 5",
    remedy="bring the lender back to that path, or write its new path into objects/info/alternates;"
    " do not repack before",
    concerns_lending=True,
)
NESTED_ALTERNATES = Rule(
    id="nested-alternates",
    severities=(Severity.NOTICE,),
    title="lender borrows, too",
    meaning="Objects come through a chain of lenders; git follows five, and each link is one more that can break.",
    source="depth of the chain, 1 is a direct lender; Gitaly allows no more",
    remedy="none is needed; where the chain is unwanted, make the middle lender complete by `git repack -a -d -k` in"
    " it, check it with `git fsck`, then take its alternates file away",
)
SEVERAL_ALTERNATES = Rule(
    id="several-alternates",
    severities=(Severity.NOTICE,),
    title="several lenders",
    meaning="git opens all of them for an object that it does not find, and at most one bitmap of all.",
    source="entries of objects/info/alternates; Gitaly takes more than one for a defect",
    remedy="none is needed; one pool that fetches from all lenders can replace them",
)
ALTERNATES_NEWER_THAN_REPACK = Rule(
    id="alternates-newer-than-repack",
    severities=(Severity.NOTICE,),
    title="joined a lender, not repacked since",
    meaning="What the lender has is still stored here as well: a repack would free it.",
    source="mtime of objects/info/alternates after the last full repack, seconds; Gitaly ShouldRepackObjects",
    remedy=_DEDUPLICATE,
    task="deduplicate",
    needs_all_objects=True,
)
DUPLICATE_OBJECTS = Rule(
    id="duplicate-objects",
    severities=(Severity.NOTICE,),
    title="objects stored twice",
    meaning="Stored here although a lender has them, too; or, in a repository without a lender, stored here twice, as"
    " after a repack that was stopped before it removed the old packs.",
    source="bytes of own copies, more than 1 MiB, without a lender also more than a tenth of what is stored; difference"
    " of the index files",
    remedy=_DEDUPLICATE,
    task="deduplicate",
    needs_all_objects=True,
    policy_keys=("duplicate_notice_bytes",),
    needs_sizes=("exclusive",),
)
ALTERNATE_REFERENCES_HIDDEN = Rule(
    id="alternate-references-hidden",
    severities=(Severity.NOTICE,),
    title="the lenders' references are hidden by the config",
    meaning="`--alternate-refs` then excludes nothing: sizes without the lender come out as sizes with it. Fetches"
    " become faster, which is why people set it.",
    source="git-config(1) core.alternateRefsCommand, core.alternateRefsPrefixes",
    remedy="none is needed: gitdash overrides it when it measures",
    is_fact=True,
)
LENDER_OUTSIDE_ROOTS = Rule(
    id="lender-outside-roots",
    severities=(Severity.NOTICE,),
    title="lender outside the roots",
    meaning="It borrows from a repository that was not scanned: nobody here sees whether that one drops objects.",
    source="alternates below no root",
    remedy="scan the lender, too: add its folder to the roots",
    concerns_lending=True,
)
SHARED_OBJECT_STORE = Rule(
    id="shared-object-store",
    severities=(Severity.NOTICE,),
    title="object store shared without alternates",
    meaning="Another repository's `objects` is the same directory, by a symlink or a second mount: a gc in either does"
    " not know the other's references and can drop what it needs.",
    source="device and inode of the object store; not for linked worktrees, which git knows of",
    remedy="`{git} config gc.pruneExpire never` in both, or give each its own objects",
    per_store=False,
    concerns_lending=True,
)


def missing_lender(case: Case) -> Iterator[Finding]:
    """Yield a finding if object stores that the repository borrows from cannot be used."""
    broken = (
        [lender for lender in case.alternates.alternates if lender.problem or not lender.exists]
        if (case.alternates)
        else []
    )
    if not broken:
        return
    reasons = [f"{printable_path(lender.path)} ({lender.problem or 'missing'})" for lender in broken]
    yield MISSING_LENDER.finding(
        case,
        Severity.CRITICAL,
        f"{counted(len(broken), 'lender')} cannot be used: {listed(reasons, 2)}",
        {"missing_count": len(broken), "path": printable_path(broken[0].path)},
    )


def nested_alternates(case: Case) -> Iterator[Finding]:
    """Yield a finding if a lender borrows."""
    depth = max((lender.depth for lender in case.alternates.alternates), default=0) if case.alternates else 0
    if depth > 1:
        yield NESTED_ALTERNATES.finding(
            case,
            Severity.NOTICE,
            f"borrows through a chain of {depth} lenders",
            {"depth_count": depth},
            formula=f"depth {depth:,} > 1",
            remedy="none is needed" if case.may_lack_objects else None,
        )


def several_alternates(case: Case) -> Iterator[Finding]:
    """Yield a finding if the repository's own alternates file names more than one lender."""
    direct_count = sum(lender.depth == 1 for lender in case.alternates.alternates) if case.alternates else 0
    if direct_count > 1:
        yield SEVERAL_ALTERNATES.finding(
            case,
            Severity.NOTICE,
            f"borrows from {counted(direct_count, 'lender')}",
            {"lender_count": direct_count},
            formula=f"{direct_count:,} > 1 lender",
        )


def alternates_newer_than_repack(case: Case) -> Iterator[Finding]:
    """Yield a finding if the alternates file is newer than the last repack, unless duplicates are known to be few."""
    if case.alternates is None or case.inspection is None or not case.alternates.alternates:
        return
    repacked_at_s = case.inspection.last_full_repack_s
    if repacked_at_s is None or case.alternates.mtime_s <= repacked_at_s:
        return
    sizes = case.subject.sizes.exclusive
    if isinstance(sizes, ExclusiveSizes) and sizes.duplicate_bytes <= case.policy.duplicate_notice_bytes:
        return
    joined_age_s, repack_age_s = case.age_s(case.alternates.mtime_s), case.age_s(repacked_at_s)
    yield ALTERNATES_NEWER_THAN_REPACK.finding(
        case,
        Severity.NOTICE,
        f"joined its lender {ago(joined_age_s)}, after its last full repack ({ago(repack_age_s)})",
        {"alternates_age_s": joined_age_s, "repack_age_s": repack_age_s},
        remedy=_deduplicate_remedy(case),
        formula=f"joined {math.ceil(case.alternates.mtime_s - repacked_at_s):,} s after the last full repack > 0 s",
    )


def _deduplicate_remedy(case: Case) -> str:
    """A repack leaves out what a lender has in packs, but not what it has loose."""
    loose = [lender.path for lender in case.subject.lenders if lender.loose_count]
    if not loose:
        return _DEDUPLICATE
    commands = [f"`git -C {shell_word(path.rpartition(b'/')[0])} repack --geometric=2 -d -l`" for path in loose]
    return f"first pack the loose objects of the lender by {' and '.join(commands)}, then {_DEDUPLICATE}"


def duplicate_objects(case: Case) -> Iterator[Finding]:
    """Yield a finding if a member stores much of what its lenders have, or any other much of its own twice."""
    sizes = case.subject.sizes.exclusive
    if not isinstance(sizes, ExclusiveSizes):
        return
    if not case.is_member:
        yield from _second_copies(case, sizes)
    elif sizes.duplicate_bytes > case.policy.duplicate_notice_bytes:
        yield DUPLICATE_OBJECTS.finding(
            case,
            Severity.NOTICE,
            f"{human_bytes(sizes.duplicate_bytes)} in {counted(sizes.duplicate_count, 'object')}"
            " are stored here although a lender has them",
            {"duplicate_bytes": sizes.duplicate_bytes, "duplicate_count": sizes.duplicate_count},
            remedy=_deduplicate_remedy(case),
            formula=f"{sizes.duplicate_bytes:,} > {case.policy.duplicate_notice_bytes:,} bytes",
        )


def _second_copies(case: Case, sizes: ExclusiveSizes) -> Iterator[Finding]:
    """A few second copies are ordinary: each pack of a fetch brings along what its deltas need."""
    stored_bytes = sizes.exclusive_bytes + sizes.redundant_bytes
    is_much = sizes.redundant_bytes * _STORED_PER_COPY > stored_bytes
    if not is_much or sizes.redundant_bytes <= case.policy.duplicate_notice_bytes:
        return
    finding = DUPLICATE_OBJECTS.finding(
        case,
        Severity.NOTICE,
        f"{human_bytes(sizes.redundant_bytes)} are second copies of {counted(sizes.redundant_count, 'object')}"
        " that are stored here already",
        {"redundant_bytes": sizes.redundant_bytes, "redundant_count": sizes.redundant_count},
        remedy=_LENDER_REPACK if case.is_lender else _PLAIN_REPACK,
        formula=f"{sizes.redundant_bytes:,} > {case.policy.duplicate_notice_bytes:,} bytes;"
        f" {sizes.redundant_bytes:,} x {_STORED_PER_COPY} > {stored_bytes:,}",
    )
    yield msgspec.structs.replace(finding, task="full-repack")


def alternate_references_hidden(case: Case) -> Iterator[Finding]:
    """Yield a finding if the config of a member hides its lenders' references."""
    concerns = case.concerns(ConfigEffect.HIDES_ALTERNATE_REFS) if case.is_member else ()
    if concerns:
        keys = [concern.key for concern in concerns]
        yield ALTERNATE_REFERENCES_HIDDEN.finding(
            case,
            Severity.NOTICE,
            f"the config hides the lenders' references by {listed(keys)}",
            {"key_count": len(keys), "keys": ", ".join(keys)},
        )


def lender_outside_roots(case: Case) -> Iterator[Finding]:
    """Yield a finding if lenders were not scanned."""
    outside = [printable_path(path) for path in case.subject.lenders_outside]
    if outside:
        yield LENDER_OUTSIDE_ROOTS.finding(
            case,
            Severity.NOTICE,
            f"{counted(len(outside), 'lender')} outside the roots: {listed(outside, 2)}",
            {"lender_count": len(outside)},
        )


def shared_object_store(case: Case) -> Iterator[Finding]:
    """Yield a finding if another row has the same object store and git does not know of it."""
    is_known_to_git = case.subject.repository.kind is RepositoryKind.LINKED_WORKTREE
    if case.inspection is not None and not case.subject.counts_store and not is_known_to_git:
        yield SHARED_OBJECT_STORE.finding(
            case, Severity.NOTICE, "another repository of this survey has the same object store", {}
        )


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (MISSING_LENDER, missing_lender),
    (DUPLICATE_OBJECTS, duplicate_objects),
    (ALTERNATES_NEWER_THAN_REPACK, alternates_newer_than_repack),
    (SEVERAL_ALTERNATES, several_alternates),
    (NESTED_ALTERNATES, nested_alternates),
    (ALTERNATE_REFERENCES_HIDDEN, alternate_references_hidden),
    (LENDER_OUTSIDE_ROOTS, lender_outside_roots),
    (SHARED_OBJECT_STORE, shared_object_store),
)
