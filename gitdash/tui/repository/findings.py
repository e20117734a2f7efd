"""The tab Findings: of each what is wrong, why it matters, the numbers behind it, and what fixes it. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import chop_cells

from gitdash.assessment.rule import Rule
from gitdash.assessment.rules import RULES
from gitdash.model.finding import Finding, Severity
from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line, line_length
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import flow, wrapped
from gitdash.tui.repository.evidence import evidence_text
from gitdash.tui.repository.missing import again_lines, missing_lines
from gitdash.tui.repository.remedy import commands_of, remedy_parts
from gitdash.tui.repository.view import RepositoryView
from gitdash.units import human_count

_RULES: Final = {rule.id: rule for rule in RULES}
_SIGNS: Final = {
    Severity.NOTICE: ("•", Tone.NOTICE),
    Severity.WARNING: ("▲", Tone.WARNING),
    Severity.CRITICAL: ("■", Tone.CRITICAL),
}
_INDENT: Final = 3
_LABEL_WIDTH: Final = 10
_BETWEEN: Final = " ,;:"
"""What joins words and commands in a sentence; here each begins a line."""


def findings_page(view: RepositoryView, width: int) -> Page:
    """Return the page; its items are the findings, worst first."""
    findings = _findings(view)
    lines: list[Line] = [*missing_lines(view, width)]
    if not findings:
        return Page(lines or [*_calm(view, width)])
    lines += [*_head(view, findings, width), []]
    items = []
    for finding in findings:
        items.append(len(lines))
        lines += [*_finding_lines(finding, view.key("show_plan"), width), []]
    return Page(lines[:-1], items)


def finding_commands(view: RepositoryView, item: int) -> Sequence[str]:
    """Return the commands of the finding that an item is."""
    findings = _findings(view)
    return commands_of(findings[item].remedy) if item < len(findings) else ()


def finding_of(view: RepositoryView, item: int) -> Finding | None:
    """Return the finding that an item is; None if there is none."""
    findings = _findings(view)
    return findings[item] if item < len(findings) else None


def _findings(view: RepositoryView) -> Sequence[Finding]:
    return view.report.findings if view.report is not None else ()


def _calm(view: RepositoryView, width: int) -> Iterator[Line]:
    yield from wrapped("No findings.", Tone.OK, width)
    text = f"{len(RULES)} rules have looked at what was read {view.read_ago}: nothing needs to be done."
    yield from wrapped(text, Tone.PLAIN, width)
    yield from again_lines(view, width)


def _head(view: RepositoryView, findings: Sequence[Finding], width: int) -> list[Line]:
    counts = Counter(finding.severity for finding in findings)
    words = [f"{human_count(counts[severity])} {severity.value}" for severity in reversed(Severity) if counts[severity]]
    copy, again = view.key("copy_shown"), view.key("rescan")
    hints = [f"{copy} copies a command"] if copy and any(commands_of(finding.remedy) for finding in findings) else []
    hints += [f"{again} looks again afterwards"] if again else []
    return flow([[Piece(", ".join(words), Tone.STRONG)], *([Piece(hint, Tone.DIM)] for hint in hints)], width)


def _finding_lines(finding: Finding, plan_key: str, width: int) -> Iterator[Line]:
    sign, tone = _SIGNS[finding.severity]
    rule = _RULES.get(finding.rule)
    head = [Piece(f" {sign} {finding.severity.value}  ", tone), Piece(finding.rule, Tone.STRONG)]
    if rule is not None:
        head.append(Piece(f"  {rule.title}", Tone.DIM))
    yield head if line_length(head) <= width else cut_line(head, width)
    yield from wrapped(finding.summary, Tone.PLAIN, width, indent=_INDENT)
    yield from _labelled("why", rule.meaning if rule is not None else "", width)
    yield from _labelled("formula", finding.formula or "", width, Tone.PLAIN)
    yield from _evidence(finding, width)
    yield from _origin(rule, width)
    yield from _remedy(finding, width)
    if finding.task is not None and plan_key:
        text = f"{plan_key} shows what {finding.task} would do here, and runs it"
        yield from _labelled("plan", text, width, Tone.PLAIN)


def _evidence(finding: Finding, width: int) -> Iterator[Line]:
    groups = []
    for name, value in finding.evidence.items():
        label, text = evidence_text(name, value)
        groups.append([Piece(f"{label} ", Tone.DIM), Piece(text, Tone.PLAIN)])
    yield from _below("evidence", flow(groups, width - _INDENT - _LABEL_WIDTH))


def _origin(rule: Rule | None, width: int) -> Iterator[Line]:
    if rule is not None:
        yield from _labelled("policy", ", ".join(rule.policy_keys), width)
        yield from _labelled("source", rule.source, width)


def _remedy(finding: Finding, width: int) -> Iterator[Line]:
    label = "remedy"
    for part in remedy_parts(finding.remedy):
        if part.is_verbatim:
            words = _command(part.text, width - _INDENT - _LABEL_WIDTH)
        else:
            words = wrapped(part.text.strip(_BETWEEN), Tone.PLAIN, width - _INDENT - _LABEL_WIDTH)
        yield from _below(label, words)
        label = ""


def _command(text: str, width: int) -> list[Line]:
    """Return a command as lines; one with blanks that count is broken anywhere, and so shown as it is."""
    if "  " in text:
        parts = chop_cells(text, max(width - 4, 8))
        lines: list[Line] = [[Piece("   ", Tone.DIM), Piece(part, Tone.KEY)] for part in parts]
    else:
        lines = wrapped(text, Tone.KEY, width, indent=3, hanging=2)
    return [[Piece(" $ ", Tone.DIM), *lines[0][1:]], *lines[1:]]


def _labelled(label: str, text: str, width: int, tone: Tone = Tone.DIM) -> Iterator[Line]:
    yield from _below(label, wrapped(text, tone, width - _INDENT - _LABEL_WIDTH))


def _below(label: str, lines: Sequence[Line]) -> Iterator[Line]:
    for line in lines:
        yield [Piece(f"{'':{_INDENT}}{label:<{_LABEL_WIDTH}}", Tone.DIM), *line]
        label = ""
