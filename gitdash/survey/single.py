"""One repository by itself: found from any path in it, inspected here, judged with its lenders.

Who borrows from it is known only from what was looked at before; from whom it borrows goes into the state file, so that
a lender is known to lend whatever was run on the borrower. Nothing else of this does.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gitdash.discovery.roots import DiscoveryLimits, RootError, discover
from gitdash.errors import GitdashError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.inspection.files import read_file
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import NotRepository, Repository, Unreadable
from gitdash.survey.inspect_now import inspect_now
from gitdash.survey.judging import Inspected, Judge
from gitdash.survey.lenders import store_fingerprint
from gitdash.survey.loans import Loans
from gitdash.survey.patience import silence, within
from gitdash.survey.store_state import StoreStates
from gitdash.units import printable_path

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History


class NoRepositoryError(GitdashError):
    """A command needs a repository, and the path leads to none."""

    def __init__(self, path: bytes, reason: str) -> None:
        super().__init__(f"'{printable_path(path)}' is not a repository: {reason}")
        self.path = path


class OrdinaryFolderError(NoRepositoryError):
    """There is a folder, and neither it nor any above it is a repository."""


def find_repository(path: bytes, *, settings: "Settings", effective_uid: int) -> Repository:
    """Return the repository at an absolute path, else the innermost one around it.

    Something broken on the way, such as an empty `.git`, is not passed by: the numbers of a repository further out
    would be another's. Raises NoRepositoryError, also for a file system that does not answer, and RootError if there is
    nothing at the path.
    """
    limit_s = settings.scan.time_limit_s
    try:
        return within(limit_s, partial(_find_repository, path, settings, effective_uid))
    except TimeoutError:
        raise NoRepositoryError(path, silence(limit_s)) from None


def _find_repository(path: bytes, settings: "Settings", effective_uid: int) -> Repository:
    folder = path
    while True:
        found = _repository_at(folder, settings, effective_uid)
        if isinstance(found, Repository):
            return found
        if found is not None:
            raise NoRepositoryError(path, f"{printable_path(found.path)}: {found.reason}")
        above = os.path.dirname(folder)
        if above == folder:
            raise OrdinaryFolderError(path, "nor does it lie in one")
        folder = above


def path_of_store(repository: Repository, *, settings: "Settings", effective_uid: int) -> bytes:
    """Return the path of the repository whose objects these are: of a linked worktree that is another.

    It is its own where that other one cannot be found.
    """
    if repository.has_own_store:
        return repository.path
    common_dir = os.path.realpath(repository.common_dir)
    folder, name = os.path.split(common_dir)
    try:
        owner = _repository_at(folder if name == b".git" else common_dir, settings, effective_uid)
    except GitdashError:
        return repository.path
    is_owner = isinstance(owner, Repository) and os.path.realpath(owner.common_dir) == common_dir
    return owner.path if isinstance(owner, Repository) and is_owner else repository.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One repository, and the judge that knows its lenders."""

    facts: RepositoryReport
    """Not judged: a size needs no findings, and their rules take 10 ms to import."""
    judge: Judge

    @property
    def report(self) -> RepositoryReport:
        """The facts with the findings that they give."""
        return self.judge.with_sizes(self.facts, self.facts.sizes)


def report_single(
    repository: Repository,
    *,
    settings: "Settings",
    history: "History | None",
    program: GitProgram,
    effective_uid: int,
    now_s: float,
) -> Single:
    """Inspect one repository and its lenders now, and remember who borrows."""
    stored = history.report(repository.path) if history is not None else None
    inspection = _inspect(repository, settings, now_s)
    one = Inspected(
        repository=repository, inspection=inspection, stored=_if_unchanged(stored, inspection), before=stored
    )
    inspected = [one, *_lenders(inspection, settings, effective_uid, now_s)]
    judge = _judge(inspected, settings, program, now_s)
    loans = Loans(history, inspected)
    judge.know(loans.other_borrowers())
    owners = {
        found.repository.path: path_of_store(found.repository, settings=settings, effective_uid=effective_uid)
        for found in inspected
    }
    loans.add(owners.__getitem__)
    return Single(facts=judge.facts(repository.path), judge=judge)


def unread_single(
    repository: Repository, reason: Unreadable, *, settings: "Settings", program: GitProgram, now_s: float
) -> Single:
    """Return what there is to say of a repository that could not be inspected; touches no file of it."""
    judge = _judge([Inspected(repository=repository, inspection=reason)], settings, program, now_s)
    return Single(facts=judge.facts(repository.path), judge=judge)


def _judge(inspected: Sequence[Inspected], settings: "Settings", program: GitProgram, now_s: float) -> Judge:
    return Judge(
        inspected,
        policy_for=settings.policy_for,
        outside_fingerprint=store_fingerprint,
        stores_fingerprint=StoreStates(now_s).fingerprint,
        git_version=program.version_text,
        now_s=now_s,
    )


def _repository_at(folder: bytes, settings: "Settings", effective_uid: int) -> Repository | NotRepository | None:
    """Return what this folder itself is; None if it is an ordinary one."""
    own = {folder, os.path.join(folder, b".git")}
    found = discover(
        [folder],
        DiscoveryLimits(maximum_depth=0, one_file_system=settings.scan.one_file_system),
        read=read_file,
        effective_uid=effective_uid,
        trusted_roots=settings.trusted_roots(),
    )
    for one in found:
        if isinstance(one, Repository) or one.path in own:
            return one
    return None


def _inspect(repository: Repository, settings: "Settings", now_s: float) -> Inspection | Unreadable:
    if repository.problem is not None:
        return Unreadable(repository.problem)
    return inspect_now(
        repository.git_dir,
        repository.common_dir,
        now_s=now_s,
        loose_stale_age_s=settings.policy_for(repository.path).loose_stale_age_s,
    )


def _if_unchanged(stored: RepositoryReport | None, inspection: Inspection | Unreadable) -> RepositoryReport | None:
    if stored is None or isinstance(stored.inspection, Unreadable) or isinstance(inspection, Unreadable):
        return None
    return stored if stored.inspection.fingerprint == inspection.fingerprint else None


def _lenders(
    inspection: Inspection | Unreadable, settings: "Settings", effective_uid: int, now_s: float
) -> Iterator[Inspected]:
    if isinstance(inspection, Unreadable):
        return
    for alternate in inspection.alternate_stores:
        folder, name = os.path.split(alternate.path)
        is_in_repository = alternate.exists and name == b"objects"
        lender = None
        if is_in_repository:
            # one that went away since its borrower was read is as good as not there
            with contextlib.suppress(RootError):
                lender = _repository_at(folder, settings, effective_uid)
        if isinstance(lender, Repository):
            yield Inspected(repository=lender, inspection=_inspect(lender, settings, now_s))
