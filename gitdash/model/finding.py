"""Findings: what is wrong with a repository, with the evidence in numbers."""

import enum

import msgspec


class Severity(enum.StrEnum):
    """How much a finding matters; the order of declaration is the order of severity."""

    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for notice, 1 for warning, 2 for critical."""
        return ("notice", "warning", "critical").index(self.value)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement of one rule."""

    rule: str
    """Rule id in kebab case, such as `packs-outside-midx`; README lists all."""
    severity: Severity
    summary: str
    """One sentence with the evidence in numbers. Printable."""
    remedy: str
    """What fixes it, or why nothing can. Printable."""
    task: str | None = None
    """The maintenance task that fixes it, such as `geometric-repack`; None if none does."""
    formula: str | None = None
    """The rule's comparison with the numbers filled in, such as `37 > max(2, ln(1,200) / ln(1.8)) = 12`; None if it
    compares nothing. Printable."""
    evidence: dict[str, int | float | str] = {}
    """The numbers that went into the rule, unit in the key."""
