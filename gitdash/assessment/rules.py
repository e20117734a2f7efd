"""All rules, and the two questions that the rest of gitdash asks: what is wrong, and how is it in one word?

The rules stand in modules by noun; this is the one list of them.
"""

from collections.abc import Sequence
from typing import Final

from gitdash.assessment import (
    access,
    alternates,
    bitmaps,
    commit_graph,
    configuration,
    leftovers,
    locks,
    loose,
    packs,
    pools,
    references,
    repository_format,
)
from gitdash.assessment.case import Case
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.subject import Subject
from gitdash.model.finding import Finding
from gitdash.model.inspection import Inspection
from gitdash.model.policy import Policy
from gitdash.model.report import State
from gitdash.model.repository import Repository, RepositoryKind, Unreadable

JUDGES: Final[tuple[tuple[Rule, Judge], ...]] = (
    *access.JUDGES,
    *alternates.JUDGES,
    *pools.JUDGES,
    *packs.JUDGES,
    *loose.JUDGES,
    *bitmaps.JUDGES,
    *commit_graph.JUDGES,
    *references.JUDGES,
    *locks.JUDGES,
    *leftovers.JUDGES,
    *configuration.JUDGES,
    *repository_format.JUDGES,
)
"""Each rule with its function; where severities are equal, findings stand in this order."""

RULES: Final[tuple[Rule, ...]] = tuple(rule for rule, _ in JUDGES)

LENDING_RULES: Final = frozenset(rule.id for rule in RULES if rule.concerns_lending)
"""Ids of the rules about what could take objects from those who borrow them."""

_FACTS: Final = frozenset(rule.id for rule in RULES if rule.is_fact)


def assess(subject: Subject, policy: Policy, now_s: float) -> tuple[Finding, ...]:
    """Return the findings of all rules, worst first.

    A linked worktree shares its object store, references and config; if another row of the survey is judged for them,
    only what is its own is judged here. While a lender is missing, nothing is said that would have people repack.
    """
    case = Case(subject=subject, policy=policy, now_s=now_s)
    is_repeated = subject.repository.kind is RepositoryKind.LINKED_WORKTREE and not subject.counts_store
    judges = [
        judge
        for rule, judge in JUDGES
        if not (is_repeated and rule.per_store) and not (case.may_lack_objects and rule.needs_all_objects)
    ]
    findings = [finding for judge in judges for finding in judge(case)]
    findings.sort(key=lambda finding: -finding.severity.rank)
    return tuple(findings)


def state_of(findings: Sequence[Finding], repository: Repository, inspection: Inspection | Unreadable) -> State:
    """Return the one word for a row: `unreadable`, else `foreign`, else the worst severity, plain facts aside."""
    if isinstance(inspection, Unreadable):
        return State.UNREADABLE
    if repository.is_foreign:
        return State.FOREIGN
    severities = [finding.severity for finding in findings if finding.rule not in _FACTS]
    worst = max(severities, key=lambda severity: severity.rank, default=None)
    return State.OK if worst is None else State(worst.value)
