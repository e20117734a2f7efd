"""The detail of one repository: path, the five sizes, findings with their reasons, and facts. Pure."""

from collections.abc import Iterator
from typing import Final

from gitdash.model.finding import Finding, Severity
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.cells import STATE_TONES, Line, Piece, Tone, line_length, shorten_middle, spread
from gitdash.tui.drawing.wrap import side_by_side, wrapped
from gitdash.tui.repository.facts import fact_lines
from gitdash.tui.repository.sizes import compact_sizes, full_sizes
from gitdash.units import human_count, printable_path

SIDE_BY_SIDE_WIDTH: Final = 110
"""From this width on sizes stand beside findings."""
_SEVERITY_TONES: Final = {
    Severity.NOTICE: Tone.NOTICE,
    Severity.WARNING: Tone.WARNING,
    Severity.CRITICAL: Tone.CRITICAL,
}


def pane_lines(
    summary: RepositorySummary, report: RepositoryReport | None, *, width: int, now_s: float, is_tall: bool
) -> list[Line]:
    """Return the lines of the detail pane; a tall one has room for everything below one another."""
    if is_tall:
        return full_lines(summary, report, width=width, now_s=now_s)
    title = title_line(summary, report, width)
    if width < SIDE_BY_SIDE_WIDTH:
        return [title, *compact_sizes(summary, report, width, now_s), *finding_lines(summary, report, width)]
    sizes_width = width // 2
    sizes = full_sizes(summary, report, sizes_width, now_s)
    findings = finding_lines(summary, report, width - sizes_width - 1)
    return [title, *side_by_side(sizes, findings, sizes_width, width)]


def full_lines(summary: RepositorySummary, report: RepositoryReport | None, *, width: int, now_s: float) -> list[Line]:
    """Return everything that is known of a repository."""
    lines: list[Line] = [title_line(summary, report, width), []]
    lines += full_sizes(summary, report, width, now_s)
    lines += [[], *finding_lines(summary, report, width)]
    if report is not None:
        lines += [[], *fact_lines(report, width, now_s)]
    return lines


def title_line(summary: RepositorySummary, report: RepositoryReport | None, width: int) -> Line:
    """Return path and kind on one line."""
    words = [summary.kind.value.replace("_", " "), summary.role]
    if summary.object_format == "sha256":
        words.append(summary.object_format)
    if report and report.repository.trusted_by_config:
        words.append("trusted by config")
    right = [
        Piece(" · ".join(words) + "  ", Tone.DIM),
        Piece(summary.state.value + " ", STATE_TONES[summary.state]),
    ]
    path = shorten_middle(printable_path(summary.path), max(width - line_length(right) - 2, 12))
    return spread([Piece(" " + path, Tone.STRONG)], right, width)


def finding_lines(summary: RepositorySummary, report: RepositoryReport | None, width: int) -> list[Line]:
    """Return the findings, worst first, each with its evidence and its remedy."""
    if report is not None:
        lines = [line for finding in report.findings for line in _finding_lines(finding, width)]
        if not lines and isinstance(report.inspection, Unreadable):
            return wrapped(f"unreadable: {report.inspection.reason}", Tone.CRITICAL, width)
        return lines or [[Piece(" no findings", Tone.OK)]]
    if summary.worst_rule is None:
        return [[Piece(" no findings", Tone.OK)]] if summary.inspected_at_s else []
    head = Piece(f" {summary.worst_rule} ", STATE_TONES[summary.state])
    lines = [[head], *wrapped(summary.worst_summary or "", Tone.PLAIN, width, indent=3)]
    if summary.finding_count > 1:
        lines.append([Piece(f" and {human_count(summary.finding_count - 1)} more", Tone.DIM)])
    return lines


def _finding_lines(finding: Finding, width: int) -> Iterator[Line]:
    yield [
        Piece(f" {finding.severity.value}", _SEVERITY_TONES[finding.severity]),
        Piece(f"  {finding.rule}", Tone.STRONG),
    ]
    yield from wrapped(finding.summary, Tone.PLAIN, width, indent=3)
    yield from wrapped("> " + finding.remedy, Tone.DIM, width, indent=3, hanging=2)
