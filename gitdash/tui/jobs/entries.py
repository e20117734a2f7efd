"""Below a job that has ended: what the ledger says of each of its remotes or tasks. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.export.ledger_lines import action_name
from gitdash.model.job import Job, JobKind
from gitdash.model.ledger import LedgerEntry
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.ledger.facts import fact_groups, outcome_piece
from gitdash.tui.ledger.lines import detail_lines, indented, told_lines
from gitdash.tui.ledger.run_line import run_groups
from gitdash.units import ago_text, human_count, human_duration, printable

_MORE: Final = 2
"""Cells that what is said of an action stands further to the right."""
_MOST_KEPT: Final = 1_000
_SHOWN_RUNS: Final = 3
_ACTS: Final = {JobKind.FETCH: "fetches", JobKind.MAINTAIN: "maintenance tasks"}


class KeptLines:
    """Lines of what the ledger says of jobs, composed once for a width: it never changes, and the page often does."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, bool], tuple[tuple[LedgerEntry, ...], int, list[Line]]] = {}
        """By number of the job and whether it is open, with what they were composed of."""

    def of(self, job: Job, width: int, indent: int, *, is_open: bool) -> list[Line]:
        """Return each action of a job with how it went, and, where the job is open, all that is known of it."""
        entries, kept_width, lines = self._kept.get((job.number, is_open), ((), 0, []))
        if entries is not job.entries or kept_width != width:
            lines = list(entry_lines(job, width, indent, is_open=is_open))
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[job.number, is_open] = (job.entries, width, lines)
        return lines


def entry_lines(job: Job, width: int, indent: int, *, is_open: bool) -> Iterator[Line]:
    """Yield each action of a job with how it went, and, where the job is open, all that is known of it."""
    for entry in job.entries:
        yield from indented([_went(job, entry), *fact_groups(entry)], width, indent)
        yield from told_lines(entry, width, indent + _MORE, is_whole=is_open)
        if is_open:
            yield from detail_lines(entry, width, indent + _MORE)


def _went(job: Job, entry: LedgerEntry) -> Line:
    """Return remote or task, and how it ended, unless the line above says the same."""
    what = entry.remote or (entry.task.value if entry.task else "") or action_name(entry)
    pieces = [Piece(printable(what), Tone.STRONG)]
    outcome = outcome_piece(entry)
    if outcome.text != job.state.value:
        pieces += [Piece("  ", Tone.PLAIN), outcome]
    if len(job.entries) > 1 and entry.elapsed_s is not None:
        pieces.append(Piece(f"  {human_duration(entry.elapsed_s)}", Tone.PLAIN))
    return pieces


def run_lines(jobs: Sequence[Job], now_s: float, width: int) -> list[Line]:
    """Return a line for each of the latest runs of several actions: how many of them ended how."""
    runs: dict[str, list[Job]] = {}
    for job in jobs:
        for run in dict.fromkeys([*([job.run] if job.run else []), *(entry.run for entry in job.entries)]):
            runs.setdefault(run, []).append(job)
    several = [(run, its) for run, its in runs.items() if _is_worth_a_sum(its)]
    several.sort(key=lambda pair: _ended_at_s(pair[1]), reverse=True)
    return [line for run, its in several[:_SHOWN_RUNS] for line in _run_lines(run, its, now_s, width)]


def _is_worth_a_sum(its: list[Job]) -> bool:
    return any(job.entries for job in its) and sum(max(len(job.entries), 1) for job in its) > 1


def _run_lines(run: str, its: list[Job], now_s: float, width: int) -> list[Line]:
    entries = [entry for job in its for entry in job.entries if entry.run == run]
    what = _ACTS.get(its[0].kind, "actions")
    title = f"{_how_many(its, len(entries))} {what}, {ago_text(now_s - _ended_at_s(its))}:"
    return indented([[Piece(title, Tone.PLAIN)], *run_groups(entries)], width, 3)


def _how_many(its: list[Job], ended_count: int) -> str:
    """Return how many ended, of how many if that is known: how many tasks a job of maintenance has, its end tells."""
    open_count = sum(not job.state.has_ended for job in its)
    if not open_count:
        return human_count(ended_count)
    if its[0].kind is JobKind.FETCH:
        return f"{human_count(ended_count)} of {human_count(ended_count + open_count)}"
    return f"so far {human_count(ended_count)}"


def _ended_at_s(jobs: list[Job]) -> float:
    return max(job.ended_at_s or 0.0 for job in jobs)


def says_the_reason(job: Job) -> bool:
    """Tell whether what the ledger says of a job has the reason why it was not done in it."""
    return not job.state.is_undone or any(entry.sentence == job.reason for entry in job.entries)
