"""Reports and facts for plans, made of values: a healthy bare repository that everything may be done to."""

from typing import Any

import msgspec

from gitdash.maintenance.action_facts import ActionFacts, HeldLock
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import BitmapFacts, Inspection
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, Role, Unreadable
from gitdash.model.sizes import Sizes
from tests.assessment.subjects import NOW_S, REPOSITORY, inspection

GIT_VERSION = (2, 47, 3)


def action_facts(**changes: Any) -> ActionFacts:
    """Nothing speaks against acting."""
    facts = ActionFacts(
        read_at_s=NOW_S, git_version=GIT_VERSION, effective_uid=1000, owner_uid=1000, free_bytes=1 << 40
    )
    return msgspec.structs.replace(facts, **changes)


def held(path: str = "objects/maintenance.lock", holder: str | None = "PID 4711") -> HeldLock:
    return HeldLock(path=path, since_s=NOW_S - 3_600, holder=holder)


def report(
    repository: Repository = REPOSITORY,
    *,
    facts: Inspection | Unreadable | None = None,
    roles: tuple[Role, ...] = (Role.PLAIN,),
    borrowers: tuple[bytes, ...] = (),
    sizes: Sizes | None = None,
    findings: tuple[Finding, ...] = (),
    counts_store: bool = True,
    lender_bitmap: BitmapFacts | None = None,
    **changes: Any,
) -> RepositoryReport:
    """A report; names that are none of these change the inspection."""
    return RepositoryReport(
        repository=repository,
        roles=roles,
        borrowers=borrowers,
        inspection=facts or inspection(**changes),
        sizes=sizes or Sizes(),
        findings=findings,
        state=State.OK,
        counts_store=counts_store,
        lender_bitmap=lender_bitmap,
    )


def finding(task: str | None, summary: str = "too many") -> Finding:
    return Finding(rule="some-rule", severity=Severity.WARNING, summary=summary, remedy="do it", task=task)
