"""All rules, and the two questions that the rest of gitdash asks: what is wrong, and in one word how is it?"""

from collections.abc import Sequence

from gitdash.assessment.subject import Subject
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import Inspection
from gitdash.model.policy import Policy
from gitdash.model.report import State
from gitdash.model.repository import Repository, Unreadable

RULES: tuple[object, ...] = ()


def assess(subject: Subject, policy: Policy, now_s: float) -> tuple[Finding, ...]:  # noqa: ARG001
    """Return the findings, worst first."""
    return ()


def state_of(findings: Sequence[Finding], repository: Repository, inspection: Inspection | Unreadable) -> State:
    """Return the one word for a row."""
    if isinstance(inspection, Unreadable):
        return State.UNREADABLE
    if repository.foreign_owner_uid is not None and not repository.trusted_by_config:
        return State.FOREIGN
    if not findings:
        return State.OK
    worst = max((finding.severity for finding in findings), key=lambda severity: severity.rank)
    return {Severity.NOTICE: State.NOTICE, Severity.WARNING: State.WARNING, Severity.CRITICAL: State.CRITICAL}[worst]
