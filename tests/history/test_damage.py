"""A state file that something has changed is used as far as it goes, or refused in one sentence."""

import contextlib
import random
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from gitdash.history import writing
from gitdash.history.cut_off import settle_cut_off
from gitdash.history.store import HistoryError, Loan, open_history
from gitdash.model.sizes import Question
from tests.history.ledger_entries import entry
from tests.history.test_store import measurement, report, save, summary

pytestmark = pytest.mark.safety

PATHS = [b"/srv/%d.git" % number for number in range(30)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A state file with something in each table, all of it in the file itself."""
    path = tmp_path / "state.db"
    with open_history(str(path)) as history:
        save(history, *PATHS)
        history.save_size(PATHS[0], measurement(), fingerprint=b"f", tips=("12" * 20,), packs=("a.pack",))
        history.loans.change(
            ended=(), new=[Loan(alternates_path=b"/a", store=(1, 2), store_path=b"/s", borrower=b"/b")]
        )
        history.save_preference("dashboard", b"{}")
        history.save_preference("views", b"[]")
        for one in PATHS:
            history.ledger.begin(entry(one))
    return path


def use(path: Path) -> None:
    """Read and write everything that a run reads and writes."""
    with open_history(str(path)) as history:
        history.summaries([b"/srv"])
        history.inspections([b"/srv"], after=b"", limit=1_000)
        history.report(PATHS[0])
        history.last_size(PATHS[0], Question.REACHABLE)
        history.loans.all()
        history.preference("dashboard")
        history.ledger.entries()
        settle_cut_off(history.ledger, is_alive=lambda _: False, leftovers_of=lambda _: ())
        history.ledger.put(history.ledger.begin(entry()))
        history.save_preference("dashboard", b"{}")
        history.save_report(report(PATHS[0]), summary(PATHS[0]))
        history.flush()


def refused(path: Path) -> str | None:
    try:
        use(path)
    except HistoryError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(60))
def test_random_damage_is_used_or_refused_in_one_sentence(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 20, 200])):
        data[chance.randrange(100, len(data))] = chance.randrange(256)
    path.write_bytes(data)
    refusal = refused(path)
    assert refusal is None or (refusal.startswith(str(path)) and refusal.isprintable())


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OR REPLACE INTO preferences VALUES ('dashboard', 5)",
        "INSERT OR REPLACE INTO preferences VALUES ('dashboard', 'text')",
        "UPDATE repositories SET summary = 7",
        "UPDATE repositories SET fingerprint = 'x'",
        "UPDATE reports SET report = 1.5",
        "UPDATE sizes SET measurement = 'x'",
        "UPDATE actions SET entry = 5",
        "UPDATE actions SET entry = 'text'",
        "UPDATE loans SET store = 3",
        "UPDATE loans SET store = x'ff'",
    ],
)
def test_value_of_another_kind_is_damage(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement)
        connection.commit()
    with pytest.raises(HistoryError, match=r"is damaged .*: move it away to start afresh"):
        use(path)


@pytest.mark.parametrize("column", ["tips", "pack_names"])
def test_size_that_cannot_be_read_is_measured_again(path: Path, column: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE sizes SET {column} = x'00ff'")
        connection.commit()
    with open_history(str(path)) as history:
        assert history.last_size(PATHS[0], Question.REACHABLE) is None


def test_name_that_is_not_utf8_in_the_schema_is_damage(path: Path) -> None:
    data = path.read_bytes()
    assert data.count(b"CREATE TABLE preferences") == 1
    path.write_bytes(data.replace(b"CREATE TABLE preferences", b"CREATE TABL\xff preferences"))
    with pytest.raises(HistoryError, match="is damaged"):
        use(path)


def test_who_leaves_waits_for_another_process_only_a_moment(path: Path) -> None:
    with (
        open_history(str(path)) as history,
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        history.hurry()
        started_s = time.monotonic()
        for name in ("a", "b", "c", "d"):
            history.save_preference(name, b"")
        assert time.monotonic() - started_s < 2 * writing._PATIENCE_S
        assert "is in use by another process" in (history.problem or "")
        other.execute("ROLLBACK")
        history.save_preference("dashboard", b"later")
        assert history.preference("dashboard") == b"later"


def test_a_transaction_of_another_process_that_ends_is_waited_for(path: Path) -> None:
    with (
        open_history(str(path)) as history,
        contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        ending = threading.Timer(0.1, other.execute, ["ROLLBACK"])
        ending.start()
        history.save_preference("dashboard", b"new")
        ending.join()
        assert history.problem is None
        assert history.preference("dashboard") == b"new"
