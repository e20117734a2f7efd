"""What every action of one process works with, and who hears of it."""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from gitdash.gitcmd.git_program import GitProgram
from gitdash.model.ledger import LedgerEntry, StoreFigures
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository
from gitdash.model.task import Task
from gitdash.survey.bookkeeping import Bookkeeping
from gitdash.survey.single import Single, path_of_store, report_single

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History


NEEDS_OTHERS: Final = frozenset({Task.RECLAIM, Task.UNLINK})
"""Tasks that must know whether another repository has the same object store."""
_BESIDE_MAXIMUM_COUNT: Final = 20_000


class ActionWatch(Protocol):
    """Hears of one action, in the thread that does it; `ends` is called once, whatever happens."""

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

    def others(self, repository: Repository) -> frozenset[bytes]:
        """Return the paths of all repositories that the state file knows, and of what lies beside this one."""
        known: list[bytes] = []
        if self.history is not None:
            known = [*self.history.paths([b"/"]), *(loan.borrower for loan in self.history.loans())]
        beside: list[bytes] = []
        folder = os.path.dirname(repository.path)
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            beside = [entry.path for entry in islice(entries, _BESIDE_MAXIMUM_COUNT)]
        return frozenset((*known, *beside)) - {repository.path}

    @property
    def has_memory(self) -> bool:
        """Whether it is known what earlier runs saw: there is a state file, and what is configured was looked at."""
        if self.history is None or self.history.problem is not None:
            return False
        roots = [os.fsencode(root) for root in self.settings.roots]
        return not roots or bool(self.history.paths(roots))

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
