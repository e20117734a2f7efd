"""Who lends to a repository, as its report and its row say it: new, reused, and after the lender has changed."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitdash.history.store import History, open_history
from gitdash.model.report import Lender
from tests.support.repositories import GitRepository
from tests.survey.surveys import NOW_S, last_reports, survey


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(os.fspath(tmp_path / "state.db")) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "fleet").mkdir()
    return tmp_path / "fleet"


def lenders(root: Path, name: str, **options: object) -> tuple[Lender, ...]:
    found = last_reports(survey(root, **options))[name]
    assert found.summary.lenders == found.report.lenders
    return found.report.lenders


def known(repository: GitRepository, depth: int) -> Lender:
    return Lender(path=os.fsencode(repository.path), depth=depth, exists=True, is_known=True)


@pytest.fixture
def chain(root: Path) -> tuple[GitRepository, GitRepository]:
    """`top.git` borrows from `middle.git`, and that from `bottom.git`."""
    bottom, middle, top = (GitRepository.init(root / f"{name}.git") for name in ("bottom", "middle", "top"))
    bottom.commit({"a": "one\n"})
    middle.borrow_from(bottom)
    top.borrow_from(middle)
    return middle, bottom


def test_lenders_stand_in_the_order_in_which_git_follows_them(
    root: Path, chain: tuple[GitRepository, GitRepository]
) -> None:
    middle, bottom = chain
    assert lenders(root, "top.git") == (known(middle, 1), known(bottom, 2))
    assert lenders(root, "middle.git") == (known(bottom, 1),)
    assert lenders(root, "bottom.git") == ()


def test_lender_is_the_repository_of_a_work_tree_and_not_its_object_store(root: Path) -> None:
    clone = GitRepository.init(root / "clone", bare=False)
    clone.commit({"a": "one\n"})
    GitRepository.init(root / "member.git").borrow_from(clone)
    assert lenders(root, "member.git") == (known(clone, 1),)


def test_lender_outside_the_roots_is_its_object_store(root: Path) -> None:
    outside = GitRepository.init(root.parent / "outside.git")
    outside.commit({"a": "one\n"})
    GitRepository.init(root / "member.git").borrow_from(outside)
    objects = os.fsencode(outside.path / "objects")
    assert lenders(root, "member.git") == (Lender(path=objects, depth=1, exists=True, is_known=False),)


def test_lender_that_is_missing_stays_in_the_list_with_the_reason(root: Path) -> None:
    member = GitRepository.init(root / "member.git")
    (member.path / "objects/info").mkdir(exist_ok=True)
    (member.path / "objects/info/alternates").write_text("/nonexistent/objects\n")
    (lender,) = lenders(root, "member.git")
    assert (lender.path, lender.depth, lender.exists, lender.is_known) == (b"/nonexistent/objects", 1, False, False)
    assert lender.problem


def test_lenders_of_a_reused_report_are_those_of_a_new_one(
    root: Path, chain: tuple[GitRepository, GitRepository], history: History
) -> None:
    first = lenders(root, "top.git", history=history)
    assert lenders(root, "top.git", history=history, now_s=NOW_S + 60) == first
    stored = history.report(os.fsencode(root / "top.git"))
    assert stored is not None
    assert stored.lenders == first


def test_lender_that_goes_or_comes_into_the_survey_changes_the_reused_member(root: Path, history: History) -> None:
    pool = GitRepository.init(root.parent / "pool.git")
    pool.commit({"a": "one\n"})
    member = GitRepository.init(root / "inner" / "member.git")
    member.borrow_from(pool)
    outside = lenders(root, "member.git", history=history)
    assert [(lender.is_known, lender.exists) for lender in outside] == [(False, True)]
    assert lenders(root.parent, "member.git", history=history) == (known(pool, 1),)
    stored = [history.report(os.fsencode(member.path)), *history.summaries([os.fsencode(member.path)])]
    assert [one.lenders for one in stored if one is not None] == [(known(pool, 1),)] * 2
    shutil.rmtree(pool.path)
    gone = lenders(root, "member.git", history=history)
    assert [(lender.is_known, lender.exists) for lender in gone] == [(False, False)]
