"""Rules on how references are stored.

Sources: Gitaly `ShouldRepackReferences` (git since 2.47 has the same as whole numbers), git's reftable compaction, and
Gitaly's age for empty loose references. Where references point is not judged here, but that there is anything.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

from gitdash.assessment.case import Case
from gitdash.assessment.commands import file_command
from gitdash.assessment.figures import compared_ages, figure
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.sentences import listed
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import ObjectFormat
from gitdash.units import counted, human_age, human_bytes, human_count

LOOSE_REFERENCES = Rule(
    id="loose-references",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="many loose references",
    meaning="Each is a file to open whenever all references are read. More are allowed where packed-refs is large,"
    " because packing rewrites that file.",
    source="references; limit: max(16, ln(packed-refs bytes / 100) / ln(1.15)), Gitaly ShouldRepackReferences;"
    " a warning from policy loose_references_warning_count",
    remedy="`{git} pack-refs --all`",
    task="pack-refs",
    policy_keys=("loose_references_minimum", "loose_references_log_base", "loose_references_warning_count"),
)
REFTABLE_STACK = Rule(
    id="reftable-stack",
    severities=(Severity.NOTICE,),
    title="reftable stack wants compaction",
    meaning="Every look-up asks the tables one after the other; they should shrink by half from each to the next.",
    source="bytes of adjacent tables, less header and footer; factor 2, git's reftable compaction",
    remedy="`{git} pack-refs --auto`",
    task="pack-refs",
    policy_keys=("reftable_factor",),
)
REFTABLE_MISSING_TABLES = Rule(
    id="reftable-missing-tables",
    severities=(Severity.CRITICAL,),
    title="reftable names absent tables",
    meaning="git cannot read any reference while a table of the stack is missing.",
    source="names in reftable/tables.list without a file",
    remedy="restore the table from a backup; nothing else holds its references",
)
EMPTY_REFERENCES = Rule(
    id="empty-references",
    severities=(Severity.WARNING,),
    title="empty loose references",
    meaning="What a power loss leaves: a reference without content. git calls it broken, and gc and"
    " `rev-list --all` die.",
    source="zero-length files below refs, a day old or more; Gitaly stale data rules",
    remedy="find the value in `{git} reflog` or in the remote, remove the empty file, and set the reference again",
    policy_keys=("empty_reference_age_s",),
)
OBJECTS_GONE = Rule(
    id="objects-gone",
    severities=(Severity.CRITICAL,),
    title="references, and not one object",
    meaning="References name commits, and the object store is empty: a restore or a copy left the objects out, or they"
    " were deleted. Everything else about such a repository looks healthy.",
    source="references above 0, packs and loose objects 0, no alternates",
    remedy="bring the objects back from a backup or another clone; nothing here holds them",
)

_BYTES_PER_PACKED_REFERENCE = 100
"""Gitaly's rough size of a line of packed-refs."""
_REFTABLE_OVERHEAD_BYTES = {ObjectFormat.SHA1: 24 - 1 + 68, ObjectFormat.SHA256: 28 - 1 + 72}
"""Header less one byte, and footer, of versions 1 and 2: what git leaves out when it compares tables."""


def loose_references_limit(packed_bytes: int, minimum: int, log_base: float) -> int:
    """Return from how many loose references packing is due: floor(max(minimum, ln(packed / 100) / ln(base))).

    With 16 and 1.15:

        packed-refs   1 kB   10 kB   100 kB   1 MB   10 MB   100 MB
        limit           16      33       49     66      82       99
    """
    if packed_bytes < _BYTES_PER_PACKED_REFERENCE or log_base <= 1:
        return minimum
    return math.floor(max(minimum, math.log(packed_bytes / _BYTES_PER_PACKED_REFERENCE) / math.log(log_base)))


def broken_pair(table_bytes: Sequence[int], factor: int, object_format: ObjectFormat) -> tuple[int, int] | None:
    """Return the first adjacent pair of tables that breaks the geometric progression, so that git would compact.

    Factor 2 and SHA-1: 239, 165 is fine; 238, 165 is not.
    """
    overhead_bytes = _REFTABLE_OVERHEAD_BYTES[object_format]
    for older, newer in itertools.pairwise(table_bytes):
        if older - overhead_bytes < factor * (newer - overhead_bytes):
            return older, newer
    return None


