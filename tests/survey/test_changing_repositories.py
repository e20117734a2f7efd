"""Sizes of repositories that change between their inspection and the measurement, and during it."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.config.settings import Settings
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.installed import find_git
from gitdash.model.report import RepositoryReport
from gitdash.model.sizes import Question, SizeMeasurement
from gitdash.survey import sizing as sizing_module
from gitdash.survey.single import find_repository, report_single
from gitdash.survey.sizing import Sizing
from tests.support.repositories import GIT, GitRepository

NOW_S = 1_900_000_000.0
PROGRAM = find_git(GIT)
QUERY = ("rev-list", "--all", "--objects", "--disk-usage")


def report_of(repository: GitRepository) -> RepositoryReport:
    found = find_repository(os.fsencode(repository.path), settings=Settings(), effective_uid=os.geteuid())
    return report_single(
        found, settings=Settings(), history=None, program=PROGRAM, effective_uid=os.geteuid(), now_s=NOW_S
    ).facts


def ask(report: RepositoryReport, question: Question = Question.REACHABLE) -> SizeMeasurement:
    sizing = Sizing(PROGRAM, history=None, clock=lambda: NOW_S, time_limit_s=60.0)
    answer = sizing(report, question, cancel=threading.Event())
    assert isinstance(answer, SizeMeasurement), answer
    return answer


def grow(repository: GitRepository) -> None:
    repository.commit({"big": os.urandom(100_000)})


def grow_and_repack(repository: GitRepository) -> None:
    grow(repository)
    repository.repack()


def make(path: Path) -> GitRepository:
    repository = GitRepository.init(path)
    repository.commit({"a": "a"})
    return repository


@pytest.mark.oracle
@pytest.mark.parametrize("change", [grow, grow_and_repack])
def test_a_repository_that_has_grown_since_its_inspection_is_measured_as_it_is_now(
    change: Callable[[GitRepository], None], tmp_path: Path
) -> None:
    repository = make(tmp_path / "r.git")
    report = report_of(repository)
    change(repository)
    size = ask(report)
    assert (str(size.bytes), size.exact, size.warnings) == (repository.git(*QUERY), True, ())


@pytest.mark.oracle
def test_a_lender_that_has_grown_since_the_inspection_of_its_member(tmp_path: Path) -> None:
    lender = make(tmp_path / "lender.git")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    report = report_of(member)
    grow_and_repack(lender)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    assert str(ask(report).bytes) == member.git(*QUERY)
    assert ask(report, Question.REACHABLE_OWN).bytes == 0


@pytest.mark.parametrize(("growing_count", "asked_count"), [(0, 1), (1, 2), (9, 3)])
def test_a_size_that_stays_impossible_is_asked_for_again_only_while_the_files_change(
    growing_count: int, asked_count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make(tmp_path / "r.git")
    report = report_of(repository)
    asked: list[object] = []

    def measure_reachable(request: object, *_: object, **__: object) -> SizeMeasurement:
        asked.append(request)
        if len(asked) <= growing_count:
            grow(repository)
        raise GitError("impossible", kind=GitFailure.FAILED)

    monkeypatch.setattr(sizing_module, "measure_reachable", measure_reachable)
    with pytest.raises(GitError, match="impossible"):
        ask(report)
    assert len(asked) == asked_count


def test_a_measurement_that_took_too_long_is_not_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make(tmp_path / "r.git")
    report = report_of(repository)
    asked: list[object] = []

    def measure_reachable(request: object, *_: object, **__: object) -> SizeMeasurement:
        asked.append(request)
        grow(repository)
        raise GitError("too long", kind=GitFailure.TIMED_OUT)

    monkeypatch.setattr(sizing_module, "measure_reachable", measure_reachable)
    with pytest.raises(GitError, match="too long"):
        ask(report)
    assert len(asked) == 1
