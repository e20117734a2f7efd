"""Which repositories `fetch` and `maintain` act on: those that are named, all below a folder, or what is selected."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitdash.cli.output import say
from gitdash.cli.run import say_candidate, say_failures, survey_roots
from gitdash.cli.selection import Selection
from gitdash.cli.session import Session, absolute_path
from gitdash.errors import ExitCode, GitdashError
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import NotRepository, Repository
from gitdash.survey.each_store import each_store_once
from gitdash.survey.searching import search_roots
from gitdash.survey.single import NoRepositoryError, OrdinaryFolderError, find_repository


@dataclass(frozen=True, slots=True)
class Meant:
    """What a command acts on."""

    repositories: Sequence[Repository]
    """Each once."""
    exit_code: int
    named: frozenset[bytes] = frozenset()
    """Paths of those that somebody named: the others lie below a folder, or were selected."""
    known: Mapping[bytes, RepositoryReport] = field(default_factory=dict)
    """By path, what was seen of them when all were looked at, such as who borrows."""


def repositories(session: Session, paths: Sequence[bytes], where: str | None) -> Meant:
    """Return the repositories that are meant, and an exit code; says which could not be found.

    Where none is one, the command was not meant so; where some are, it has failed at the others. With `where`, an SQL
    condition, all below the paths are surveyed, and it is no failure if none is selected.
    """
    if where is not None:
        return _selected(session, paths, Selection(where))
    found: dict[bytes, Repository] = {}
    named: set[bytes] = set()
    all_found = True
    for path in paths:
        try:
            for repository, is_named in _meant_by(session, absolute_path(path)):
                found.setdefault(repository.path, repository)
                if is_named:
                    named.add(repository.path)
        except GitdashError as error:
            say(f"gitdash: {error}")
            all_found = False
    if not found:
        return Meant([], ExitCode.WRONG_USE)
    exit_code = ExitCode.DONE if all_found else ExitCode.FINDINGS
    return Meant(each_store_once(found.values()), exit_code, frozenset(named))


def _meant_by(session: Session, path: bytes) -> Iterator[tuple[Repository, bool]]:
    """Yield the repository at or around a path, which it names, else all below it. Raises GitdashError if none is."""
    settings, effective_uid = session.settings, os.geteuid()
    try:
        yield find_repository(path, settings=settings, effective_uid=effective_uid), True
    except OrdinaryFolderError:
        count = 0
        searching = search_roots([path], settings=settings, effective_uid=effective_uid, cancel=threading.Event())
        for one in searching.results():
            if isinstance(one, Repository):
                count += 1
                yield one, False
            elif isinstance(one, NotRepository):
                say_candidate(one)
        if not count:
            raise NoRepositoryError(path, "nor does it lie in one, nor is there one below it") from None


def _selected(session: Session, paths: Sequence[bytes], selection: Selection) -> Meant:
    survey = survey_roots(session, tuple(map(absolute_path, paths)), selection.sizes, selection.choose)
    rows = survey.rows()
    has_failed = say_failures(survey, selection.concerned(rows))
    selected = [survey.reports[row.path].repository for row in selection.selected(rows)]
    if not selected:
        say("gitdash: no repository is selected")
    exit_code = ExitCode.FINDINGS if has_failed else ExitCode.DONE
    return Meant(each_store_once(selected), exit_code, known=survey.reports)
