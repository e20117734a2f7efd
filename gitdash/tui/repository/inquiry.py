"""What the screen of one repository asks of the source besides the report, and what came of it.

It draws nothing. Everything is asked in the background; a question that is open is not asked again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gitdash.model.command import CommandRecord
from gitdash.model.held_packs import HeldPacks
from gitdash.model.ledger import LedgerEntry
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.namespaces import ReferenceNamespaces
from gitdash.model.repository import Unreadable
from gitdash.tui.repository.view import Need
from gitdash.tui.source import Changes, FleetSource

_KEPT: Final = 100
"""Answers, and ids that were asked for."""


class Inquiry:
    """Questions and answers about one repository."""

    def __init__(self, source: FleetSource, path: bytes, monotonic: Callable[[], float]) -> None:
        self._source = source
        self._path = path
        self._monotonic = monotonic
        self._ask: Final = {
            Need.NAMESPACES: source.request_namespaces,
            Need.LOOKUP_TIMES: source.request_lookup_times,
            Need.ENTRIES: source.request_entries,
        }
        self._commands_version = -1
        self.namespaces: ReferenceNamespaces | Unreadable | None = None
        self.lookup_times: LookupTimes | Unreadable | None = None
        self.held_packs: HeldPacks | Unreadable | None = None
        self.entries: Sequence[LedgerEntry] | None = None
        self.answers: deque[ObjectAnswer] = deque(maxlen=_KEPT)
        """The latest first."""
        self.answer_count = 0
        self.looking_up: deque[tuple[str, float]] = deque(maxlen=_KEPT)
        """As in `RepositoryView`."""
        self.commands: Sequence[CommandRecord] = ()
        self.waiting_since_s: dict[Need, float] = {}
        self.answered_at_s: dict[Need, float] = {}
        self._has_reader = False

    def need(self, needs: Iterable[Need], *, again: bool = False) -> None:
        """Ask for what is needed and not known, or, if `again`, for all of it."""
        for need in needs:
            if need is Need.COMMANDS:
                self.take_commands()
            elif need not in self.waiting_since_s and (again or need not in self.answered_at_s):
                self._has_reader = self._has_reader or need is Need.LOOKUP_TIMES
                self.waiting_since_s[need] = self._monotonic()
                self._ask[need](self._path)

    def look_up(self, text: str) -> None:
        """Ask for an object."""
        self._has_reader = True
        self.looking_up.appendleft((text, self._monotonic()))
        self._source.look_up(self._path, text)

    def take_in(self, changes: Changes) -> None:
        """Write down the answers."""
        path = self._path
        if path in changes.namespaces:
            self.namespaces = changes.namespaces[path]
            self._note_answer(Need.NAMESPACES)
        if path in changes.lookup_times:
            self.lookup_times = changes.lookup_times[path]
            self._note_answer(Need.LOOKUP_TIMES)
        self.held_packs = changes.held_packs.get(path, self.held_packs)
        if path in changes.entries:
            self.entries = changes.entries[path]
            self._note_answer(Need.ENTRIES)
        if any(job.path == path and job.state.has_ended for job in changes.jobs.values()):
            # there is more in the ledger by now
            self.answered_at_s.pop(Need.ENTRIES, None)
        for answer in changes.objects.get(path, ()):
            self.answers.appendleft(answer)
            self.answer_count += 1
            if self.looking_up:
                self.looking_up.pop()

    def take_commands(self) -> bool:
        """Take over the commands if there are others than before; return whether the page has to be drawn anew."""
        version = self._source.commands_version(self._path)
        if version != self._commands_version:
            self._commands_version = version
            self.commands = self._source.commands(self._path)
            return True
        return any(record.elapsed_s is None for record in self.commands)

    def is_waiting(self) -> bool:
        """Tell whether a question is open."""
        return bool(self.waiting_since_s or self.looking_up)

    def end(self) -> None:
        """The repository is out of view: its reader, if one was asked for, may be closed."""
        if self._has_reader:
            self._source.close_readers(self._path)

    def _note_answer(self, need: Need) -> None:
        self.waiting_since_s.pop(need, None)
        self.answered_at_s[need] = self._monotonic()
