"""What became of all actions that were started together, grouped by outcome and reason.

Source: git-maintenance(1) runs one repository at a time; here a failing one stops no other, and a report ends the run.
Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.errors import ExitCode
from gitdash.model.ledger import LedgerEntry, Outcome, Reason
from gitdash.units import counted, human_count, printable_path

NAMED_LIMIT: Final = 5
"""Sentences of each group, and actions of each sentence, that are named; the others are counted."""

_OUTCOMES: Final = (
    Outcome.DONE,
    Outcome.NOTHING_TO_DO,
    Outcome.SKIPPED,
    Outcome.REFUSED,
    Outcome.FAILED,
    Outcome.TIMED_OUT,
    Outcome.CANCELLED,
    Outcome.CUT_OFF,
    Outcome.RUNNING,
)
"""In the order of the report: what went well first, so that what did not stands at the end, above the prompt."""
_SAYS_THE_SAME: Final = frozenset({Reason.REFUSED, Reason.TIMED_OUT, Reason.CANCELLED, Reason.CUT_OFF})
"""Reasons that have an outcome of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAction:
    """One action of a group."""

    path: bytes
    what: str
    """The task or the remote, such as `fetch origin`. Printable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeActions:
    """Actions of a group of which the same is said."""

    sentence: str
    """What became of them. Printable."""
    count: int
    named: tuple[NamedAction, ...]
    """The first by path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportGroup:
    """Actions that ended alike."""

    outcome: Outcome
    reason: Reason | None
    count: int
    alike: tuple[AlikeActions, ...]
    """What is said of most of them first, and as much of it as is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """All actions of a run."""

    groups: tuple[ReportGroup, ...]
    """What went well first; of one outcome the largest group first."""

    @property
    def exit_code(self) -> ExitCode:
        """What the command line says: 3 if some were refused and nothing else went wrong, 1 for all else that did.

        A skipped action was not done, whoever may do it instead, and so is no success.
        """
        bad = {group.outcome for group in self.groups if not group.outcome.is_good}
        if not bad:
            return ExitCode.DONE
        return ExitCode.REFUSED if bad == {Outcome.REFUSED} else ExitCode.FINDINGS


def run_report(entries: Iterable[LedgerEntry], *, named_limit: int = NAMED_LIMIT) -> RunReport:
    """Group the actions of a run; each group names at most `named_limit` sentences, and actions of each."""
    members: dict[tuple[Outcome, Reason | None], list[LedgerEntry]] = {}
    for entry in entries:
        members.setdefault((entry.outcome, entry.reason), []).append(entry)
    groups = [_group(outcome, reason, alike, named_limit) for (outcome, reason), alike in members.items()]
    groups.sort(key=lambda group: (_OUTCOMES.index(group.outcome), -group.count, group.reason or ""))
    return RunReport(groups=tuple(groups))


def report_lines(report: RunReport, *, names_actions: bool = True) -> tuple[str, ...]:
    """Return the report for people; what went well is only counted, and all else where that has been told just now."""
    if not report.groups:
        return ("nothing was started",)
    return tuple(line for group in report.groups for line in _group_lines(group, names_actions=names_actions))


def _group(outcome: Outcome, reason: Reason | None, entries: Sequence[LedgerEntry], named_limit: int) -> ReportGroup:
    sentences: dict[str, list[LedgerEntry]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.path, entry.number)):
        sentences.setdefault(entry.sentence, []).append(entry)
    most_first = sorted(sentences.items(), key=lambda said: -len(said[1]))[:named_limit]
    alike = (_alike(sentence, of_it, named_limit) for sentence, of_it in most_first)
    return ReportGroup(outcome=outcome, reason=reason, count=len(entries), alike=tuple(alike))


def _alike(sentence: str, entries: Sequence[LedgerEntry], named_limit: int) -> AlikeActions:
    named = tuple(NamedAction(path=entry.path, what=_what(entry)) for entry in entries[:named_limit])
    return AlikeActions(sentence=sentence, count=len(entries), named=named)


def _what(entry: LedgerEntry) -> str:
    return " ".join(filter(None, (entry.action, entry.task, entry.remote)))


def _group_lines(group: ReportGroup, *, names_actions: bool) -> Iterator[str]:
    title = f"{counted(group.count, 'action')}: {_title(group)}"
    if group.outcome.is_good or not names_actions:
        yield title
        return
    # said once, where it is said of all
    of_all = group.alike[0].sentence if group.alike and 1 < group.count == group.alike[0].count else ""
    yield f"{title}: {of_all}" if of_all else title
    for alike in group.alike:
        yield from _alike_lines(alike, is_said=bool(of_all))
    left_count = group.count - sum(alike.count for alike in group.alike)
    if left_count:
        yield f"  and {human_count(left_count)} more"


def _alike_lines(alike: AlikeActions, *, is_said: bool) -> Iterator[str]:
    has_head = alike.count > 1 and alike.sentence and not is_said
    margin = "    " if has_head else "  "
    if has_head:
        yield f"  {human_count(alike.count)} of them: {alike.sentence}"
    says = f": {alike.sentence}" if alike.count == 1 and alike.sentence else ""
    for action in alike.named:
        yield f"{margin}{printable_path(action.path)} ({action.what}){says}"
    if alike.count > len(alike.named):
        yield f"{margin}and {human_count(alike.count - len(alike.named))} more"


def _title(group: ReportGroup) -> str:
    if group.reason is None or group.reason in _SAYS_THE_SAME:
        return group.outcome.value
    return f"{group.outcome.value} ({group.reason.value})"