def loose_references(case: Case) -> Iterator[Finding]:
    """Yield a finding if there are as many loose references as make packing due."""
    references, policy = case.references, case.policy
    if references is None or references.loose_count == 0:
        return
    limit_count = loose_references_limit(
        references.packed_bytes, policy.loose_references_minimum, policy.loose_references_log_base
    )
    if references.loose_count < limit_count:
        return
    is_slow = references.loose_count >= policy.loose_references_warning_count
    yield LOOSE_REFERENCES.finding(
        case,
        Severity.WARNING if is_slow else Severity.NOTICE,
        f"{counted(references.loose_count, 'loose reference')}; packing is due from {human_count(limit_count)}"
        f" with {human_bytes(references.packed_bytes)} of packed-refs",
        {
            "loose_count": references.loose_count,
            "limit_count": limit_count,
            "packed_bytes": references.packed_bytes,
        },
        formula=f"{references.loose_count:,} >= {_limit_formula(case, references.packed_bytes)}"
        + (f"; and >= {policy.loose_references_warning_count:,}" if is_slow else ""),
    )


def _limit_formula(case: Case, packed_bytes: int) -> str:
    minimum, log_base = case.policy.loose_references_minimum, case.policy.loose_references_log_base
    if packed_bytes < _BYTES_PER_PACKED_REFERENCE or log_base <= 1:
        return f"{minimum:,}, the minimum"
    limit_count = loose_references_limit(packed_bytes, minimum, log_base)
    argument = f"{packed_bytes:,} / {_BYTES_PER_PACKED_REFERENCE}"
    return f"floor(max({minimum:,}, ln({argument}) / ln({figure(log_base)}))) = {limit_count:,}"


def reftable_stack(case: Case) -> Iterator[Finding]:
    """Yield a finding if git would compact the stack of tables."""
    references = case.references
    if references is None or case.inspection is None:
        return
    factor, object_format = case.policy.reftable_factor, case.inspection.object_format
    pair = broken_pair(references.reftable_bytes, factor, object_format)
    if pair is None:
        return
    older, newer = pair
    overhead_bytes = _REFTABLE_OVERHEAD_BYTES[object_format]
    sizes = [human_bytes(size_bytes) for size_bytes in references.reftable_bytes]
    yield REFTABLE_STACK.finding(
        case,
        Severity.NOTICE,
        f"{counted(len(sizes), 'reftable')} of {listed(sizes, 4)} do not shrink by {factor}",
        {"table_count": len(sizes), "table_bytes": sum(references.reftable_bytes)},
        formula=f"{older:,} - {overhead_bytes} < {factor:,} x ({newer:,} - {overhead_bytes})"
        f" = {factor * (newer - overhead_bytes):,}",
    )


def reftable_missing_tables(case: Case) -> Iterator[Finding]:
    """Yield a finding if `tables.list` names tables that are not on disk."""
    references = case.references
    if references is not None and references.reftable_missing_count:
        yield REFTABLE_MISSING_TABLES.finding(
            case,
            Severity.CRITICAL,
            f"tables.list names {counted(references.reftable_missing_count, 'table')} without a file",
            {"missing_table_count": references.reftable_missing_count},
        )


def empty_references(case: Case) -> Iterator[Finding]:
    """Yield a finding if loose references have been empty for longer than a write could take."""
    references = case.references
    if references is None or not references.empty_loose_names or references.empty_loose_oldest_mtime_s is None:
        return
    age_s = case.age_s(references.empty_loose_oldest_mtime_s)
    if age_s < case.policy.empty_reference_age_s:
        return
    names, count = references.empty_loose_names, references.empty_loose_count
    remove = file_command("rm --", case.subject.repository.common_dir, names, more_count=count - len(names))
    yield EMPTY_REFERENCES.finding(
        case,
        Severity.WARNING,
        f"{counted(count, 'empty loose reference')}, the oldest for {human_age(age_s)}:"
        f" {listed(names, of_count=count)}",
        {"empty_count": count, "oldest_age_s": age_s},
        remedy=f"find the value in `{{git}} reflog` or in the remote, then {remove} and set the reference again",
        formula=compared_ages(age_s, ">=", case.policy.empty_reference_age_s, of="oldest"),
    )


def objects_gone(case: Case) -> Iterator[Finding]:
    """Yield a finding if there are references and no objects at all."""
    inspection, references, packs, loose = case.inspection, case.references, case.packs, case.loose
    if inspection is None or references is None or packs is None or loose is None or inspection.alternates is not None:
        return
    # empty files, which git does not list, were references as well
    reference_count = references.count or references.loose_count
    if reference_count and not packs.count and not loose.count:
        yield OBJECTS_GONE.finding(
            case,
            Severity.CRITICAL,
            f"{counted(reference_count, 'reference')} and no objects",
            {"reference_count": reference_count},
        )


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (OBJECTS_GONE, objects_gone),
    (REFTABLE_MISSING_TABLES, reftable_missing_tables),
    (EMPTY_REFERENCES, empty_references),
    (LOOSE_REFERENCES, loose_references),
    (REFTABLE_STACK, reftable_stack),
)
