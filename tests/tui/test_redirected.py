"""The dashboard where one of its streams is no terminal."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.support.pty_session import PtySession
from tests.support.repositories import GitRepository

PROJECT = os.fspath(Path(__file__).parents[2])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    GitRepository.init(tmp_path / "root" / "one.git").commit({"a": "1"})
    return tmp_path / "root"


def start(root: Path, redirection: str) -> PtySession:
    command = shlex.join([sys.executable, "-m", "gitdash", "--no-state", os.fspath(root)])
    return PtySession(["/bin/sh", "-c", f"exec {command} {redirection}"], folder=PROJECT)


@pytest.mark.parametrize("redirection", ["2>LOG", "2>&-", "2>/dev/null"])
def test_with_stderr_elsewhere_the_dashboard_draws_on_stdout(root: Path, tmp_path: Path, redirection: str) -> None:
    log = tmp_path / "log"
    with start(root, redirection.replace("LOG", shlex.quote(os.fspath(log)))) as session:
        session.wait_for_text("one.git")
        session.send(b"q")
        assert session.wait_for_exit() == 0
    assert b"\x1b[?1049l" in session.output
    assert not log.exists() or log.read_text() == ""


def test_with_stdin_elsewhere_there_is_one_sentence(root: Path) -> None:
    with start(root, "</dev/null") as session:
        assert session.wait_for_exit() == 2
    assert b"needs a terminal on stdin" in session.output
    assert b"Traceback" not in session.output


def test_with_stdout_elsewhere_there_is_a_table(root: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    with start(root, f">{shlex.quote(os.fspath(table))}") as session:
        assert session.wait_for_exit() == 0
    assert "one.git" in table.read_text()
