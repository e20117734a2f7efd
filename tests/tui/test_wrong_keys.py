"""Mistakes in `[keys]` and `[[view]]` are still to be read when the dashboard is left."""

import os
import sys
from pathlib import Path

from tests.support.pty_session import PtySession
from tests.support.repositories import GitRepository

PROJECT = os.fspath(Path(__file__).parents[2])


def test_problems_are_on_stderr_once_the_dashboard_is_left(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "root" / "one.git").commit({"a": "1"})
    config = tmp_path / "config.toml"
    config.write_text('[keys]\nrescn = "x"\n[[view]]\nname = "mine\\u001b[2J"\nsort = "size"\n')
    arguments = ["--no-state", "--config", os.fspath(config), os.fspath(tmp_path / "root")]
    with PtySession([sys.executable, "-m", "gitdash", *arguments], folder=PROJECT) as session:
        session.wait_for_text("one.git")
        session.send(b"q")
        assert session.wait_for_exit() == 0
    after = session.output.rpartition(b"\x1b[?1049l")[2].decode()
    assert "gitdash: [keys] rescn: there is no such action; did you mean 'rescan'?" in after
    assert "gitdash: view 'mine\\x1b[2J': no column 'size'" in after
