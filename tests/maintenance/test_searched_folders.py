"""Below which folders reclaim looks for borrowers: all around the repository that were ever searched, end to end."""

import json
from pathlib import Path

import pytest

from gitdash.errors import ExitCode
from tests.cli.process import Gitdash
from tests.support.old_stores import complaints, grow_old
from tests.support.repositories import GitRepository

pytestmark = pytest.mark.safety


@pytest.fixture
def gitdash(tmp_path: Path) -> Gitdash:
    return Gitdash.make(tmp_path / "run")


def fleet(folder: Path) -> tuple[GitRepository, GitRepository]:
    """Return q/a/lend.git, of which nothing but q/b/borrow.git needs a commit, and that one, which has yet to come."""
    lender = GitRepository.init(folder / "q" / "a" / "lend.git")
    lender.commit({"a": "1"})
    tip = lender.commit({"b": "only the borrower's"}, reference="refs/heads/gone")
    borrower = GitRepository.init(folder / "borrow.git")
    borrower.borrow_from(lender)
    borrower.git("update-ref", "refs/heads/main", tip)
    lender.git("update-ref", "-d", "refs/heads/gone")
    grow_old(lender)
    (folder / "q" / "b").mkdir()
    return lender, borrower


def arrive(borrower: GitRepository, folder: Path) -> None:
    borrower.path = borrower.path.rename(folder / "borrow.git")


def reclaim(gitdash: Gitdash, lender: Path) -> tuple[int, str]:
    ended = gitdash.run("maintain", lender, "--task", "reclaim", "--confirm", "lend.git")
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("command", ["scan", "check", "maintain"])
@pytest.mark.parametrize("narrower", ["q/a", "q/a/lend.git"])
def test_search_of_a_folder_or_repository_inside_takes_nothing_from_a_wider_one(
    tmp_path: Path, gitdash: Gitdash, command: str, narrower: str
) -> None:
    lender, borrower = fleet(tmp_path)
    gitdash.run("scan", tmp_path / "q")
    gitdash.run(command, tmp_path / narrower, *(["--dry-run"] if command == "maintain" else []))
    arrive(borrower, tmp_path / "q" / "b")
    exit_code, output = reclaim(gitdash, lender.path)
    assert (exit_code, "q/b/borrow.git borrows from it" in output) == (ExitCode.REFUSED, True), output
    assert not complaints(borrower)


def test_search_of_one_repository_leaves_the_folder_around_it_searched(tmp_path: Path, gitdash: Gitdash) -> None:
    lender, borrower = fleet(tmp_path)
    borrower.path.rename(tmp_path / "run" / "borrow.git")
    gitdash.run("scan", tmp_path / "q")
    gitdash.run("scan", lender.path)
    exit_code, output = reclaim(gitdash, lender.path)
    assert (exit_code, f"looked for borrowers below {tmp_path}/q" in output) == (ExitCode.DONE, True), output


@pytest.mark.parametrize("known_by", ["a link", "its former name"])
def test_folder_that_was_searched_is_known_by_another_name(tmp_path: Path, gitdash: Gitdash, known_by: str) -> None:
    lender, borrower = fleet(tmp_path)
    borrows = borrower.git_dir / "objects" / "info" / "alternates"
    if known_by == "a link":
        (tmp_path / "link").symlink_to(tmp_path / "q")
        gitdash.run("scan", tmp_path / "link")
        now = tmp_path / "q"
    else:
        gitdash.run("scan", tmp_path / "q")
        now = (tmp_path / "q").rename(tmp_path / "renamed")
        lender.path = now / "a" / "lend.git"
        borrows.write_text(f"{lender.path}/objects\n")
    gitdash.run("scan", now / "a")
    arrive(borrower, now / "b")
    exit_code, output = reclaim(gitdash, lender.path)
    assert (exit_code, "b/borrow.git borrows from it" in output) == (ExitCode.REFUSED, True), output
    assert not complaints(borrower)


def test_folder_that_a_person_takes_out_is_searched_no_more(tmp_path: Path, gitdash: Gitdash) -> None:
    lender, borrower = fleet(tmp_path)
    arrive(borrower, tmp_path / "q" / "b")
    gitdash.run("scan", tmp_path / "q" / "a")
    gitdash.run("scan", tmp_path / "q" / "a" / "lend.git")
    forget = ("forget", "--searched", tmp_path / "q" / "a")
    assert gitdash.run(*forget, "--dry-run").stdout == f"would forget that {tmp_path}/q/a was searched\n"
    assert gitdash.run("--read-only", *forget).returncode == ExitCode.REFUSED
    ended = gitdash.run(*forget, "--format", "json")
    assert (ended.returncode, json.loads(ended.stdout)["folders"]) == (ExitCode.DONE, [{"path": f"{tmp_path}/q/a"}])
    again = gitdash.run(*forget)
    assert (again.returncode, again.stdout) == (ExitCode.FINDINGS, "")
    assert f"one has below {lender.path}\n" in again.stderr
    exit_code, output = reclaim(gitdash, lender.path)
    assert (exit_code, "no folder around it was searched for them" in output) == (ExitCode.REFUSED, True), output
    assert not complaints(borrower)
