"""Rules on packs and the multi-pack-index.

Sources: Gitaly `ShouldRepackObjects` for packs outside the multi-pack-index, git-config(1) `gc.autoPackLimit` for many
packs, gitformat-pack(5) for which files belong together. Bytes that only git can see (a flipped bit in a pack) are not
judged here.
"""

import math
from collections.abc import Iterator

from gitdash.assessment.case import Case
from gitdash.assessment.commands import file_command
from gitdash.assessment.figures import compared_ages, figure
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.sentences import listed
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import TEMPORARY_PACK_PREFIX, PackFile
from gitdash.model.repository import Unreadable
from gitdash.units import counted, human_bytes, human_count, sum_bytes

PACKS_OUTSIDE_MIDX = Rule(
    id="packs-outside-midx",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="packs outside the multi-pack-index",
    meaning="Every look-up of an object asks these packs one after the other. More are allowed where packs are large,"
    " because merging those costs more. A notice in a working clone, a warning in a repository that is served and from"
    " policy pack_limit.",
    source="packs; allowed: max(2, ln(pack MiB) / ln(1.8)), Gitaly ShouldRepackObjects",
    remedy="`{git} repack --geometric=2 -d -l --write-midx`",
    task="geometric-repack",
    policy_keys=("packs_outside_midx_minimum", "packs_outside_midx_log_base"),
)
MANY_PACKS = Rule(
    id="many-packs",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="many packs",
    meaning="The first look-up opens every index, and an object that is missing is looked for in all of them. A notice"
    " if a multi-pack-index covers them, for then only missing objects are slow.",
    source="packs without .keep; git gc.autoPackLimit 50; not where packs-outside-midx says it already",
    remedy="`{git} repack --geometric=2 -d -l --write-midx`",
    task="geometric-repack",
    policy_keys=("pack_limit",),
)
MIDX_NAMES_ABSENT_PACKS = Rule(
    id="midx-names-absent-packs",
    severities=(Severity.CRITICAL,),
    title="multi-pack-index names absent packs",
    meaning="git looks objects up in a pack that is gone; commands that need one of them die.",
    source="packs named in the multi-pack-index and not in objects/pack",
    remedy="remove the multi-pack-index and write it anew: git keeps such names when it only updates one;"
    " `{git} fsck --connectivity-only` shows whether objects are lost",
    task="multi-pack-index",
)
PACK_WITHOUT_INDEX = Rule(
    id="pack-without-index",
    severities=(Severity.CRITICAL,),
    title="pack without index",
    meaning="git does not see the objects of a .pack that has no .idx.",
    source="files; younger packs than policy lock_age_s (seconds) may be about to get theirs",
    remedy="`{git} index-pack <the .pack file>` makes the index of each again",
    task="index-pack",
    policy_keys=("lock_age_s",),
)
ORPHAN_INDEX = Rule(
    id="orphan-index",
    severities=(Severity.NOTICE,),
    title="index without pack",
    meaning="An .idx whose .pack is gone. git ignores it and says so in every look at its packs.",
    source="files; VFS for Git cleans the same",
    remedy="the .idx holds no object; it may be removed",
    task="orphan-indexes",
)

_COMMANDS_MAXIMUM_COUNT = 3
_MEBIBYTE = 1 << 20


def allowed_packs_outside(pack_bytes: int, minimum: int, log_base: float) -> int:
    """Return how many packs may be outside the multi-pack-index: floor(max(minimum, ln(MiB) / ln(base))).

    With 2 and 1.8:

        pack size   0-5 MiB   6-10 MiB   100 MiB   500 MiB   1 GiB   5 GiB   10 GiB   100 GiB
        allowed           2          3         7        10      11      14       15        19

    Whole MiB count. A base of 1 or less is no logarithm; then the minimum alone holds.
    """
    mebibytes = pack_bytes // _MEBIBYTE
    if mebibytes < 1 or log_base <= 1:
        return minimum
    return math.floor(max(minimum, math.log(mebibytes) / math.log(log_base)))


def packs_outside_midx(case: Case) -> Iterator[Finding]:
    """Yield a finding if more packs lie outside the multi-pack-index than their total size allows."""
    packs, outside_count, allowed_count = case.packs, _outside_count(case), _allowed_outside_count(case)
    if packs is None or outside_count <= allowed_count:
        return
    is_slow = case.is_served or min(outside_count, packs.count - packs.kept_count) > case.policy.pack_limit
    has_index = case.inspection is not None and case.inspection.multi_pack_index is not None
    yield PACKS_OUTSIDE_MIDX.finding(
        case,
        Severity.WARNING if is_slow else Severity.NOTICE,
        f"{counted(outside_count, 'pack')} {'outside the' if has_index else 'and no'} multi-pack-index,"
        f" {human_count(allowed_count)} allowed at {human_bytes(packs.bytes)}",
        {"outside_midx_count": outside_count, "allowed_count": allowed_count, "pack_bytes": packs.bytes},
        remedy=_index_only_remedy(case),
        formula=f"{outside_count:,} > {_allowed_formula(case, packs.bytes // _MEBIBYTE)}",
    )


def _outside_count(case: Case) -> int:
    """Return how many packs git looks through one after the other; 0 if that cannot be read."""
    packs = case.packs
    if packs is None or (case.inspection and isinstance(case.inspection.multi_pack_index, Unreadable)):
        return 0
    is_disabled = case.config is not None and case.config.multi_pack_index_disabled
    return packs.count if is_disabled else packs.outside_midx_count


def _allowed_outside_count(case: Case) -> int:
    policy = case.policy
    return allowed_packs_outside(
        case.packs.bytes if case.packs else 0, policy.packs_outside_midx_minimum, policy.packs_outside_midx_log_base
    )


