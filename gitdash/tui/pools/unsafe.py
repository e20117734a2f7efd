"""What could take objects from those who borrow, or has done so, in words; the worst first. Pure.

The rules are those about lending; which of them a lender broke stands in its row.
"""

from collections.abc import Mapping
from typing import Final

from gitdash.assessment.alternates import LENDER_OUTSIDE_ROOTS, MISSING_LENDER
from gitdash.assessment.rules import LENDING_RULES, RULES
from gitdash.export.pools import PoolRow
from gitdash.model.finding import Severity
from gitdash.model.report import State
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.cells import Piece, Tone
from gitdash.units import counted

_RULES: Final = {rule.id: rule for rule in RULES if rule.id in LENDING_RULES}
TONES: Final = {
    Severity.NOTICE: Tone.NOTICE,
    Severity.WARNING: Tone.WARNING,
    Severity.CRITICAL: Tone.CRITICAL,
}


def worst_severity(row: PoolRow) -> Severity | None:
    """Return how bad the worst is that is unsafe about a lender; None if nothing is."""
    severities = [_severity(rule, row.state) for rule in row.unsafe]
    return max(severities, key=lambda severity: severity.rank, default=None)


def lender_words(row: PoolRow) -> list[Piece]:
    """Return what is unsafe about a lender and its members."""
    return _worst_first({rule: _words(rule, row) for rule in row.unsafe}, row.state)


def member_words(summary: RepositorySummary, lender: PoolRow) -> list[Piece]:
    """Return what is unsafe about a member, and not said of its lender already."""
    if LENDING_RULES.isdisjoint(summary.rules):
        return []
    rules = LENDING_RULES.intersection(summary.rules).difference(lender.unsafe)
    return _worst_first({rule: _RULES[rule].title for rule in sorted(rules)}, summary.state)


def _worst_first(words: Mapping[str, str], state: State) -> list[Piece]:
    severities = {rule: _severity(rule, state) for rule in words}
    rules = sorted(words, key=lambda rule: -severities[rule].rank)
    return [Piece(words[rule], TONES[severities[rule]]) for rule in rules]


def _severity(rule: str, state: State) -> Severity:
    """Return how bad a rule can be; a repository in a better state has no finding that is worse."""
    severity = _RULES[rule].severities[-1]
    limit = next((one for one in Severity if one.value == state.value), severity)
    return min(severity, limit, key=lambda one: one.rank)


def _words(rule: str, row: PoolRow) -> str:
    if rule == MISSING_LENDER.id:
        what = "cannot be used" if row.exists else "missing"
        reason = f" ({row.problem})" if row.problem not in {None, what} else ""
        return f"{what}{reason}: {counted(row.lost_count, 'repository', 'repositories')} lost its objects"
    if rule == LENDER_OUTSIDE_ROOTS.id:
        return "outside the roots: nobody here sees whether it drops objects"
    return _RULES[rule].title
