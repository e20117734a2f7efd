"""A folder whose file system never answers, as that of a server that is gone: no command waits for it for ever."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitdash.cli.acted_on import repositories
from gitdash.cli.serve import run_serve
from gitdash.cli.session import Session
from gitdash.discovery import roots
from gitdash.errors import ExitCode
from gitdash.survey import searching
from tests.support.repositories import GIT, GitRepository

Check = Callable[[bytes], None]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    config = tmp_path / "config.toml"
    config.write_text("[scan]\ntime_limit_s = 0.2\n")
    return Session(config_path=os.fspath(config), state_path=None, keeps_state=False, git_program=GIT)


@pytest.fixture
def dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder at which every look hangs until the test is over."""
    folder = tmp_path / "dead"
    folder.mkdir()
    over = threading.Event()
    check = roots.check_root

    def hang(path: bytes) -> None:
        if path == os.fsencode(folder):
            over.wait(20)
        check(path)

    monkeypatch.setattr(roots, "check_root", hang)
    monkeypatch.setattr(searching, "check_root", hang)
    monkeypatch.setattr(searching, "_ROOT_LIMIT_S", 0.05)
    yield folder
    over.set()


def test_repositories_elsewhere_are_acted_on(
    session: Session, dead: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = GitRepository.init(tmp_path / "there.git")
    meant = repositories(session, (os.fsencode(dead), os.fsencode(there.path)), None)
    assert [one.path for one in meant.repositories] == [os.fsencode(there.path)]
    assert meant.exit_code == ExitCode.FINDINGS
    assert f"'{dead}' is not a repository: did not answer within 0.2 s" in capsys.readouterr().err


def test_what_is_below_a_folder_is_found_beside_what_is_dead(
    session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = tmp_path / "root"
    GitRepository.init(root / "a.git")
    GitRepository.init(root / "z.git")
    dead = root / "dead"
    dead.mkdir()
    over = threading.Event()
    look_up = os.stat

    def hang(path: Any, **options: Any) -> os.stat_result:
        if isinstance(path, bytes) and path.startswith(os.fsencode(dead)):
            over.wait(20)
        return look_up(path, **options)

    monkeypatch.setattr(os, "stat", hang)
    monkeypatch.setattr(os, "lstat", hang)
    meant = repositories(session, (os.fsencode(root),), None)
    over.set()
    assert [os.path.basename(one.path) for one in meant.repositories] == [b"a.git", b"z.git"]
    assert f"not a repository: {dead}: did not answer within 0.2 s" in capsys.readouterr().err


def test_dashboard_is_served_all_the_same(session: Session, dead: Path) -> None:
    served: list[object] = []

    def web_server(arguments: object, **_: object) -> None:
        served.append(arguments)

    run_serve(session, (os.fsencode(dead),), port=0, allow_actions=False, web_server=web_server)
    assert len(served) == 1
