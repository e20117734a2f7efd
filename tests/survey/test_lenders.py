"""What is taken of lenders: the references that git would take, from the store that is named, and nothing around it."""

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.gitcmd.git_program import GitProgram
from gitdash.model.repository import Unreadable
from gitdash.survey import lenders as lenders_module
from gitdash.survey.lenders import Lender, Lenders, store_fingerprint
from tests.safety.product import run_gitdash
from tests.support.repositories import GIT, GitRepository, git_version

PROGRAM = GitProgram(path=GIT, version=git_version(), version_text="test")


def lender_of(objects_dir: Path) -> Lender | Unreadable:
    return Lenders(PROGRAM, lambda: 0.0).lender(os.fsencode(objects_dir), cancel=threading.Event())


def make_lender(path: Path) -> GitRepository:
    lender = GitRepository.init(path)
    lender.commit({"a": "a\n" * 1000})
    lender.repack()
    lender.commit({"a": "b\n" * 1000})
    return lender


def make_member(path: Path, lender: GitRepository, store: Path) -> GitRepository:
    member = GitRepository.init(path)
    (member.git_dir / "objects" / "info").mkdir(exist_ok=True)
    (member.git_dir / "objects" / "info" / "alternates").write_bytes(os.fsencode(store) + b"\n")
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    member.commit({"own": "own"})
    return member


def measured_bytes(folder: Path, member: GitRepository, *flags: str) -> str:
    answer = run_gitdash(folder, "--no-state", "size", "--format", "json", *flags, member.git_dir)
    assert answer.document["exact"], answer.document
    return str(answer.document["bytes"])


@pytest.mark.oracle
@pytest.mark.parametrize("beside", [None, "stranger"])
def test_a_store_of_another_name_is_measured_as_it_is_and_has_no_references(beside: str | None, tmp_path: Path) -> None:
    lender = make_lender(tmp_path / "lender.git")
    store = tmp_path / "pool" / "store"
    if beside:
        # another repository around it, whose own objects are not those that are lent
        GitRepository.init(store.parent).commit({"other": "other"})
    shutil.copytree(lender.git_dir / "objects", store)
    member = make_member(tmp_path / "member.git", lender, store)
    query = ["rev-list", "--all", "--objects", "--disk-usage"]
    assert measured_bytes(tmp_path, member) == member.git(*query)
    assert measured_bytes(tmp_path, member, "--exclude-alternates") == member.git(*query, "--not", "--alternate-refs")
    found = lender_of(store)
    assert isinstance(found, Lender)
    assert found.references == ()
    assert {os.fsdecode(name) for name, _ in found.packs} == {path.name for path in lender.packs()}


@pytest.mark.oracle
def test_a_store_called_objects_without_a_repository_around_it_has_no_references(tmp_path: Path) -> None:
    lender = make_lender(tmp_path / "lender.git")
    store = tmp_path / "pool" / "objects"
    shutil.copytree(lender.git_dir / "objects", store)
    member = make_member(tmp_path / "member.git", lender, store)
    query = ["rev-list", "--all", "--objects", "--disk-usage"]
    assert measured_bytes(tmp_path, member) == member.git(*query)
    assert measured_bytes(tmp_path, member, "--exclude-alternates") == member.git(*query, "--not", "--alternate-refs")


def test_a_lender_with_references_and_no_head_cannot_be_used(tmp_path: Path) -> None:
    lender = make_lender(tmp_path / "lender.git")
    (lender.git_dir / "HEAD").unlink()
    found = lender_of(lender.git_dir / "objects")
    assert isinstance(found, Unreadable)
    assert "is no git directory" in found.reason


@pytest.mark.safety
@pytest.mark.parametrize("name", ["b", "objects"])
def test_nothing_around_a_store_is_listed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "machine" / name
    (store / "pack").mkdir(parents=True)
    (tmp_path / "machine" / "home" / "files").mkdir(parents=True)
    listed: list[bytes] = []
    list_really = os.listdir

    def listdir(path: bytes = b".") -> list[bytes]:
        listed.append(path)
        return list_really(path)

    monkeypatch.setattr(os, "listdir", listdir)
    assert isinstance(lender_of(store), Lender)
    assert store_fingerprint(os.fsencode(store)) != b"unreadable"
    assert listed
    assert all(path.startswith(os.fsencode(store)) for path in listed)


