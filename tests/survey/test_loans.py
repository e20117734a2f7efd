"""A lender that is scanned by itself is known to lend, as long as its borrowers are there."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gitdash.config.settings import Settings
from gitdash.history.store import History, open_history
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Role
from gitdash.survey.single import find_repository, report_single
from tests.measurement.built import git_program
from tests.support.repositories import GitRepository
from tests.survey.surveys import NOW_S, finished, last_reports, survey


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(os.fspath(tmp_path / "state.db")) as opened:
        yield opened


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A pool and its members in two folders; the second member borrows through the first one, too."""
    root = tmp_path / "fleet"
    pool = GitRepository.init(root / "pools" / "pool.git")
    pool.commit({"a": "one\n"})
    for name in ("one", "two"):
        member = GitRepository.init(root / "members" / f"{name}.git")
        member.borrow_from(pool)
        member.commit({name: name})
    return root


def pool_report(root: Path, history: History | None) -> RepositoryReport:
    return last_reports(survey(root, history=history))["pool.git"].report


def members(fleet: Path, *names: str) -> tuple[bytes, ...]:
    return tuple(os.fsencode(fleet / "members" / f"{name}.git") for name in names)


def test_lender_by_itself_is_judged_as_in_the_survey_of_all(fleet: Path, history: History) -> None:
    whole = pool_report(fleet, history)
    assert whole.borrowers == members(fleet, "one", "two")
    alone = pool_report(fleet / "pools", history)
    assert (alone.borrowers, alone.roles, alone.findings) == (whole.borrowers, whole.roles, whole.findings)
    assert "pool-automatic-gc" in {finding.rule for finding in alone.findings}
    assert pool_report(fleet / "pools" / "pool.git", history).borrowers == whole.borrowers
    assert finished(survey(fleet, history=history)).reused_count == 3
    assert pool_report(fleet, history) == whole
    assert pool_report(fleet / "pools", None).roles == (Role.PLAIN,)


def test_survey_that_covers_a_borrower_says_what_is_true_of_it(fleet: Path, history: History) -> None:
    pool_report(fleet, history)
    (fleet / "members" / "one.git" / "objects" / "info" / "alternates").write_text("")
    survey(fleet / "members" / "one.git", history=history)
    assert pool_report(fleet / "pools", history).borrowers == members(fleet, "two")
    GitRepository(fleet / "members" / "one.git").borrow_from(GitRepository(fleet / "pools" / "pool.git"))
    assert pool_report(fleet / "pools", history).borrowers == members(fleet, "two")
    survey(fleet / "members" / "one.git", history=history)
    assert pool_report(fleet / "pools", history).borrowers == members(fleet, "one", "two")


def test_repository_whose_objects_are_a_link_is_remembered_by_whose_they_are(fleet: Path, history: History) -> None:
    pool, linked = fleet / "pools" / "pool.git", GitRepository.init(fleet / "links" / "linked.git")
    linked.commit({"a": "1"})
    shutil.rmtree(linked.git_dir / "objects")
    (linked.git_dir / "objects").symlink_to(pool / "objects")
    expected = tuple(sorted((os.fsencode(linked.path), *members(fleet, "one", "two"))))
    survey(fleet, history=history)
    assert pool_report(fleet / "pools", history).borrowers == expected
    assert pool_report(pool, history).borrowers == expected
    assert pool_report(fleet, history).borrowers == members(fleet, "one", "two")
    alone = last_reports(survey(fleet / "links", history=history))["linked.git"].report
    assert os.fsencode(linked.path) not in alone.borrowers
    shutil.rmtree(fleet / "links")
    survey(fleet, history=history)
    assert pool_report(fleet / "pools", history).borrowers == members(fleet, "one", "two")


def test_borrower_without_alternates_file_does_not_count_and_is_not_forgotten(fleet: Path, history: History) -> None:
    pool_report(fleet, history)
    (fleet / "members").rename(fleet.parent / "unmounted")
    assert pool_report(fleet / "pools", history).roles == (Role.PLAIN,)
    (fleet.parent / "unmounted").rename(fleet / "members")
    assert pool_report(fleet / "pools", history).borrowers == members(fleet, "one", "two")


def test_borrower_that_is_gone_from_its_root_borrows_again_when_it_is_back(fleet: Path, history: History) -> None:
    pool_report(fleet, history)
    one = fleet / "members" / "one.git"
    shutil.move(one, fleet.parent / "kept.git")
    assert pool_report(fleet, history).borrowers == members(fleet, "two")
    shutil.move(fleet.parent / "kept.git", one)
    assert pool_report(fleet / "pools", history).borrowers == members(fleet, "one", "two")


def borrowers(history: History) -> set[bytes]:
    """Who is remembered, whether it is there or not."""
    return {loan.borrower for loan in history.loans.all()}


