"""Somebody makes a repository borrow while it is maintained: nothing goes because that lender has it, too."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gitdash.maintenance import work
from gitdash.model.ledger import Outcome
from gitdash.model.task import Task
from tests.support.old_stores import complaints, grow_old, visible_objects
from tests.support.repositories import GitRepository
from tests.support.task_runs import make_lender_and_member, run

pytestmark = [pytest.mark.safety, pytest.mark.oracle]

PACKING = [
    (Task.FULL_REPACK, "repack"),
    (Task.GEOMETRIC_REPACK, "repack"),
    (Task.BITMAP, "repack"),
    (Task.LOOSE_OBJECTS, "pack-objects"),
]
"""Tasks of a repository that borrows from nobody, with the command before which it comes to."""


def make_plain(folder: Path) -> GitRepository:
    """Packs, loose objects, and unreachable ones of both kinds."""
    repository = GitRepository.init(folder / "plain.git")
    for number in range(3):
        repository.commit({"a": f"{number}" * 500})
        repository.blob(f"unreachable {number}".encode())
        repository.git("repack", "-a", "-d", "-q", "-k")
    repository.commit({"a": "loose"})
    repository.blob(b"unreachable and loose")
    return repository


def make_forgetful_lender(folder: Path, of: GitRepository) -> Path:
    """A lender that has every object of a repository in a pack, and references none."""
    lender = GitRepository.init(folder / "forgetful.git")
    listed = "\n".join(sorted(visible_objects(of))).encode() + b"\n"
    pack_folder = lender.git_dir / "objects" / "pack"
    of.git("pack-objects", "-q", str(pack_folder / "pack"), stdin=listed)
    grow_old(lender)
    return lender.git_dir / "objects"


def during(
    monkeypatch: pytest.MonkeyPatch, word: str, before: Callable[[], object], after: Callable[[], object]
) -> None:
    """Do something right before the first git command with a word begins, and something when it is over."""
    original = work.run_git
    met: list[Sequence[str | bytes]] = []

    def run_git(program: Any, arguments: Sequence[str | bytes], **options: Any) -> Any:
        if word not in arguments or met:
            return original(program, arguments, **options)
        met.append(arguments)
        before()
        try:
            return original(program, arguments, **options)
        finally:
            after()

    monkeypatch.setattr(work, "run_git", run_git)


@pytest.mark.parametrize("is_brief", [True, False], ids=["for a moment", "for good"])
@pytest.mark.parametrize(("task", "word"), PACKING)
def test_a_repository_that_comes_to_borrow_keeps_its_own_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Task, word: str, is_brief: bool
) -> None:
    repository = make_plain(tmp_path)
    store = make_forgetful_lender(tmp_path, repository)
    alternates = repository.git_dir / "objects" / "info" / "alternates"
    grow_old(repository)
    objects = visible_objects(repository)
    during(
        monkeypatch,
        word,
        lambda: alternates.write_text(f"{store}\n"),
        alternates.unlink if is_brief else lambda: None,
    )
    result = run(repository, task)
    assert result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO, Outcome.REFUSED, Outcome.FAILED}, result.sentence
    assert alternates.exists() is not is_brief
    alternates.unlink(missing_ok=True)
    shutil.rmtree(store)
    assert not complaints(repository)
    lost = objects - visible_objects(repository)
    if is_brief and "--cruft" in str(result.commands):
        # what only a cruft pack would hold, and was in a lender that is gone again: it is said
        assert (result.outcome, bool(lost)) == (Outcome.FAILED, True), result.sentence
        assert f"{len(lost)} objects are gone" in result.sentence
    else:
        assert result.outcome is not Outcome.FAILED, result.sentence
        assert not lost


def test_reclaim_keeps_what_is_reachable_whoever_has_it_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_plain(tmp_path)
    store = make_forgetful_lender(tmp_path, repository)
    alternates = repository.git_dir / "objects" / "info" / "alternates"
    grow_old(repository)
    during(monkeypatch, "repack", lambda: alternates.write_text(f"{store}\n"), lambda: None)
    result = run(repository, Task.RECLAIM, confirmed_name=b"plain.git")
    assert result.outcome is Outcome.REFUSED, result.sentence
    alternates.unlink()
    assert not complaints(repository)


def test_prune_at_the_end_of_a_reclaim_takes_nothing_that_is_new_for_a_lender_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git prune ends with prune-packed, which goes by what a lender has packed."""
    repository = make_plain(tmp_path)
    grow_old(repository)
    alternates = repository.git_dir / "objects" / "info" / "alternates"
    commits: list[str] = []

    def commit_and_borrow() -> None:
        commits.append(repository.commit({"a": "new"}))
        alternates.write_text(f"{make_forgetful_lender(tmp_path, repository)}\n")

    during(monkeypatch, "prune", commit_and_borrow, lambda: None)
    result = run(repository, Task.RECLAIM, confirmed_name=b"plain.git")
    assert commits, result.sentence
    assert "packed once more: a lender was named meanwhile" in result.sentence
    shutil.rmtree(tmp_path / "forgetful.git")
    alternates.unlink()
    assert not complaints(repository)
    assert repository.git("rev-parse", "main") == commits[0]


