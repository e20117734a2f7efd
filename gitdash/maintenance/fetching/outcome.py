"""What a fetch gathered while it ran, and what is said of it in the end."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from gitdash.gitcmd.git_program import GitOutput
from gitdash.maintenance.fetching.arrivals import loose_bytes_since, temporary_files_since
from gitdash.maintenance.fetching.session import FetchSession
from gitdash.maintenance.fetching.timing import TraceFacts, phases
from gitdash.maintenance.outcomes import classify, classify_text
from gitdash.model.fetch import FetchResult, RemotePlan
from gitdash.model.ledger import Outcome, Reason, ReferenceChange
from gitdash.model.report import RepositoryReport
from gitdash.units import counted, human_bytes, human_duration, printable

MAXIMUM_CHANGES: Final = 1000
_MAXIMUM_GATHERED: Final = 1_000_000
_WORDS: Final = ("updated", "forced", "new", "tag", "pruned", "rejected")


@dataclass(slots=True, kw_only=True)
class Gathered:
    """What one fetch learned so far."""

    report: RepositoryReport
    remote: RemotePlan
    session: FetchSession
    choices: list[str] = field(default_factory=list)
    changes: dict[str, ReferenceChange] = field(default_factory=dict)
    """By name: a second try says the last word."""
    trace: TraceFacts = field(default_factory=TraceFacts)

    def add(self, change: ReferenceChange) -> None:
        """Take in a change."""
        if len(self.changes) < _MAXIMUM_GATHERED:
            self.changes[change.name] = change

    def result(self, outcome: Outcome, reason: Reason | None, sentence: str) -> FetchResult:
        """Return what came of it, with all that was gathered."""
        left, left_bytes = self._left(outcome)
        elapsed_s = self.session.elapsed_s
        changes = [_printable(change) for change in list(self.changes.values())[:MAXIMUM_CHANGES]]
        return FetchResult(
            remote=printable(self.remote.name),
            outcome=outcome,
            reason=reason,
            sentence=printable(sentence),
            elapsed_s=elapsed_s,
            phases=phases(self.trace, elapsed_s) if self.session.commands else (),
            received_objects=self.trace.object_count,
            received_bytes=self.received_bytes(),
            reference_changes=tuple(changes),
            reference_change_count=len(self.changes),
            choices=(*self.remote.choices, *self.choices),
            commands=tuple(self.session.commands),
            leftovers=left,
            left_bytes=left_bytes,
        )

    def received_bytes(self) -> int | None:
        """Return the size of what came; of what was unpacked at once, what it takes on disk. None if nothing came."""
        if self.trace.object_count is None:
            return None
        unpacked = 0
        if self.trace.was_unpacked and not self.remote.is_preview:
            unpacked = loose_bytes_since(self.report.repository.common_dir + b"/objects", self.session.now_s)
        return (self.trace.pack_bytes or 0) + unpacked

    def _left(self, outcome: Outcome) -> tuple[tuple[str, ...], int]:
        if outcome.is_good or not self.session.commands or self.remote.is_preview:
            return (), 0
        return temporary_files_since(self.report.repository.common_dir + b"/objects", self.session.now_s)


def _printable(change: ReferenceChange) -> ReferenceChange:
    return ReferenceChange(name=printable(change.name), kind=change.kind, old=change.old, new=change.new)


def fail(gathered: Gathered, error: BaseException) -> FetchResult:
    """Return the result of a fetch that an error ended."""
    verdict = classify(error)
    return gathered.result(verdict.outcome, verdict.reason, verdict.sentence)


def conclude(gathered: Gathered, output: GitOutput) -> FetchResult:
    """Return the result of a fetch that git ended itself."""
    rejected = [change for change in gathered.changes.values() if change.kind == "rejected"]
    if output.exit_code:
        verdict = classify_text(output.stderr, fallback=f"git fetch failed with exit code {output.exit_code}")
        if rejected and verdict.reason is Reason.OTHER:
            return gathered.result(Outcome.FAILED, Reason.REJECTED, summary(gathered))
        return gathered.result(verdict.outcome, verdict.reason, verdict.sentence)
    did_something = bool(gathered.changes) or bool(gathered.trace.object_count)
    return gathered.result(Outcome.DONE if did_something else Outcome.NOTHING_TO_DO, None, summary(gathered))


def summary(gathered: Gathered) -> str:
    """Return what happened, in one sentence."""
    kinds = _counts(change.kind for change in gathered.changes.values())
    parts = [", ".join(kinds) if kinds else "no reference changed"]
    if gathered.trace.object_count is not None:
        received = counted(gathered.trace.object_count, "object")
        size_bytes = gathered.received_bytes()
        parts.append(received if size_bytes is None else f"{received}, {human_bytes(size_bytes)}")
    would = "would change: " if gathered.remote.is_preview and kinds else ""
    return f"{would}{'; '.join(parts)} in {human_duration(gathered.session.elapsed_s)}"


def _counts(kinds: Iterable[str]) -> list[str]:
    found = list(kinds)
    return [f"{found.count(word)} {'tag updated' if word == 'tag' else word}" for word in _WORDS if word in found]
