"""Single objects of inspected repositories: looked up through a reader that stays open, and timed through a fresh one.

At most four readers are open, each warmed by an object that is there, so that the first question does not pay. git runs
in a shadow git directory: no configuration of the repository counts, so other owners' repositories and partial clones
can be read as well, and nothing is fetched. What could hold git up is looked for before; what comes later ends at the
time limit. A file system that does not answer holds up the thread that asks, and no other.

While packs of a repository are replaced, no reader of it or of its borrowers outlives its question: it would keep the
space of what was deleted. Questions are answered all the same, and those that were under way are asked again. Source:
VFS for Git, which closes its readers before it replaces packs, and warms new ones after.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeVar

import msgspec

from gitdash.errors import GitdashError
from gitdash.gitcmd.command_log import commands_for
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.lookup_times import ObjectMissingError, time_lookups
from gitdash.gitcmd.objects import DETAILED, DIGITS, PLAIN, ObjectReader, id_problem, open_reader, refused
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.inspection import Inspection
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.survey.alternates import compared_stores, lender_problem
from gitdash.survey.kept_readers import Kept, KeptReaders, close
from gitdash.survey.known_objects import known_objects, pack_count
from gitdash.survey.lenders import what_git_would_wait_for
from gitdash.units import printable

OPEN_LIMIT: Final = 4
"""Repositories that people go back and forth between."""
IDLE_LIMIT_S: Final = 900.0
"""A reader holds deleted packs open."""
TIME_LIMIT_S: Final = 10.0
"""Four times what the first look-up took among 800 packs on a network file system."""
_OBJECTS_TRIED: Final = 3

_Answer = TypeVar("_Answer")


class Readers:
    """The open readers; for any thread."""

    def __init__(
        self,
        program: GitProgram,
        *,
        limit: int = OPEN_LIMIT,
        idle_s: float = IDLE_LIMIT_S,
        time_limit_s: float = TIME_LIMIT_S,
    ) -> None:
        """Take which git answers; nothing is opened yet."""
        self._program = program
        self._time_limit_s = time_limit_s
        self._kept = KeptReaders(limit=limit, idle_s=idle_s)

    def look_up(self, report: RepositoryReport, text: str) -> ObjectAnswer:
        """Return what git says of an object id or of the beginning of one."""
        inspection = _inspection(report)
        if isinstance(inspection, Unreadable):
            return refused(text, inspection.reason)
        problem = id_problem(text, DIGITS[inspection.object_format])
        if problem is not None:
            return refused(text, problem)
        deadline_s = time.monotonic() + self._time_limit_s
        try:
            answer = self._asked(
                report,
                inspection,
                deadline_s,
                lambda kept: self._answer(kept, report, inspection, text, deadline_s),
            )
        except GitdashError as error:
            return refused(text, str(error))
        return _qualified(answer, inspection)

    def times(self, report: RepositoryReport) -> LookupTimes | Unreadable:
        """Return how long look-ups take through a fresh reader, and leave a warm one behind."""
        inspection = _inspection(report)
        if isinstance(inspection, Unreadable):
            return inspection
        deadline_s = time.monotonic() + self._time_limit_s
        try:
            found = self._asked(
                report,
                inspection,
                deadline_s,
                lambda kept: self._timed_and_warmed(kept, report, inspection, deadline_s),
            )
        except GitdashError as error:
            return Unreadable(printable(str(error)))
        return msgspec.structs.replace(found, pack_count=pack_count(report.repository, inspection))

    def close(self, path: bytes) -> None:
        """End the readers that may hold packs of a repository, those of its borrowers as well."""
        self._kept.end(path)

    def hold_off(self, common_dir: bytes) -> None:
        """End the readers that may hold packs of a repository and keep none open until `allow`, for packs go."""
        self._kept.hold_off(_real_store(common_dir + b"/objects"))

    def allow(self, common_dir: bytes) -> frozenset[bytes]:
        """Keep readers open again; return the paths of the repositories whose readers `hold_off` has ended."""
        return self._kept.allow(_real_store(common_dir + b"/objects"))

    def close_all(self) -> None:
        """End all readers, also those that answer; a later question opens one again."""
        self._kept.end()

    def _asked(
        self,
        report: RepositoryReport,
        inspection: Inspection,
        deadline_s: float,
        ask: Callable[[Kept], _Answer],
    ) -> _Answer:
        """Ask; once more whenever the reader was ended for packs that go."""
        while True:
            with commands_for(report.repository.path), self._borrowed(report, inspection, deadline_s) as kept:
                try:
                    return ask(kept)
                except GitError as error:
                    if error.kind is not GitFailure.CANCELLED or not kept.is_held_off:
                        raise

    @contextlib.contextmanager
    def _borrowed(self, report: RepositoryReport, inspection: Inspection, deadline_s: float) -> Iterator[Kept]:
        """Have the place of a repository's reader, empty if that does not know the lenders of today."""
        common_dir = report.repository.common_dir
        stores = compared_stores(common_dir, inspection)
        names = _names(report, stores)
        with self._kept.borrowed(common_dir, path=report.repository.path, names=names, deadline_s=deadline_s) as kept:
            if kept.stores != stores:
                close(kept)
                kept.stores = stores
            yield kept

    def _answer(
        self, kept: Kept, report: RepositoryReport, inspection: Inspection, text: str, deadline_s: float
    ) -> ObjectAnswer:
        """Ask; if a reader that was open has died meanwhile, ask another one."""
        if kept.reader is not None:
            try:
                return kept.reader.look_up(text, deadline_s=deadline_s)
            except GitError as error:
                close(kept)
                if error.kind is not GitFailure.FAILED:
                    raise
        reader = self._open_warm(kept, report, inspection, deadline_s)
        try:
            return reader.look_up(text, deadline_s=deadline_s)
        except GitError:
            close(kept)
            raise

    def _timed_and_warmed(
        self, kept: Kept, report: RepositoryReport, inspection: Inspection, deadline_s: float
    ) -> LookupTimes:
        found = self._timed(kept, report, inspection, deadline_s)
        with contextlib.suppress(GitError):
            self._open_warm(kept, report, inspection, deadline_s)
        return found

    def _timed(self, kept: Kept, report: RepositoryReport, inspection: Inspection, deadline_s: float) -> LookupTimes:
        """Time the first object that is there; each reader is good for one try."""
        close(kept)
        for object_id in islice(known_objects(report.repository, inspection), _OBJECTS_TRIED):
            reader = self._open(kept, inspection, PLAIN)
            try:
                return time_lookups(reader, object_id, time_limit_s=max(0.0, deadline_s - time.monotonic()))
            except ObjectMissingError:
                continue
            finally:
                close(kept)
        raise GitError("there is no object to look up", kind=GitFailure.NOT_STARTED)

    def _open_warm(
        self, kept: Kept, report: RepositoryReport, inspection: Inspection, deadline_s: float
    ) -> ObjectReader:
        reader = self._open(kept, inspection, DETAILED)
        try:
            for object_id in islice(known_objects(report.repository, inspection), 1):
                reader.has(object_id, deadline_s=deadline_s)
        except GitError:
            close(kept)
            raise
        return reader

    def _open(self, kept: Kept, inspection: Inspection, option: str) -> ObjectReader:
        own, *lenders = kept.stores
        for lender in lenders:
            problem = what_git_would_wait_for(lender)
            if problem is not None:
                raise GitError(problem.reason, kind=GitFailure.REFUSED)
        reader = open_reader(
            self._program, own, inspection.object_format, time_limit_s=self._time_limit_s, option=option
        )
        self._kept.put(kept, reader)
        return reader