@pytest.mark.parametrize(
    ("word", "is_brief", "said"),
    [
        ("fsck", False, "alternates changed"),
        ("rev-list", False, "alternates changed"),
        ("pack-objects", False, "alternates changed"),
        ("pack-objects", True, "not those that were checked"),
    ],
)
def test_a_member_gives_nothing_up_for_a_lender_that_was_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, is_brief: bool, said: str
) -> None:
    lender, member = make_lender_and_member(tmp_path)
    member.git("repack", "-a", "-d", "-q")
    lender.repack()
    store = make_forgetful_lender(tmp_path, member)
    alternates = member.git_dir / "objects" / "info" / "alternates"
    known = alternates.read_text()
    grow_old(lender, member)
    objects = visible_objects(member)
    during(
        monkeypatch,
        word,
        lambda: alternates.write_text(f"{known}{store}\n"),
        lambda: alternates.write_text(known) if is_brief else None,
    )
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.REFUSED, result.sentence
    assert said in result.sentence
    alternates.write_text(known)
    shutil.rmtree(store)
    assert not complaints(member)
    assert visible_objects(member) == objects


def test_a_lender_whose_folder_is_another_meanwhile_is_not_the_one_that_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lender, member = make_lender_and_member(tmp_path)
    member.git("repack", "-a", "-d", "-q")
    lender.repack()
    store = make_forgetful_lender(tmp_path, member)
    grow_old(lender, member)
    objects = visible_objects(member)
    own = lender.git_dir / "objects"

    def exchange() -> None:
        own.rename(tmp_path / "away")
        store.rename(own)

    during(monkeypatch, "pack-objects", exchange, lambda: None)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.REFUSED, result.sentence
    assert "alternates changed" in result.sentence
    shutil.rmtree(own)
    (tmp_path / "away").rename(own)
    assert not complaints(member)
    assert visible_objects(member) == objects


def test_kept_packs_stay_and_others_go(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    member.git("repack", "-a", "-d", "-q")
    kept = member.packs()[0]
    kept.with_suffix(".keep").write_text("receive-pack 1 on host")
    member.commit({"own": "more"})
    listed = "\n".join(sorted(visible_objects(member))).encode() + b"\n"
    doubled = member.git("pack-objects", "-q", str(kept.parent / "pack"), stdin=listed)
    lender.repack()
    grow_old(lender, member)
    objects = visible_objects(member)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome is Outcome.DONE, result.sentence
    names = [path.name for path in member.packs()]
    assert kept.name in names
    assert f"pack-{doubled}.pack" not in names
    assert not any((member.git_dir / "objects").glob("[0-9a-f][0-9a-f]/*"))
    assert visible_objects(member) == objects
    assert not complaints(member)
