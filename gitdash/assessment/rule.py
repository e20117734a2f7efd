"""What a rule is: a record that says everything about it, and a pure function from a case to findings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gitdash.assessment.case import Case
from gitdash.model.finding import Finding, Severity
from gitdash.units import printable

Evidence: TypeAlias = dict[str, int | float | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, declared once; README, `check` and the dashboard derive from it."""

    id: str
    """Kebab case; never renamed, for others script against it."""
    severities: tuple[Severity, ...]
    """What it can answer, mildest first."""
    title: str
    """A few words."""
    meaning: str
    """Why it matters, one or two sentences."""
    source: str
    """Where the rule and its threshold come from, with the unit."""
    remedy: str
    """What fixes it, or why nothing can; `{git}` stands for the git command with the repository's path."""
    task: str | None = None
    """The maintenance task that does it."""
    per_store: bool = True
    """It judges what linked worktrees share, and so is not repeated in each of their rows."""
    needs_all_objects: bool = False
    """Its remedy repacks or walks the history: it is silent while a lender is missing or unknown."""
    for_anyone: bool = False
    """Its remedy runs nothing in the repository, and so is not for its owner alone."""
    is_fact: bool = False
    """It tells a fact that nothing needs to be done about: the repository counts as well all the same."""
    concerns_lending: bool = False
    """It is about what could take objects from those who borrow them."""
    needs_sizes: tuple[str, ...] = ()
    """What has to be measured before it can be judged: `exclusive`, from index files, or `reachable`, by git."""
    policy_keys: tuple[str, ...] = ()
    """Names of the thresholds in the policy that it compares with."""

    def finding(
        self,
        case: Case,
        severity: Severity,
        summary: str,
        evidence: Evidence,
        *,
        remedy: str | None = None,
        formula: str | None = None,
    ) -> Finding:
        """Return a finding of this rule.

        Args:
            case: The repository.
            severity: One of the rule's.
            summary: One sentence with the evidence in numbers.
            evidence: Those numbers.
            remedy: Replaces the rule's where the case needs another.
            formula: The rule's comparison with the numbers filled in, printable, at most 100 characters; None if the
                rule compares none.
        """
        return Finding(
            rule=self.id,
            severity=severity,
            summary=printable(summary),
            remedy=printable(self._addressed(case, (remedy or self.remedy).replace("{git}", case.git_command))),
            task=self.task,
            formula=formula,
            evidence={name: printable(value) if isinstance(value, str) else value for name, value in evidence.items()},
        )

    def _addressed(self, case: Case, remedy: str) -> str:
        """Say whose hands a remedy with commands needs: for others git refuses it, or runs what the config names."""
        is_for_owner = case.subject.repository.is_foreign and not self.for_anyone and "`" in remedy
        return f"as its owner: {remedy}" if is_for_owner else remedy


Judge: TypeAlias = Callable[[Case], Iterator[Finding]]
"""Yields the findings of one rule, mostly none or one."""

MEMBER_CAUTION = (
    " In a member `-d` also removes loose copies of what a lender has: first see that the lender keeps those objects"
    " reachable."
)
"""git(1) repack `-d` runs prune-packed, which counts the lenders' packs: the last copy may then be the lender's."""


def with_member_caution(rule: Rule, case: Case) -> str:
    """Return the rule's remedy, with a caution where the repository borrows objects."""
    return rule.remedy + MEMBER_CAUTION if case.is_member else rule.remedy