def _inspection(report: RepositoryReport) -> Inspection | Unreadable:
    inspection = report.inspection
    if isinstance(inspection, Inspection) and isinstance(inspection.object_store, Unreadable):
        return inspection.object_store
    return inspection


def _names(report: RepositoryReport, stores: tuple[bytes, ...]) -> set[bytes]:
    """Return the paths of the repository and of its lenders, by whatever they may be called."""
    repository = report.repository
    names = {repository.path, repository.git_dir, *(lender.path for lender in report.lenders)}
    for store in stores:
        git_dir = os.path.dirname(store)
        names |= {store, git_dir, _real_store(store)}
        if os.path.basename(git_dir) == b".git":
            names.add(os.path.dirname(git_dir))
    return names


def _real_store(objects_dir: bytes) -> bytes:
    return os.path.realpath(objects_dir)


def _qualified(answer: ObjectAnswer, inspection: Inspection) -> ObjectAnswer:
    """Say so where an object that was not found may be in a place where git could not look."""
    if answer.object_id is not None or answer.problem is not None:
        return answer
    lacking = lender_problem(inspection)
    if lacking is not None:
        return msgspec.structs.replace(answer, problem=printable(f"not found, but {lacking.reason}"))
    if isinstance(inspection.config, ConfigFacts) and inspection.config.partial_clone:
        return msgspec.structs.replace(answer, problem="not found, but this partial clone may not have fetched it")
    return answer
