"""`gitdash check`: findings, one a line, and an exit code for scripts."""

from collections import Counter

from gitdash.assessment.rules import RULES
from gitdash.cli.output import say, write_data
from gitdash.cli.run import Survey, say_failures, survey_roots
from gitdash.cli.session import Session
from gitdash.errors import ExitCode
from gitdash.export.tables import findings_line
from gitdash.model.finding import Finding, Severity
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.units import counted, printable_path


def run_check(session: Session, roots: tuple[bytes, ...], *, fail_on: str, sizes: str) -> int:
    """Print findings from `fail_on` on and count the rest; exit 1 if any was printed or a measurement failed."""
    least = Severity(fail_on)
    survey = survey_roots(session, roots, sizes)
    has_failed = say_failures(survey, survey.reports)
    found = [(row.path, finding) for row in survey.rows() for finding in survey.reports[row.path].findings]
    printed = [(path, finding) for path, finding in found if finding.severity.rank >= least.rank]
    write_data(_line(path, finding).encode("utf-8", "backslashreplace") for path, finding in printed)
    printed_counts = Counter(finding.severity for _, finding in printed)
    hidden_counts = Counter(finding.severity for _, finding in found) - printed_counts
    if survey.totals is not None:
        counts = findings_line(survey.totals.repository_count, printed_counts, hidden_counts).rstrip()
        say(counts + _not_judged(survey))
    return ExitCode.FINDINGS if printed or has_failed else ExitCode.DONE


def _not_judged(survey: Survey) -> str:
    """Return which rules had no size to judge by, and in how many repositories; empty if all had theirs."""
    lacking = [kinds for kinds in map(_not_measured, survey.reports.values()) if kinds]
    kinds = set().union(*lacking)
    rules = [rule.id for rule in RULES if not kinds.isdisjoint(rule.needs_sizes)]
    if not rules:
        return ""
    where = counted(len(lacking), "repository", "repositories")
    return f"; not judged for want of sizes in {where}: {', '.join(rules)}; --sizes all finds more"


def _not_measured(report: RepositoryReport) -> set[str]:
    """Return the kinds of sizes that nothing is known of, in a repository that could be read."""
    if isinstance(report.inspection, Unreadable):
        return set()
    sizes = report.sizes
    lacks_exclusive = sizes.exclusive is None and report.repository.has_own_store
    lacks_reachable = sizes.reachable is None or sizes.reachable_own is None
    return {kind for kind, lacks in (("exclusive", lacks_exclusive), ("reachable", lacks_reachable)) if lacks}


def _line(path: bytes, finding: Finding) -> str:
    return f"{printable_path(path)}: {finding.severity.value}: {finding.rule}: {finding.summary}\n"
