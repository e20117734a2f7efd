"""Actions that the state file could not take: the exit code is theirs, and it is said that the ledger lacks them."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gitdash.cli.acting import acting
from gitdash.cli.session import Session
from gitdash.history import writing
from gitdash.history.store import open_history
from tests.history.ledger_entries import MOMENT_S, entry
from tests.support.repositories import GIT


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(config_path=None, state_path=os.fspath(tmp_path / "state.db"), keeps_state=True, git_program=GIT)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_PATIENCE_S", 0.05)


@pytest.mark.usefixtures("impatient")
def test_entry_that_another_process_keeps_out_is_told_at_the_end(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as other,
        acting(session) as actions,
    ):
        other.execute("BEGIN IMMEDIATE")
        actions.ledger.begin(entry(b"/x", started_at_s=MOMENT_S))
        assert capsys.readouterr().err == ""
    said = capsys.readouterr().err
    assert "1 action is not in the ledger" in said
    assert "is in use by another process" in said


@pytest.mark.usefixtures("impatient")
def test_entry_that_came_late_is_in_the_ledger_and_not_told_as_lost(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with acting(session) as actions, closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        actions.ledger.begin(entry(b"/x", started_at_s=MOMENT_S))
    assert "not in the ledger" not in capsys.readouterr().err
    with open_history(os.fspath(tmp_path / "state.db")) as history:
        assert [one.path for one in history.ledger.entries()] == [b"/x"]