def _allowed_formula(case: Case, mebibytes: int) -> str:
    minimum, log_base = case.policy.packs_outside_midx_minimum, case.policy.packs_outside_midx_log_base
    if mebibytes < 1 or log_base <= 1:
        return f"{minimum:,}, the minimum"
    allowed_count = _allowed_outside_count(case)
    return f"floor(max({minimum:,}, ln({mebibytes:,}) / ln({figure(log_base)}))) = {allowed_count:,}"


def _index_only_remedy(case: Case) -> str | None:
    """Return a remedy that writes an index and removes nothing, where a geometric repack would lose something.

    In a member `repack -d` drops loose copies of lent objects; in a partial clone git before 2.55 joins promisor packs
    with the others, and nothing tells any more which objects may be missing.
    """
    is_partial = case.config is not None and case.config.partial_clone
    has_promisor_packs = case.packs is not None and case.packs.promisor_count > 0
    is_unsafe = case.is_member or is_partial or has_promisor_packs
    return "`{git} multi-pack-index write`" if is_unsafe else None


def many_packs(case: Case) -> Iterator[Finding]:
    """Yield a finding if there are more packs without `.keep` than git's automatic gc would leave.

    Where too many are outside the multi-pack-index, that is the cause, and it has its finding already.
    """
    packs = case.packs
    if packs is None or _outside_count(case) > _allowed_outside_count(case):
        return
    free_count = packs.count - packs.kept_count
    if free_count <= case.policy.pack_limit:
        return
    is_covered = _outside_count(case) <= case.policy.pack_limit
    yield MANY_PACKS.finding(
        case,
        Severity.NOTICE if is_covered else Severity.WARNING,
        f"{counted(free_count, 'pack')} without .keep, more than {human_count(case.policy.pack_limit)}",
        {
            "pack_count": packs.count,
            "kept_count": packs.kept_count,
            "outside_midx_count": packs.outside_midx_count,
            "limit_count": case.policy.pack_limit,
        },
        remedy=_index_only_remedy(case),
        formula=f"{packs.count:,} - {packs.kept_count:,} kept = {free_count:,} > {case.policy.pack_limit:,} packs",
    )


def midx_names_absent_packs(case: Case) -> Iterator[Finding]:
    """Yield a finding if the multi-pack-index names packs that are not on disk."""
    index = case.multi_pack_index
    if index is None or index.missing_pack_count == 0:
        return
    yield MIDX_NAMES_ABSENT_PACKS.finding(
        case,
        Severity.CRITICAL,
        f"the multi-pack-index names {counted(index.missing_pack_count, 'pack')} that"
        f" {'is' if index.missing_pack_count == 1 else 'are'} not there, of {human_count(index.pack_count)}",
        {"missing_pack_count": index.missing_pack_count, "pack_count": index.pack_count},
        remedy=_new_index_remedy(case),
    )


def _new_index_remedy(case: Case) -> str | None:
    """Git keeps the absent names when it updates an index, and without any pack it writes none."""
    if case.packs is None:
        return None
    removal = file_command("rm -rf --", case.pack_folder, ["multi-pack-index", "multi-pack-index.d"])
    if not case.packs.count:
        return f"{removal}: no pack is left for it; bring the packs back from a backup or another clone"
    check = "then `{git} fsck --connectivity-only` shows whether objects are lost"
    return f"{removal} and `{{git}} multi-pack-index write` make it anew, {check}"


def pack_without_index(case: Case) -> Iterator[Finding]:
    """Yield a finding if packs that nobody is writing any more have no index."""
    packs = case.packs
    if packs is None:
        return
    settled = [
        pack
        for pack in packs.packs
        if not pack.has_index
        and not pack.name.startswith(TEMPORARY_PACK_PREFIX)
        and case.age_s(pack.mtime_s) >= case.policy.lock_age_s
    ]
    if not settled:
        return
    size_bytes = sum_bytes(pack.bytes for pack in settled)
    yield PACK_WITHOUT_INDEX.finding(
        case,
        Severity.CRITICAL,
        f"{counted(len(settled), 'pack')} of {human_bytes(size_bytes)} without an index:"
        f" {listed([pack.name for pack in settled])}",
        {"missing_index_count": len(settled), "pack_bytes": size_bytes},
        remedy="; ".join(_index_pack(case, pack) for pack in settled[:_COMMANDS_MAXIMUM_COUNT]),
        formula=compared_ages(
            min(case.age_s(pack.mtime_s) for pack in settled), ">=", case.policy.lock_age_s, of="youngest"
        ),
    )


def _index_pack(case: Case, pack: PackFile) -> str:
    return file_command("{git} index-pack", case.pack_folder, [f"{pack.name}.pack"])


def orphan_index(case: Case) -> Iterator[Finding]:
    """Yield a finding if there are index files without a pack."""
    names = case.packs.orphan_index_names if case.packs else ()
    if names:
        yield ORPHAN_INDEX.finding(
            case,
            Severity.NOTICE,
            f"{counted(len(names), 'index file')} without a pack: {listed(names)}",
            {"orphan_index_count": len(names)},
            remedy="an .idx holds no object: " + file_command("rm --", case.pack_folder, names),
        )


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (MIDX_NAMES_ABSENT_PACKS, midx_names_absent_packs),
    (PACK_WITHOUT_INDEX, pack_without_index),
    (PACKS_OUTSIDE_MIDX, packs_outside_midx),
    (MANY_PACKS, many_packs),
    (ORPHAN_INDEX, orphan_index),
)
