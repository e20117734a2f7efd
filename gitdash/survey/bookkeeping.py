"""Entries of the ledger for what this process does: one before an action begins, the same again when it has ended.

In between it is written before each command, so that after a SIGKILL it says what was under way.
"""

import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import msgspec

from gitdash import __version__
from gitdash.gitcmd.command_log import COMMAND_LOG, KEPT_FOR_EACH
from gitdash.gitcmd.git_program import GitProgram
from gitdash.history.cut_off import ProcessIdentity, is_action_alive, this_process
from gitdash.history.ledger import Ledger
from gitdash.maintenance.fetching.timing import OTHER
from gitdash.maintenance.running import TaskResult
from gitdash.model.command import CommandRecord
from gitdash.model.fetch import FetchResult
from gitdash.model.ledger import LedgerEntry, Outcome, Phase, Reason, RecordedCommand, StoreFigures
from gitdash.model.task import Task


class Bookkeeping:
    """The ledger, as one process writes to it; for any thread."""

    def __init__(self, ledger: Ledger, program: GitProgram, clock: Callable[[], float]) -> None:
        self.ledger = ledger
        self._program = program
        self._clock = clock

    def new_run(self) -> str:
        """Return an id for what is started together."""
        return uuid.uuid4().hex

    def begin(  # noqa: PLR0913 - what is known of an action that begins, each by name
        self,
        action: str,
        path: bytes,
        *,
        run: str,
        task: Task | None = None,
        remote: str | None = None,
        choices: tuple[str, ...] = (),
        is_preview: bool = False,
    ) -> "OpenEntry":
        """Write that an action begins."""
        identity = self._identity
        entry = LedgerEntry(
            number=0,
            run=run,
            action=action,
            task=task,
            remote=remote,
            is_preview=is_preview,
            path=path,
            outcome=Outcome.RUNNING,
            started_at_s=self._clock(),
            gitdash_version=__version__,
            git_version=self._program.version_text,
            choices=choices,
            process_id=identity.process_id,
            process_started_at_s=identity.started_at_s,
            host=identity.host,
        )
        return OpenEntry(self.ledger, self.ledger.begin(entry))

    def done_elsewhere(self, action: str, path: bytes, remote: str) -> LedgerEntry | None:
        """Return the entry of another process that does the same now, as far as it writes to the same ledger."""
        alike = (
            entry
            for entry in self.ledger.open_entries()
            if (entry.action, entry.path, entry.remote) == (action, path, remote)
            and not entry.is_preview
            and entry.process_id != self._identity.process_id
        )
        return next(filter(is_action_alive, alike), None)

    @cached_property
    def _identity(self) -> ProcessIdentity:
        return this_process()


class OpenEntry:
    """The entry of an action that runs."""

    def __init__(self, ledger: Ledger, entry: LedgerEntry) -> None:
        self._ledger = ledger
        self._entry = entry
        self._began_s = time.monotonic()
        self._numbers: deque[int] = deque(maxlen=KEPT_FOR_EACH)
        """Of its commands, in the log of all."""

    def note_before(self, figures: StoreFigures) -> None:
        """Take what is there before; it is written together with the first command."""
        self._entry = msgspec.structs.replace(self._entry, before=figures)

    def begin_command(self, number: int) -> None:
        """Write that a command of the log is about to start, and what became of those before it."""
        self._numbers.append(number)
        commands = [command for command in map(COMMAND_LOG.record, self._numbers) if command is not None]
        self._entry = msgspec.structs.replace(self._entry, commands=tuple(map(self._recorded, commands)))
        self._ledger.put(self._entry)

    def _recorded(self, command: CommandRecord) -> RecordedCommand:
        return RecordedCommand(
            argv=command.argv,
            started_at_s=self._entry.started_at_s + command.started_s - self._began_s,
            elapsed_s=command.elapsed_s,
            exit_code=command.exit_code,
            ending=command.ending,
            stderr=command.stderr,
        )

    def end_task(self, result: TaskResult) -> LedgerEntry:
        """Write what came of a task."""
        return self._end(
            outcome=result.outcome,
            reason=result.reason,
            sentence=result.sentence,
            before=result.before,
            after=result.after,
            removed=result.removed,
            removed_count=result.removed_count,
            dropped_ids=result.dropped_ids,
            dropped_count=result.dropped_count,
            commands=result.commands,
            leftovers=result.leftovers,
        )

    def end_fetch(self, result: FetchResult, *, before: StoreFigures | None, after: StoreFigures | None) -> LedgerEntry:
        """Write what came of a fetch."""
        return self._end(
            outcome=result.outcome,
            reason=result.reason,
            sentence=result.sentence,
            choices=result.choices,
            before=before,
            after=after,
            phases=tuple(self._phases(result.phases)),
            received_objects=result.received_objects,
            received_bytes=result.received_bytes,
            reference_changes=result.reference_changes,
            reference_change_count=result.reference_change_count,
            commands=result.commands,
            leftovers=result.leftovers,
        )

    def _phases(self, of_fetch: Sequence[Phase]) -> Iterator[Phase]:
        """Yield the phases so that they are all the time until now: reading the figures is part of the last."""
        rest_s = time.monotonic() - self._began_s - sum(phase.elapsed_s for phase in of_fetch)
        known_other_s = sum(phase.elapsed_s for phase in of_fetch if phase.name == OTHER)
        if of_fetch:
            yield from (phase for phase in of_fetch if phase.name != OTHER)
            yield Phase(name=OTHER, elapsed_s=known_other_s + max(rest_s, 0.0))

    def end(self, outcome: Outcome, reason: Reason | None, sentence: str) -> LedgerEntry:
        """Write that it ended without a result."""
        return self._end(outcome=outcome, reason=reason, sentence=sentence)

    def _end(self, **fields: object) -> LedgerEntry:
        entry = msgspec.structs.replace(self._entry, elapsed_s=time.monotonic() - self._began_s, **fields)
        self._ledger.put(entry)
        return entry
