"""What speaks against a task: the one list of all rules, and the two questions that plans ask of it.

The same functions judge a plan when it is shown and once more, from facts read anew, just before anything runs. The
rules stand in modules by what they look at. Pure.
"""

from typing import Final

from gitdash.maintenance import refused_by_config, refused_for_links, refused_here, refused_now
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.refusal_rule import CHANGING, JudgedRule
from gitdash.model.plan import Refusal
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task
from gitdash.units import printable

RULES: Final[tuple[JudgedRule, ...]] = (
    *refused_now.RULES,
    *refused_for_links.RULES,
    *refused_here.RULES,
    *refused_by_config.RULES,
)
"""Every rule with its function, in the order in which reasons are shown."""


def refusals_of(task: Task, report: RepositoryReport, facts: ActionFacts) -> tuple[Refusal, ...]:
    """Return all that speaks against a task; empty if it may run."""
    found = ((rule, judge(report, facts, task)) for rule, judge in RULES if task in rule.tasks)
    return tuple(Refusal(rule=rule.id, reason=printable(reason)) for rule, reason in found if reason is not None)


def common_refusals(report: RepositoryReport, facts: ActionFacts) -> tuple[Refusal, ...]:
    """Return the refusals that all tasks share that change anything."""
    first, *others = (refusals_of(task, report, facts) for task in sorted(CHANGING))
    return tuple(refusal for refusal in first if all(refusal in refusals for refusals in others))
