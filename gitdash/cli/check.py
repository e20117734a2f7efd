"""`gitdash check`: findings, one a line, and an exit code for scripts."""

from collections import Counter

from gitdash.cli.output import say, write_data
from gitdash.cli.run import say_failures, survey_roots
from gitdash.cli.session import Session
from gitdash.errors import ExitCode
from gitdash.export.tables import findings_line
from gitdash.model.finding import Finding, Severity
from gitdash.units import printable_path


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
        say(findings_line(survey.totals.repository_count, printed_counts, hidden_counts).rstrip())
    return ExitCode.FINDINGS if printed or has_failed else ExitCode.DONE


def _line(path: bytes, finding: Finding) -> str:
    return f"{printable_path(path)}: {finding.severity.value}: {finding.rule}: {finding.summary}\n"
