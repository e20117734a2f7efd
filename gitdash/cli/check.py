"""`gitdash check`: findings, one a line, and an exit code for scripts."""

from gitdash.cli.output import say, write_data
from gitdash.cli.run import Survey, survey_roots
from gitdash.cli.session import Session
from gitdash.errors import ExitCode
from gitdash.export.tables import totals_line
from gitdash.model.finding import Severity
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.units import printable_path


def run_check(session: Session, roots: tuple[bytes, ...], *, fail_on: str, sizes: str) -> int:
    """Print what is at or above `fail_on`; a repository that cannot be read counts as critical."""
    least = Severity(fail_on)
    survey = survey_roots(session, roots, sizes)
    lines = [line for row in survey.rows() for line in _lines(survey.reports[row.path], least)]
    write_data(f"{line}\n".encode("utf-8", "backslashreplace") for line in lines)
    _say_totals(survey)
    return ExitCode.FINDINGS if lines else ExitCode.DONE


def _lines(report: RepositoryReport, least: Severity) -> list[str]:
    path = printable_path(report.repository.path)
    lines = [
        f"{path}: {finding.severity.value}: {finding.rule}: {finding.summary}"
        for finding in report.findings
        if finding.severity.rank >= least.rank
    ]
    if isinstance(report.inspection, Unreadable) and not lines:
        lines.append(f"{path}: critical: unreadable: {report.inspection.reason}")
    return lines


def _say_totals(survey: Survey) -> None:
    if survey.totals is not None:
        say(totals_line(survey.totals).rstrip())