def test_survey_that_reads_the_borrower_ends_its_loan(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    (fleet / "members" / "one.git" / "objects" / "info" / "alternates").unlink()
    survey(fleet, history=history)
    assert borrowers(history) == set(members(fleet, "two"))


@pytest.mark.safety
@pytest.mark.parametrize("instead", ["nothing", "empty folder", "file", "link loop", "no repository"])
def test_survey_that_does_not_see_the_borrower_ends_nothing(fleet: Path, history: History, instead: str) -> None:
    survey(fleet, history=history)
    one = fleet / "members" / "one.git"
    one.rename(fleet.parent / "away.git")
    match instead:
        case "empty folder":
            one.mkdir()
        case "file":
            one.write_text("")
        case "link loop":
            one.symlink_to("one.git")
        case "no repository":
            (one / "objects" / "info").mkdir(parents=True)
    survey(fleet, history=history)
    survey(fleet / "members", history=history)
    assert borrowers(history) == set(members(fleet, "one", "two"))


@pytest.mark.safety
def test_survey_that_does_not_see_the_lender_ends_nothing(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    (fleet / "pools").rename(fleet.parent / "away")
    survey(fleet, history=history)
    assert borrowers(history) == set(members(fleet, "one", "two"))


@pytest.mark.safety
def test_repository_in_place_of_a_borrower_ends_no_loan(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    (fleet / "members" / "one.git").rename(fleet.parent / "aside.git")
    GitRepository.init(fleet / "members" / "one.git").commit({"a": "own"})
    survey(fleet, history=history)
    assert borrowers(history) == set(members(fleet, "one", "two"))


@pytest.mark.safety
@pytest.mark.parametrize("place", [None, (2**40, 0), (0, 2**60)])
def test_loan_of_another_folder_at_the_same_path_is_kept(
    fleet: Path, history: History, place: tuple[int, int] | None
) -> None:
    survey(fleet, history=history)
    one = fleet / "members" / "one.git" / "objects" / "info"
    (loan,) = (loan for loan in history.loans.all() if loan.borrower == members(fleet, "one")[0])
    assert loan.place == (one.stat().st_dev, one.stat().st_ino)
    other = msgspec.structs.replace(loan, place=place and tuple(map(max, place, loan.place)))
    history.loans.change(ended=[loan], new=[other])
    (one / "alternates").unlink()
    survey(fleet, history=history)
    assert other in history.loans.all()


def places(history: History, fleet: Path) -> set[tuple[int, int] | None]:
    return {loan.place for loan in history.loans.all() if loan.borrower == members(fleet, "one")[0]}


def test_loan_of_which_the_folder_was_not_known_is_the_one_that_is_seen(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    (loan,) = (loan for loan in history.loans.all() if loan.borrower == members(fleet, "one")[0])
    history.loans.change(ended=[loan], new=[msgspec.structs.replace(loan, place=None)])
    survey(fleet, history=history)
    assert places(history, fleet) == {loan.place}


def test_folders_that_were_a_borrower_at_one_path_do_not_become_more_and_more(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    (loan,) = (loan for loan in history.loans.all() if loan.borrower == members(fleet, "one")[0])
    assert loan.place is not None
    elsewhere = (loan.place[0] + 1, 5)
    former = {elsewhere, *((loan.place[0], 2**50 + number) for number in range(6))}
    history.loans.change(ended=[], new=[msgspec.structs.replace(loan, place=place) for place in former])
    survey(fleet, history=history)
    assert places(history, fleet) == {loan.place, *former}
    history.loans.change(ended=[], new=[msgspec.structs.replace(loan, place=(loan.place[0], 2**50 + 6))])
    survey(fleet, history=history)
    assert places(history, fleet) == {loan.place, elsewhere}


@pytest.mark.safety
def test_folder_that_got_the_inode_of_a_lender_is_no_lender(fleet: Path, history: History) -> None:
    pool_report(fleet, history)
    (fleet / "pools" / "pool.git").rename(fleet / "pools" / "other.git")
    reports = last_reports(survey(fleet / "pools", history=history))
    assert reports["other.git"].report.roles == (Role.PLAIN,)


def test_unreadable_alternates_leave_what_was_known(fleet: Path, history: History) -> None:
    pool_report(fleet, history)
    alternates = fleet / "members" / "one.git" / "objects" / "info" / "alternates"
    content = alternates.read_bytes()
    alternates.unlink()
    alternates.mkdir()
    assert pool_report(fleet, history).borrowers == members(fleet, "one", "two")
    alternates.rmdir()
    alternates.write_bytes(content)
    assert pool_report(fleet / "pools", history).borrowers == members(fleet, "one", "two")


def test_worktree_of_a_borrower_is_the_same_borrower(fleet: Path, history: History) -> None:
    pool = GitRepository(fleet / "pools" / "pool.git")
    work = GitRepository.init(fleet / "members" / "work", bare=False)
    work.borrow_from(pool)
    work.commit({"x": "x"})
    work.git("worktree", "add", "-q", fleet / "members" / "a-linked", "-b", "topic")
    everyone = pool_report(fleet, history).borrowers
    assert everyone == (*members(fleet, "one", "two"), os.fsencode(work.path))
    survey(fleet / "members" / "a-linked", history=history)
    assert len(pool_report(fleet / "pools", history).borrowers) == 3


def test_one_repository_by_itself_knows_its_borrowers(fleet: Path, history: History) -> None:
    whole = pool_report(fleet, history)
    settings = Settings()
    path = os.fsencode(fleet / "pools" / "pool.git")
    single = report_single(
        find_repository(path, settings=settings, effective_uid=os.geteuid()),
        settings=settings,
        history=history,
        program=git_program(),
        effective_uid=os.geteuid(),
        now_s=NOW_S,
    )
    assert single.report.borrowers == whole.borrowers
    assert single.report.roles == whole.roles
    assert single.report.findings == whole.findings


@pytest.mark.safety
def test_borrower_whose_file_system_may_be_missing_still_borrows(fleet: Path, history: History, tmp_path: Path) -> None:
    assert pool_report(fleet, history).borrowers == members(fleet, "one", "two")
    (fleet / "members").rename(tmp_path / "unmounted")
    # a mount point where nothing is mounted
    (fleet / "members").mkdir()
    assert pool_report(fleet, history).borrowers == members(fleet, "one", "two")
    (fleet / "members").rmdir()
    assert pool_report(fleet, history).borrowers == ()
