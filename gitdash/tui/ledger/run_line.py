"""What became of all actions that were started together, on one line: `12 done, 2 failed (1 disk full, 1 network)`."""

from collections.abc import Iterable
from itertools import groupby

from gitdash.maintenance.run_report import ReportGroup, run_report
from gitdash.model.ledger import LedgerEntry
from gitdash.tui.drawing.cells import Line, Piece
from gitdash.tui.ledger.facts import OUTCOME_TONES
from gitdash.units import human_count


def run_groups(entries: Iterable[LedgerEntry]) -> list[Line]:
    """Return the outcomes of a run, each a group: what went well first, and of the others the reasons."""
    report = run_report(entries, named_limit=0)
    return [
        [Piece(_text(outcome, list(groups)), OUTCOME_TONES[outcome])]
        for outcome, groups in groupby(report.groups, key=lambda group: group.outcome)
    ]


def _text(outcome: str, groups: list[ReportGroup]) -> str:
    text = f"{human_count(sum(group.count for group in groups))} {outcome}"
    reasons = [group for group in groups if group.reason is not None and group.reason.value != outcome]
    if not reasons:
        return text
    if len(groups) == 1 and groups[0].reason is not None:
        return f"{text} ({groups[0].reason.value})"
    return f"{text} ({', '.join(f'{human_count(group.count)} {group.reason}' for group in reasons)})"
