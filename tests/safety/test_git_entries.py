"""What stands where `.git` should: a broken one inside a repository never answers with the outer one's numbers."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.safety.product import Answer, run_gitdash
from tests.support.repositories import GitRepository

pytestmark = pytest.mark.safety


def written(content: str) -> Callable[[Path], object]:
    return lambda entry: entry.write_text(content)


def linked(target: str) -> Callable[[Path], object]:
    return lambda entry: entry.symlink_to(target)


def folder_with(**files: str) -> Callable[[Path], object]:
    def make(entry: Path) -> None:
        entry.mkdir()
        for name, content in files.items():
            (entry / name).write_text(content)

    return make


def whole_but(*missing: str) -> Callable[[Path], object]:
    def make(entry: Path) -> None:
        GitRepository.init(entry.parent, bare=False)
        for name in missing:
            (entry / name).rename(entry / f"{name}.away")

    return make


ENTRIES: dict[str, Callable[[Path], object]] = {
    "an empty folder": folder_with(),
    "a folder with HEAD alone": folder_with(HEAD="ref: refs/heads/main\n"),
    "without HEAD": whole_but("HEAD"),
    "without objects": whole_but("objects"),
    "without refs": whole_but("refs"),
    "an empty file": written(""),
    "a file without path": written("gitdir: "),
    "a file of 2 MB": written("gitdir: " + "x" * 2_000_000),
    "a file that names itself": written("gitdir: .git\n"),
    "a file to nowhere": written("gitdir: /nonexistent\n"),
    "a file to the outer folder": written("gitdir: ..\n"),
    "a file of two lines": written("gitdir: a\nb\n"),
    "a link to itself": linked(".git"),
    "a link to nowhere": linked("nowhere"),
    "a link to a device": linked("/dev/zero"),
    "a FIFO": os.mkfifo,
}


@pytest.fixture(scope="module")
def outer(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    repository = GitRepository.init(tmp_path_factory.mktemp("nested") / "outer", bare=False)
    repository.commit({"a": os.urandom(30_000)})
    for number, make in enumerate(ENTRIES.values()):
        inner = repository.path / f"inner{number:02}"
        inner.mkdir()
        make(inner / ".git")
    return repository


@pytest.fixture(scope="module")
def answer(outer: GitRepository) -> Answer:
    roots = sorted(outer.path.glob("inner*"))
    return run_gitdash(outer.path.parent, "--no-state", "scan", "--sizes", "all", "--format", "json", *roots)


NEVER_REPOSITORIES = {"a link to a device", "a FIFO"}
"""What no git makes under this name: not rows, but named with a reason."""


@pytest.mark.parametrize("name", sorted(ENTRIES.keys() - NEVER_REPOSITORIES))
def test_a_broken_entry_is_an_unreadable_row_without_figures(outer: GitRepository, answer: Answer, name: str) -> None:
    row = answer.row(outer.path / f"inner{list(ENTRIES).index(name):02}")
    assert row["state"] == "unreadable"
    assert [finding["rule"] for finding in row["findings"]] == ["repository-unreadable"]
    assert all(value is None or set(value) == {"unreadable"} for value in row["sizes"].values())


@pytest.mark.parametrize("name", sorted(NEVER_REPOSITORIES))
def test_an_entry_of_another_kind_is_no_repository_and_has_a_reason(
    outer: GitRepository, answer: Answer, name: str
) -> None:
    inner = outer.path / f"inner{list(ENTRIES).index(name):02}"
    assert os.fspath(inner) not in {row["path"] for row in answer.document["repositories"]}
    assert [line for line in answer.stderr.splitlines() if os.fspath(inner) in line]


def test_broken_entries_add_nothing_to_the_totals(answer: Answer) -> None:
    totals = answer.document["totals"]
    assert totals["unreadable_count"] == totals["repository_count"] == len(ENTRIES) - len(NEVER_REPOSITORIES)
    assert totals["disk_bytes"] == 0


@pytest.mark.parametrize("command", ["size", "show"])
@pytest.mark.parametrize("below", [".", ".git"])
def test_one_broken_repository_alone_never_answers_for_the_one_around_it(
    outer: GitRepository, command: str, below: str
) -> None:
    answer = run_gitdash(outer.path.parent, "--no-state", command, outer.path / "inner00" / below)
    assert "no HEAD" in answer.stdout + answer.stderr
    assert " bytes " not in answer.stdout
    assert "KiB" not in answer.stdout
