"""Throw-away copies that a killed gitdash has left: whichever command comes next removes them, and says so."""

import os
from pathlib import Path

import msgspec
import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GitRepository

TOKEN = "cd" * 16


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = GitRepository.init(tmp_path / "fleet" / "a.git")
    made.commit({"a": "one\n"})
    return made.path


@pytest.fixture
def left(gitdash: Gitdash, repository: Path) -> Path:
    """What is left beside the repository, with a marker of a process whose number none has."""
    folder = repository.parent / f".gitdash-lab-{TOKEN}"
    (folder / "copy" / "objects").mkdir(parents=True)
    (folder / "token").write_text(TOKEN)
    registry = gitdash.folder / "state" / "lab"
    registry.mkdir()
    marker = {
        "path": os.fsencode(folder),
        "token": TOKEN,
        "process_id": 2**22 - 1,
        "process_started_at_s": 0.0,
        "host": os.uname().nodename,
    }
    (registry / f"{TOKEN}.copy").write_bytes(msgspec.json.encode(marker))
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("scan",),
        ("check",),
        ("show",),
        ("size",),
        ("fetch",),
        ("maintain", "--dry-run"),
        ("history",),
        ("forget", "--dry-run"),
        ("bench", "list"),
        ("bench", "lookup", "--explain"),
    ],
    ids=" ".join,
)
def test_every_command_that_opens_the_state_removes_them_and_says_so(
    gitdash: Gitdash, repository: Path, left: Path, words: tuple[str, ...]
) -> None:
    path = () if words == ("bench", "list") else (os.fspath(repository),)
    finished = gitdash.run(*words, *path)
    assert finished.stderr.count("gitdash: removed 1 copy that an earlier run had left\n") == 1
    assert "removed" not in finished.stdout
    assert not left.exists()
    assert os.listdir(gitdash.folder / "state" / "lab") == []


def test_a_command_that_opens_no_state_lets_them_be(gitdash: Gitdash, repository: Path, left: Path) -> None:
    finished = gitdash.run("--no-state", "scan", repository)
    assert "removed" not in finished.stderr
    assert left.exists()
