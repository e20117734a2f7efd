import os
from pathlib import Path

import pytest

from gitdash.lab.fingerprint import fingerprint_of, object_folders
from tests.support.fetching import report_of
from tests.support.repositories import GitRepository


@pytest.fixture
def lender(tmp_path: Path) -> GitRepository:
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.commit({"lent": "lent\n"})
    return lender


@pytest.fixture
def member(lender: GitRepository, tmp_path: Path) -> GitRepository:
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    member.commit({"own": "own\n"})
    return member


def test_it_stays_while_git_only_reads(member: GitRepository) -> None:
    take = fingerprint_of(report_of(member.path))
    before = take()
    member.git("rev-list", "--objects", "--all")
    member.git("cat-file", "-p", "main:own")
    assert take() == before


def test_it_changes_with_a_commit_a_pack_and_a_reference(member: GitRepository) -> None:
    take = fingerprint_of(report_of(member.path))
    seen = {take()}
    for change in (
        lambda: member.commit({"own": "new\n"}),
        member.repack,
        lambda: member.git("update-ref", "refs/heads/other", "main"),
        lambda: member.git("repack", "-a", "-d", "-q", "--write-bitmap-index"),
    ):
        change()
        seen.add(take())
    assert len(seen) == 5


def test_it_changes_with_a_lender_and_when_that_goes(lender: GitRepository, member: GitRepository) -> None:
    take = fingerprint_of(report_of(member.path))
    seen = {take()}
    lender.git("update-ref", "refs/heads/other", "main")
    seen.add(take())
    lender.repack()
    seen.add(take())
    lender.path.rename(lender.path.with_name("gone"))
    seen.add(take())
    assert len(seen) == 4


def test_object_folders_are_its_own_and_then_those_of_lenders(lender: GitRepository, member: GitRepository) -> None:
    expected = tuple(os.fsencode(repository.path / "objects") for repository in (member, lender))
    assert object_folders(report_of(member.path)) == expected
