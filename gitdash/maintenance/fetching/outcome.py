"""What a fetch gathered while it ran, and what is said of it in the end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from gitdash.gitcmd.git_program import GitOutput
from gitdash.maintenance.fetching.arrivals import loose_bytes_since, temporary_files_since
from gitdash.maintenance.fetching.session import FetchSession
from gitdash.maintenance.fetching.timing import TraceFacts, phases
from gitdash.maintenance.outcomes import classify, classify_text
from gitdash.maintenance.own_leavings import remove_own_leavings, removed_sentence
from gitdash.model.fetch import FetchProgress, FetchResult, RemotePlan
from gitdash.model.ledger import Outcome, Reason, RecordedCommand, ReferenceChange
from gitdash.model.report import RepositoryReport
from gitdash.units import counted, human_bytes, printable, printable_path

MAXIMUM_CHANGES: Final = 1000
_MAXIMUM_GATHERED: Final = 1_000_000
RECEIVING: Final = "receiving objects"
_MEANWHILE: Final = {
    "connect": ", while it waited for the list of the remote's references",
    "negotiation": ", while both sides compared what they have",
    "receive": ", while it waited for objects or received them",
    "index": ", while it indexed what came",
    "connectivity check": ", while it checked that what came is whole",
}
"""What git was at when it was stopped, by phase."""
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
    stand_in_folder: str | None = None
    """The git directory that git was given: people know the repository's own."""
    unpacked_bytes: int | None = None
    """What was unpacked takes on disk; None if nobody has looked yet."""
    progress: FetchProgress | None = None
    """How far receiving was when git said so last."""

    def hear(self, progress: FetchProgress) -> None:
        """Take in how far git is."""
        if progress.phase == RECEIVING:
            self.progress = progress

    def add(self, change: ReferenceChange) -> None:
        """Take in a change."""
        if len(self.changes) < _MAXIMUM_GATHERED:
            self.changes[change.name] = change

    def result(self, outcome: Outcome, reason: Reason | None, sentence: str) -> FetchResult:
        """Return what came of it, with all that was gathered."""
        left, left_bytes = self._left(outcome)
        received_bytes = self.received_bytes(left_bytes)
        removed = self._removed()
        if removed:
            left, left_bytes = self._left(outcome)
        elapsed_s = self.session.elapsed_s
        changes = [_printable(change) for change in list(self.changes.values())[:MAXIMUM_CHANGES]]
        return FetchResult(
            remote=printable(self.remote.name),
            outcome=outcome,
            reason=reason,
            sentence=printable("; ".join((self._by_its_own_path(sentence), *self._lost_lenders(), *removed))),
            elapsed_s=elapsed_s,
            phases=phases(self._timed(), elapsed_s) if self.session.commands else (),
            received_objects=self.received_objects(outcome),
            received_bytes=received_bytes,
            reference_changes=tuple(changes),
            reference_change_count=len(self.changes),
            choices=(*self.remote.choices, *self.choices),
            commands=tuple(
                msgspec.structs.replace(command, stderr=self._by_its_own_path(command.stderr))
                for command in self.session.commands
            ),
            leftovers=left,
            left_bytes=left_bytes,
        )

    def _removed(self) -> tuple[str, ...]:
        """Remove what a git of ours had half written when it was stopped, and say so."""
        objects_dir = self.report.repository.common_dir + b"/objects"
        removed = remove_own_leavings(self.report, objects_dir, self.session.written_when_stopped)
        return (removed_sentence(removed),) if removed else ()

    def _lost_lenders(self) -> Iterator[str]:
        """Yield a warning for each lender that git could not use: git only says so on stderr, and ends well."""
        if not self.session.commands:
            return
        for lender in self.report.alternate_stores:
            if lender.problem is not None:
                yield f"objects may be lacking: its lender {printable_path(lender.path)}: {lender.problem}"

    def _by_its_own_path(self, text: str) -> str:
        if self.stand_in_folder is None:
            return text
        return text.replace(self.stand_in_folder, printable_path(self.report.repository.common_dir))

    def received_objects(self, outcome: Outcome) -> int | None:
        """Return how many objects came: all that were announced, or, of a fetch that was stopped, as many as came."""
        if outcome.is_good or self.progress is None:
            return self.trace.object_count
        return self.progress.done_count

    def received_bytes(self, left_bytes: int = 0) -> int | None:
        """Return the size of what came; of what was unpacked at once, what it takes on disk. None if nothing came.

        `left_bytes` are those of a pack that did not come whole, of which git says nothing for half a second.
        """
        if self.trace.object_count is None:
            return None
        if self.trace.pack_bytes is None and self.progress is not None:
            return max(self.progress.received_bytes or 0, left_bytes)
        if self.trace.was_unpacked and self.unpacked_bytes is None:
            objects_dir = self.report.repository.common_dir + b"/objects"
            self.unpacked_bytes = loose_bytes_since(objects_dir, self.session.began_ns)
        return (self.trace.pack_bytes or 0) + (self.unpacked_bytes or 0)

    def asked_until_the_end(self) -> str | None:
        """Return the phase in which git was stopped; None if it ended by itself."""
        last = self.session.commands[-1] if self.session.commands else None
        if last is not None and last.ending is not None and _asks_remote(last):
            return "connect"
        return self.trace.unfinished

    def _timed(self) -> TraceFacts:
        """Return the trace with what was asked of the remote besides the fetch."""
        asked = [
            (command.started_at_s, command.started_at_s + (command.elapsed_s or 0.0), "connect")
            for command in self.session.commands
            if _asks_remote(command)
        ]
        return replace(self.trace, intervals=[*self.trace.intervals, *asked])

    def _left(self, outcome: Outcome) -> tuple[tuple[str, ...], int]:
        if outcome.is_good or not self.session.commands or self.remote.is_preview:
            return (), 0
        return temporary_files_since(self.report.repository.common_dir + b"/objects", self.session.began_ns)


def _asks_remote(command: RecordedCommand) -> bool:
    return "ls-remote" in command.argv


def _printable(change: ReferenceChange) -> ReferenceChange:
    return ReferenceChange(name=printable(change.name), kind=change.kind, old=change.old, new=change.new)


def fail(gathered: Gathered, error: BaseException) -> FetchResult:
    """Return the result of a fetch that an error ended."""
    verdict = classify(error)
    phase = gathered.asked_until_the_end() if verdict.outcome in {Outcome.TIMED_OUT, Outcome.CANCELLED} else None
    return gathered.result(verdict.outcome, verdict.reason, verdict.sentence + _MEANWHILE.get(phase or "", ""))


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
    return f"{would}{'; '.join(parts)}"


def _counts(kinds: Iterable[str]) -> list[str]:
    found = list(kinds)
    return [f"{found.count(word)} {'tag updated' if word == 'tag' else word}" for word in _WORDS if word in found]
