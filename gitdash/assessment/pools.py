"""Rules on lending: what could take an object from the repositories that borrow.

Sources: git-gc(1), git-maintenance(1), Gitaly on object pools. Who borrows is known only among what was ever
scanned, so a lender may always have more borrowers than are named here.
"""

from collections.abc import Iterator, Sequence

from gitdash.assessment.case import Case
from gitdash.assessment.commands import unset_command
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.sentences import listed
from gitdash.model.config_facts import ConfigConcern, ConfigEffect, ConfigFacts
from gitdash.model.finding import Finding, Severity
from gitdash.model.repository import StorageLayout
from gitdash.units import counted

POOL_DROPS_OBJECTS = Rule(
    id="pool-drops-objects",
    severities=(Severity.WARNING, Severity.CRITICAL),
    title="a lender's config drops objects",
    meaning="A gc here takes unreachable objects away as these keys say, and borrowers that need one of them break. A"
    " warning if only a fetch drops references, whose objects a later gc takes.",
    source="keys of the lender's config; a lender must never prune",
    remedy="`{git} config --replace-all gc.pruneExpire never` keeps every object",
    concerns_lending=True,
)
POOL_AUTOMATIC_GC = Rule(
    id="pool-automatic-gc",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="a lender with automatic gc",
    meaning="git starts gc here by itself, and that drops unreachable objects after two weeks, whoever borrows them. A"
    " notice in a forge's pool, for the forge switches it off in each of its commands.",
    source="gc.auto not 0, maintenance.auto not false, gc.pruneExpire not never, no preciousObjects; git gc.pruneExpire"
    " 2 weeks; not where pool-drops-objects says it already",
    remedy="`{git} config --replace-all gc.pruneExpire never` keeps every object;"
    " `{git} config --replace-all gc.auto 0` stops it altogether",
    concerns_lending=True,
)


_PRUNE_EXPIRE = "gc.pruneexpire"


def pool_drops_objects(case: Case) -> Iterator[Finding]:
    """Yield a finding if a lender's config would drop objects that borrowers may need."""
    config, concerns = case.config, _what_drops(case)
    if config is None or not concerns:
        return
    by_gc = concerns[0].key.startswith("gc.")
    settings = [f"{concern.key}={concern.value}" for concern in concerns]
    starts = "; automatic gc is on" if _may_gc_by_itself(config) else ""
    yield POOL_DROPS_OBJECTS.finding(
        case,
        Severity.CRITICAL if by_gc else Severity.WARNING,
        f"{_lends_to(case)} and its config drops objects: {listed(settings)}{starts}",
        {"borrower_count": len(case.subject.borrowers), "key_count": len(settings)},
        remedy=_keep_everything_remedy(case, concerns) if by_gc else None,
    )


def _what_drops(case: Case) -> list[ConfigConcern]:
    """Return the keys by which a gc drops objects of a lender, else those by which a fetch drops references."""
    if case.config is None or not case.is_lender:
        return []
    concerns = case.concerns(ConfigEffect.DROPS_OBJECTS)
    by_gc = [concern for concern in concerns if concern.key.startswith("gc.")]
    return by_gc or ([] if _keeps_everything(case.config) else [*concerns])


def _keep_everything_remedy(case: Case, concerns: Sequence[ConfigConcern]) -> str:
    others = [concern for concern in concerns if concern.key != _PRUNE_EXPIRE]
    unset = f"; {unset_command(others, case.subject.repository)} brings git's own rule back" if others else ""
    return POOL_DROPS_OBJECTS.remedy + unset


def pool_automatic_gc(case: Case) -> Iterator[Finding]:
    """Yield a finding if git may start a gc in a lender by itself, unless what that drops is a finding already."""
    config = case.config
    if config is None or not case.is_lender or not _may_gc_by_itself(config) or _what_drops(case):
        return
    is_forge_pool = case.subject.repository.layout is StorageLayout.GITLAB_POOL
    after = "after two weeks" if config.gc_prune_expire is None else f"by gc.pruneExpire {config.gc_prune_expire}"
    yield POOL_AUTOMATIC_GC.finding(
        case,
        Severity.NOTICE if is_forge_pool else Severity.WARNING,
        f"{_lends_to(case)} and automatic gc is on: it drops unreachable objects {after}",
        {"borrower_count": len(case.subject.borrowers)},
    )


def _lends_to(case: Case) -> str:
    borrower_count = len(case.subject.borrowers)
    return f"lends to {counted(borrower_count, 'repository', 'repositories')}" if borrower_count else "is a pool"


def _may_gc_by_itself(config: ConfigFacts) -> bool:
    is_off = config.gc_auto is not None and config.gc_auto <= 0
    return not is_off and config.maintenance_auto is not False and not _keeps_everything(config)


def _keeps_everything(config: ConfigFacts) -> bool:
    return config.precious_objects or config.gc_prune_expire == "never"


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (POOL_DROPS_OBJECTS, pool_drops_objects),
    (POOL_AUTOMATIC_GC, pool_automatic_gc),
)
