"""Rules on loose objects.

Sources: Gitaly `LooseObjectLimit` and `ShouldPruneObjects`, git-config(1) `gc.auto` with the estimate that git makes of
it. Which loose objects are unreachable only git can say, and no remedy here drops any.
"""

from collections.abc import Iterator

from gitdash.assessment.case import Case
from gitdash.assessment.figures import figure
from gitdash.assessment.rule import Judge, Rule, with_member_caution
from gitdash.model.finding import Finding, Severity
from gitdash.units import counted, human_bytes, human_count, human_duration

LOOSE_OBJECTS = Rule(
    id="loose-objects",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="many loose objects",
    meaning="Each is a file of its own: slow to look up, to back up and to transfer, and without deltas. A warning in a"
    " repository that is served, and in a working clone where git itself would have packed them.",
    source="objects; Gitaly LooseObjectLimit 1,024; git gc.auto 6,700 by its estimate (files in objects/17 x 256)",
    remedy="`{git} repack -d -l` packs the reachable ones, `{git} repack --geometric=2 -d -l` all.",
    task="loose-objects",
    needs_all_objects=True,
    policy_keys=("loose_limit",),
)
STALE_LOOSE_OBJECTS = Rule(
    id="stale-loose-objects",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="many old loose objects",
    meaning="Loose objects that no repack has taken for ten days are mostly unreachable: what rewritten branches and"
    " stopped pushes leave.",
    source="objects older than 10 days, more than 1,024; Gitaly StaleObjectsGracePeriod and ShouldPruneObjects",
    remedy="`{git} repack -d -l --cruft --cruft-expiration=never` packs them and drops none."
    " Dropping them is a decision of its own: a repository that borrows from this one may need them.",
    task="loose-objects",
    needs_all_objects=True,
    policy_keys=("loose_stale_limit", "loose_stale_age_s"),
)

GIT_AUTOMATIC_LIMIT = 6_700
"""git `gc.auto`: more loose objects than this let git pack them by itself."""
_SHARD_COUNT = 256


def loose_estimate(shard_17_count: int) -> int:
    """Return git's estimate of the number of loose objects: the files in `objects/17` times 256."""
    return shard_17_count * _SHARD_COUNT


def estimate_limit(automatic_limit: int) -> int:
    """Return what git compares its estimate with: the limit rounded up to a multiple of 256.

    gc.auto 6,700 -> 6,912: 28 files in `objects/17` exceed it, 27 do not. A limit of 100 -> 256: two files do.
    """
    return -(-automatic_limit // _SHARD_COUNT) * _SHARD_COUNT


def git_would_pack(shard_17_count: int, gc_auto: int | None) -> bool:
    """Return whether git's automatic gc would pack loose objects; never with `gc.auto` 0 or less, None is 6,700."""
    automatic_limit = GIT_AUTOMATIC_LIMIT if gc_auto is None else gc_auto
    return automatic_limit > 0 and loose_estimate(shard_17_count) > estimate_limit(automatic_limit)


def _estimate_formula(shard_17_count: int, gc_auto: int | None) -> str:
    limit_count = estimate_limit(GIT_AUTOMATIC_LIMIT if gc_auto is None else gc_auto)
    return f"{shard_17_count:,} x {_SHARD_COUNT} = {loose_estimate(shard_17_count):,} > {limit_count:,}"


def loose_objects(case: Case) -> Iterator[Finding]:
    """Yield a finding if there are more loose objects than the policy allows."""
    loose = case.loose
    if loose is None or loose.count <= case.policy.loose_limit:
        return
    gc_auto = case.config.gc_auto if case.config else None
    is_overdue = git_would_pack(loose.shard_17_count, gc_auto)
    yield LOOSE_OBJECTS.finding(
        case,
        Severity.WARNING if case.is_served or is_overdue else Severity.NOTICE,
        f"{counted(loose.count, 'loose object')} of {human_bytes(loose.bytes)},"
        f" more than {human_count(case.policy.loose_limit)}",
        {
            "loose_count": loose.count,
            "loose_bytes": loose.bytes,
            "limit_count": case.policy.loose_limit,
            "estimated_count": loose_estimate(loose.shard_17_count),
        },
        remedy=with_member_caution(LOOSE_OBJECTS, case),
        formula=f"{loose.count:,} > {case.policy.loose_limit:,} objects"
        + (f"; git's estimate {_estimate_formula(loose.shard_17_count, gc_auto)}" if is_overdue else ""),
    )


def stale_loose_objects(case: Case) -> Iterator[Finding]:
    """Yield a finding if there are more stale loose objects than the policy allows."""
    loose = case.loose
    if loose is None or loose.stale_count <= case.policy.loose_stale_limit:
        return
    yield STALE_LOOSE_OBJECTS.finding(
        case,
        Severity.WARNING if case.is_served else Severity.NOTICE,
        f"{counted(loose.stale_count, 'loose object')} of {human_bytes(loose.stale_bytes)} older than"
        f" {human_age_limit(case.policy.loose_stale_age_s)}, more than {human_count(case.policy.loose_stale_limit)}",
        {
            "stale_count": loose.stale_count,
            "stale_bytes": loose.stale_bytes,
            "limit_count": case.policy.loose_stale_limit,
            "grace_s": case.policy.loose_stale_age_s,
        },
        remedy=with_member_caution(STALE_LOOSE_OBJECTS, case),
        formula=f"{loose.stale_count:,} > {case.policy.loose_stale_limit:,} objects older than"
        f" {figure(case.policy.loose_stale_age_s)} s",
    )


def human_age_limit(age_s: float) -> str:
    """Return a limit on an age: whole days as `10 days`, else a duration."""
    days, rest_s = divmod(age_s, 86_400)
    return counted(int(days), "day") if days >= 1 and rest_s == 0 else human_duration(age_s)


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (LOOSE_OBJECTS, loose_objects),
    (STALE_LOOSE_OBJECTS, stale_loose_objects),
)
