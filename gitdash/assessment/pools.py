"""Rules on lending: what could take an object from the repositories that borrow.

Sources: git-gc(1), git-maintenance(1), Gitaly on object pools. Who borrows is known only among what was scanned, so a
lender may always have more borrowers than are named here.
"""

from collections.abc import Iterator

from gitdash.assessment.case import Case
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.sentences import counted, listed
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import ConfigEffect, ConfigFacts
from gitdash.model.repository import StorageLayout

POOL_DROPS_OBJECTS = Rule(
    id="pool-drops-objects",
    severities=(Severity.WARNING, Severity.CRITICAL),
    title="a lender's config drops objects",
    meaning="The next gc here takes unreachable objects away at once, and borrowers that need one of them break. A"
    " warning if only a fetch drops references, whose objects a later gc takes.",
    source="keys of the lender's config; a lender must never prune",
    remedy="`{git} config gc.pruneExpire never`, and unset the other keys named",
)
POOL_AUTOMATIC_GC = Rule(
    id="pool-automatic-gc",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="a lender with automatic gc",
    meaning="git starts gc here by itself, and that drops unreachable objects after two weeks, whoever borrows them. A"
    " notice in a forge's pool, for the forge switches it off in each of its commands.",
    source="gc.auto not 0, maintenance.auto not false, gc.pruneExpire not never, no preciousObjects; git gc.pruneExpire"
    " 2 weeks",
    remedy="`{git} config gc.pruneExpire never` keeps every object, and `{git} config gc.auto 0` stops it altogether",
)


def pool_drops_objects(case: Case) -> Iterator[Finding]:
    """Yield a finding if a lender's config would drop objects that borrowers may need."""
    config = case.config
    if config is None or not case.is_lender:
        return
    concerns = case.concerns(ConfigEffect.DROPS_OBJECTS)
    by_gc = [concern for concern in concerns if concern.key.startswith("gc.")]
    if by_gc or (concerns and not _keeps_everything(config)):
        settings = [f"{concern.key}={concern.value}" for concern in by_gc or concerns]
        yield POOL_DROPS_OBJECTS.finding(
            case,
            Severity.CRITICAL if by_gc else Severity.WARNING,
            f"{_lends_to(case)} and its config drops objects: {listed(settings)}",
            {"borrower_count": len(case.subject.borrowers), "key_count": len(settings)},
        )


def pool_automatic_gc(case: Case) -> Iterator[Finding]:
    """Yield a finding if git may start a gc in a lender by itself."""
    config = case.config
    if config is None or not case.is_lender or not _may_gc_by_itself(config):
        return
    is_forge_pool = case.subject.repository.layout is StorageLayout.GITLAB_POOL
    yield POOL_AUTOMATIC_GC.finding(
        case,
        Severity.NOTICE if is_forge_pool else Severity.WARNING,
        f"{_lends_to(case)} and automatic gc is on: it drops unreachable objects after two weeks",
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