def test_the_fingerprint_of_a_store_alone_changes_with_its_packs(tmp_path: Path) -> None:
    lender = make_lender(tmp_path / "lender.git")
    store = tmp_path / "store"
    shutil.copytree(lender.git_dir / "objects", store)
    before = store_fingerprint(os.fsencode(store))
    assert store_fingerprint(os.fsencode(store)) == before
    (store / "pack" / "pack-new.pack").write_bytes(b"new")
    assert store_fingerprint(os.fsencode(store)) != before


def test_the_failure_of_a_lender_is_remembered_until_its_files_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lender = make_lender(tmp_path / "lender.git")
    asked: list[object] = []

    def tips_of(*arguments: object) -> Unreadable:
        asked.append(arguments)
        return Unreadable("timed out")

    monkeypatch.setattr(lenders_module, "tips_of", tips_of)
    lenders = Lenders(PROGRAM, lambda: 0.0)
    objects_dir = os.fsencode(lender.git_dir / "objects")
    for _ in range(3):
        assert lenders.lender(objects_dir, cancel=threading.Event()) == Unreadable("timed out")
    assert len(asked) == 1
    lender.commit({"a": "c"})
    assert lenders.lender(objects_dir, cancel=threading.Event()) == Unreadable("timed out")
    assert len(asked) == 2


def test_a_failure_by_cancelling_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lender = make_lender(tmp_path / "lender.git")
    lenders, cancel = Lenders(PROGRAM, lambda: 0.0), threading.Event()
    objects_dir = os.fsencode(lender.git_dir / "objects")
    with monkeypatch.context() as patch:
        patch.setattr(lenders_module, "tips_of", lambda *_: Unreadable("cancelled"))
        cancel.set()
        assert lenders.lender(objects_dir, cancel=cancel) == Unreadable("cancelled")
    assert isinstance(lenders.lender(objects_dir, cancel=threading.Event()), Lender)


def break_by_fifo(folder: Path) -> None:
    (folder / "refs" / "heads" / "other").unlink()
    os.mkfifo(folder / "refs" / "heads" / "other")


def break_by_text(folder: Path) -> None:
    (folder / "refs" / "heads" / "other").write_text("no id\n")


def break_by_link(folder: Path) -> None:
    (folder / "refs" / "heads" / "other").unlink()
    (folder / "other").write_text("no id\n")
    (folder / "refs" / "heads" / "other").symlink_to("../../other")


def break_whole_folder(folder: Path) -> None:
    (folder / "refs" / "heads").rename(folder / "moved")
    os.mkfifo(folder / "refs" / "heads")


@pytest.mark.safety
@pytest.mark.parametrize("damage", [break_by_fifo, break_by_text, break_by_link, break_whole_folder])
def test_references_of_a_lender_that_cannot_be_read_leave_an_upper_bound(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    lender = make_lender(tmp_path / "lender.git")
    lender.commit({"big": bytes(range(256)) * 100}, reference="refs/heads/other")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "other"))
    member.commit({"own": "own"})
    flags = ["--state", tmp_path / "state.db", "size", "--format", "json", "--exclude-alternates"]
    before = run_gitdash(tmp_path, *flags, member.git_dir).document
    damage(lender.git_dir)
    after = run_gitdash(tmp_path, *flags, member.git_dir).document
    assert after["bound"] == "upper"
    assert after["bytes"] > before["bytes"]
    assert "of the lender cannot be read" in after["notes"][0]
    clone = run_gitdash(tmp_path, "--no-state", "size", "--format", "json", member.git_dir).document
    assert clone["exact"]


def test_a_stored_size_is_not_shown_for_a_lender_with_a_broken_reference_more(tmp_path: Path) -> None:
    lender = make_lender(tmp_path / "lender.git")
    member = make_member(tmp_path / "member.git", lender, lender.git_dir / "objects")
    flags = ["--state", tmp_path / "state.db", "size", "--format", "json", "--exclude-alternates", member.git_dir]
    assert run_gitdash(tmp_path, *flags).document["bound"] != "lower"
    assert run_gitdash(tmp_path, *flags).document["notes"] == []
    for repository, note in ((lender, "1 reference of the lender cannot be read"), (member, "1 reference broken")):
        (repository.git_dir / "refs" / "heads" / "more").write_text("no id\n")
        assert note in run_gitdash(tmp_path, *flags).document["notes"][0]
