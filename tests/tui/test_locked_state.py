"""Another process keeps the state file: leaving does not wait for it, and what is lost is said."""

import contextlib
import os
import sqlite3
import sys
import time
from pathlib import Path

from tests.support.pty_session import PtySession
from tests.support.repositories import GitRepository

PROJECT = os.fspath(Path(__file__).parents[2])


def test_leaving_waits_only_a_moment_for_another_process(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "root" / "one.git").commit({"a": "1"})
    state = tmp_path / "state.db"
    argv = [sys.executable, "-m", "gitdash", "--state", os.fspath(state), os.fspath(tmp_path / "root")]
    with PtySession(argv, columns=120, folder=PROJECT) as session:
        session.wait_for_text("1 surveyed")
        with contextlib.closing(sqlite3.connect(state, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            session.send(b"zd")
            session.wait_for_text("by root")
            started_s = time.monotonic()
            session.send(b"q")
            assert session.wait_for_exit() == 0
            elapsed_s = time.monotonic() - started_s
            other.execute("ROLLBACK")
    after = session.output.rpartition(b"\x1b[?1049l")[2].decode()
    assert f"gitdash: {state} is in use by another process" in after
    assert elapsed_s < 3
