"""References that git would pass over in a damaged reftable without a word."""

import os
import shutil
from pathlib import Path

import pytest

from gitdash.inspection import files, reftables
from gitdash.inspection.reftables import unreadable_reftable
from gitdash.model.repository import Unreadable
from tests.safety.product import Answer, run_gitdash
from tests.support.repositories import GitRepository, git_version

pytestmark = [
    pytest.mark.safety,
    pytest.mark.skipif(git_version() < (2, 45), reason="git knows no reftable"),
]


def make(path: Path) -> GitRepository:
    """Three tables: that of HEAD, and two with branches."""
    repository = GitRepository.init(path, reference_backend="reftable")
    repository.git("config", "reftable.autoCompaction", "false")
    repository.environment["GIT_TEST_REFTABLE_AUTOCOMPACTION"] = "false"
    commit = repository.commit({"a": "1"})
    repository.git("update-ref", "refs/heads/other", commit)
    return repository


def tables(repository: GitRepository) -> list[Path]:
    return sorted((repository.path / "reftable").glob("*.ref"))


def size(folder: Path, repository: GitRepository) -> Answer:
    return run_gitdash(folder, "--no-state", "size", "--format", "json", repository.path)


@pytest.mark.oracle
def test_a_sound_reftable_has_an_exact_size(tmp_path: Path) -> None:
    repository = make(tmp_path / "r.git")
    assert len(tables(repository)) > 1
    assert unreadable_reftable(os.fsencode(repository.path)) is None
    answer = size(tmp_path, repository).document
    assert (answer["bytes"], answer["exact"]) == (
        int(repository.git("rev-list", "--all", "--objects", "--disk-usage")),
        True,
    )


@pytest.mark.oracle
def test_a_fresh_reftable_reaches_nothing(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git", reference_backend="reftable")
    assert unreadable_reftable(os.fsencode(repository.path)) is None
    answer = size(tmp_path, repository).document
    assert (answer["bytes"], answer["exact"]) == (0, True)


def drop(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def overwrite(path: Path) -> None:
    path.write_bytes(b"xx" + path.read_bytes()[2:])


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [drop, empty, overwrite, cut])
@pytest.mark.parametrize("which", [0, -1, "tables.list"])
def test_a_damaged_reftable_has_no_size(damage, which: int | str, tmp_path: Path) -> None:
    repository = make(tmp_path / "r.git")
    file = repository.path / "reftable" / which if isinstance(which, str) else tables(repository)[which]
    file.chmod(0o644)
    if which == "tables.list" and damage in {overwrite, cut}:
        file.write_text("gone.ref\n")
    else:
        damage(file)
    answer = size(tmp_path, repository)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "reftable/" in answer.stderr


@pytest.mark.oracle
def test_plain_git_answers_with_nothing_where_a_table_is_missing(tmp_path: Path) -> None:
    repository = make(tmp_path / "r.git")
    tables(repository)[-1].unlink()
    assert repository.git("rev-list", "--all", "--objects", "--disk-usage") == "0"


def test_a_table_that_is_merged_meanwhile_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make(tmp_path / "r.git")
    whole = tmp_path / "whole.git"
    shutil.copytree(repository.path, whole)
    reads = []

    def read_file(path: bytes, maximum_bytes: int) -> bytes:
        reads.append(path)
        data = files.read_file(path, maximum_bytes)
        if len(reads) == 1:
            repository.git("pack-refs")
        return data

    monkeypatch.setattr(reftables, "read_file", read_file)
    assert unreadable_reftable(os.fsencode(repository.path)) is None
    assert len(reads) == 2


def test_a_worktree_needs_its_own_tables(tmp_path: Path) -> None:
    repository = make(tmp_path / "r.git")
    repository.git("worktree", "add", "-q", tmp_path / "tree", "other")
    (own,) = (repository.path / "worktrees").iterdir()
    assert unreadable_reftable(os.fsencode(own)) is None
    for file in (own / "reftable").glob("*.ref"):
        file.unlink()
    assert isinstance(unreadable_reftable(os.fsencode(own)), Unreadable)


@pytest.mark.parametrize("key", ["include.path", "includeIf.onbranch:**.path", "includeIf.gitdir:/**.path"])
@pytest.mark.parametrize("through", ["", "file", "link"])
def test_git_does_not_wait_for_an_included_fifo(key: str, through: str, tmp_path: Path) -> None:
    repository = make(tmp_path / "r.git")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_text(f"[include]\n\tpath = {tmp_path / 'fifo'}\n")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    repository.git("config", key, str(tmp_path / (through or "fifo")))
    answer = run_gitdash(tmp_path, "--no-state", "size", repository.path, time_limit_s=30)
    assert answer.exit_code == 1
    assert "is not a regular file" in answer.stderr


@pytest.mark.oracle
def test_included_files_that_git_can_read_are_no_hindrance(tmp_path: Path) -> None:
    repository = make(tmp_path / "r.git")
    (tmp_path / "more").write_text("[core]\n\tabbrev = 12\n")
    repository.git("config", "include.path", str(tmp_path / "more"))
    repository.git("config", "--add", "include.path", str(tmp_path / "missing"))
    answer = size(tmp_path, repository).document
    assert answer["bytes"] == int(repository.git("rev-list", "--all", "--objects", "--disk-usage"))


def test_git_is_not_asked_with_a_config_of_which_only_it_reads_all(tmp_path: Path) -> None:
    repository = make(tmp_path / "r.git")
    os.mkfifo(tmp_path / "fifo")
    with (repository.path / "config").open("a") as file:
        file.write("[include]\n" + "\tpath = missing\n" * 300 + f"\tpath = {tmp_path / 'fifo'}\n")
    answer = run_gitdash(tmp_path, "--no-state", "size", repository.path, time_limit_s=30)
    assert answer.exit_code == 1
    assert "unreadable" in answer.stderr
