"""What every action of one process works with, and who hears of it."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from gitdash.gitcmd.git_program import GitProgram
from gitdash.maintenance.action_facts import NOBODY_LOOKED_FOR, Neighbourhood
from gitdash.model.ledger import LedgerEntry, StoreFigures
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository
from gitdash.model.task import Task
from gitdash.survey.bookkeeping import Bookkeeping
from gitdash.survey.inspect_now import inspect_again
from gitdash.survey.neighbourhood import look_around, remembered_loans
from gitdash.survey.single import Single, path_of_store, report_single

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History


_TAKES_OBJECTS: Final = frozenset({Task.RECLAIM, Task.UNLINK})
"""Tasks that must know whether another repository has the same object store."""
_NEEDS_LOANS: Final = _TAKES_OBJECTS | {Task.DEDUPLICATE, Task.SWEEP}
"""Tasks that must not be done to what another borrowed when it was last seen."""


class ActionWatch(Protocol):
    """Hears of one action, in the thread that does it; `ends` is called once, whatever happens."""

    @property
    def shows_progress(self) -> bool:
        """Whether `advances` does anything: to follow a fetch takes a parser that is slow to load."""

    def begins(self, before: StoreFigures) -> None:
        """Its turn has come."""

    def advances(
        self, step: str, done_count: int, known_count: int | None, *, received_bytes: int | None = None
    ) -> None:
        """Say how far a step is, by what git counts in it."""

    def ends(self, entries: Sequence[LedgerEntry]) -> None:
        """Take what the ledger says of it; nothing if it never began."""


class OpenReaders(Protocol):
    """The readers of objects that are open in this process."""

    def close(self, repository: Repository) -> None:
        """End those that may hold packs of a repository, and keep none open until `warm`, for its packs go."""

    def warm(self, repository: Repository) -> None:
        """Open again what was closed; called once after each `close`."""


class NoReaders:
    """Of a process that keeps none open."""

    def close(self, repository: Repository) -> None:
        """There is nothing to end."""

    def warm(self, repository: Repository) -> None:
        """There is nothing to open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionMeans:
    """The program, the settings, the books."""

    settings: "Settings"
    program: GitProgram
    history: "History | None"
    books: Bookkeeping
    clock: Callable[[], float]
    readers: OpenReaders

    def look(self, repository: Repository, known: RepositoryReport | None = None) -> RepositoryReport:
        """Read the facts of a repository now, and judge them; `known` adds what a survey has seen of others."""
        single = self._single(repository)
        facts = single.facts
        if known is not None and set(known.borrowers) - set(facts.borrowers):
            facts = msgspec.structs.replace(
                facts,
                borrowers=tuple(sorted({*known.borrowers, *facts.borrowers})),
                roles=tuple(dict.fromkeys((*facts.roles, *known.roles))),
            )
        if known is not None and not known.counts_store:
            facts = msgspec.structs.replace(facts, counts_store=False)
        return single.judge.with_sizes(facts, facts.sizes)

    def facts(self, repository: Repository) -> RepositoryReport:
        """Read the facts of a repository now; a fetch goes by no finding, and to judge takes as long as to read."""
        return self._single(repository).facts

    def read_again(self, report: RepositoryReport) -> RepositoryReport:
        """Read a repository's own files now."""
        repository = report.repository
        inspection = inspect_again(repository.git_dir, repository.common_dir, report.inspection, now_s=self.clock())
        return msgspec.structs.replace(report, inspection=inspection)

    def look_around(
        self, repository: Repository, tasks: Sequence[Task], cancel: threading.Event | None
    ) -> Neighbourhood:
        """Return who may need the objects of a repository; nobody is looked for where the tasks take none.

        No tasks are those that the findings name.
        """
        if tasks and _NEEDS_LOANS.isdisjoint(tasks):
            return NOBODY_LOOKED_FOR
        if _TAKES_OBJECTS.isdisjoint(tasks):
            return Neighbourhood(loans=remembered_loans(repository, self.history))
        return look_around(
            repository,
            settings=self.settings,
            history=self.history,
            effective_uid=os.geteuid(),
            cancel=cancel or threading.Event(),
        )

    def recorded_path(self, repository: Repository) -> bytes:
        """Return the path under which the ledger has what is done to a repository."""
        return path_of_store(repository, settings=self.settings, effective_uid=os.geteuid())

    def _single(self, repository: Repository) -> Single:
        return report_single(
            repository,
            settings=self.settings,
            history=self.history,
            program=self.program,
            effective_uid=os.geteuid(),
            now_s=self.clock(),
        )
