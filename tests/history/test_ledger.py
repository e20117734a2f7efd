"""The ledger of actions: what is begun can be read afterwards, whatever happens."""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gitdash.history import action_rows, schema, writing
from gitdash.history.ledger import Ledger, memory_ledger
from gitdash.history.store import open_history
from gitdash.model.ledger import (
    LedgerEntry,
    Outcome,
    Phase,
    Reason,
    RecordedCommand,
    ReferenceChange,
    StoreFigures,
)
from gitdash.model.task import Task
from tests.history.ledger_entries import MOMENT_S, entry
from tests.history.test_store import measurement, report, save, unprivileged

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, path: Path) -> Iterator[Ledger]:
    if request.param == "memory":
        yield memory_ledger()
        return
    with open_history(str(path)) as history:
        yield history.ledger
        assert history.problem is None


def ended(begun: LedgerEntry, **more) -> LedgerEntry:
    return msgspec.structs.replace(begun, **({"outcome": Outcome.DONE, "elapsed_s": 1.5} | more))


def full() -> dict[str, object]:
    return {
        "action": "maintain",
        "task": Task.FULL_REPACK,
        "reason": Reason.DISK_FULL,
        "outcome": Outcome.FAILED,
        "sentence": "no space left",
        "elapsed_s": 2.5,
        "choices": ("alternate refs suppressed: the lender has 50,000",),
        "before": StoreFigures(pack_count=4, disk_bytes=2**40, reference_count=None),
        "after": StoreFigures(pack_count=1, bitmap="pack"),
        "phases": (Phase(name="connect", elapsed_s=0.25),),
        "received_objects": 3,
        "received_bytes": 2**33,
        "reference_changes": (ReferenceChange(name="refs/heads/ü", kind="new", new="b" * 64),),
        "reference_change_count": 1,
        "removed": ("objects/pack/tmp_pack_x",),
        "commands": (
            RecordedCommand(argv=("git", "repack"), started_at_s=MOMENT_S, elapsed_s=2.0, exit_code=1, stderr="full"),
        ),
        "leftovers": ("gc.pid",),
    }


def test_entry_comes_back_as_it_was_put(ledger: Ledger) -> None:
    begun = ledger.begin(entry(b"/srv/x\xff.git"))
    assert begun.number != 0
    assert ledger.entry(begun.number) == begun
    assert ledger.open_entries() == (begun,)
    done = ended(begun, **full())
    ledger.put(done)
    assert ledger.entry(begun.number) == done
    assert ledger.entries(b"/srv/x\xff.git") == (done,)
    assert ledger.open_entries() == ()


def test_entries_come_the_newest_first_and_of_one_repository_if_asked(ledger: Ledger) -> None:
    begun = [ledger.begin(entry(b"/srv/%d" % (number % 2), started_at_s=MOMENT_S + number)) for number in range(6)]
    assert ledger.entries() == tuple(reversed(begun))
    assert ledger.entries(limit=2) == (begun[5], begun[4])
    assert ledger.entries(b"/srv/1") == (begun[5], begun[3], begun[1])
    assert ledger.entries(b"/srv/1", limit=1) == (begun[5],)
    assert ledger.entries(b"/srv/none") == ()
    assert ledger.entry(10**9) is None


def test_entries_that_begin_in_the_same_moment_keep_their_order(ledger: Ledger) -> None:
    begun = [ledger.begin(entry()) for _ in range(5)]
    assert ledger.entries() == tuple(reversed(begun))


def test_lists_and_texts_of_an_entry_are_bounded(ledger: Ledger) -> None:
    change = ReferenceChange(name="refs/heads/x", kind="new")
    command = RecordedCommand(
        argv=("git",), started_at_s=0.0, elapsed_s=None, exit_code=None, stderr="start" + "x" * 5_000 + "end"
    )
    begun = ledger.begin(entry())
    ledger.put(ended(begun, reference_changes=(change,) * 1_001, removed=("f",) * 2_000, commands=(command,)))
    found = ledger.entry(begun.number)
    assert found is not None
    assert (len(found.reference_changes), len(found.removed)) == (1_000, 1_000)
    assert len(found.commands[0].stderr) == 4_096
    assert found.commands[0].stderr.endswith("xend")


def test_entries_are_dropped_after_a_year_and_beyond_the_most(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("action_rows", "ledger"):
        monkeypatch.setattr(f"gitdash.history.{module}.MOST_ACTIONS", 4)
    year_s = 365 * 24 * 3600.0
    old = [ledger.begin(entry(started_at_s=MOMENT_S + moment_s)) for moment_s in (0.0, 10.0)]
    young = ledger.begin(entry(started_at_s=MOMENT_S + 5.0 + year_s))
    assert ledger.entries() == (young, old[1])
    more = [ledger.begin(entry(started_at_s=young.started_at_s + number)) for number in (1, 2, 3)]
    assert ledger.entries() == (*reversed(more), young)


def test_an_entry_stays_where_its_repository_is_forgotten(path: Path) -> None:
    with open_history(str(path)) as history:
        save(history, b"/srv/x.git")
        begun = history.ledger.begin(entry(b"/srv/x.git"))
        history.forget([b"/srv/x.git"])
        assert history.ledger.entries(b"/srv/x.git") == (begun,)


def test_a_number_is_never_given_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_history(str(path)) as history:
        first = history.ledger.begin(entry())
        later = history.ledger.begin(entry(started_at_s=MOMENT_S + 2 * action_rows.LONGEST_KEPT_S))
        assert history.ledger.entry(first.number) is None
        assert later.number > first.number
        history.ledger.put(ended(first))
        assert history.ledger.entry(first.number) == ended(first), "one that was dropped while it ran"


def test_what_does_not_decode_is_left_out(path: Path) -> None:
    with open_history(str(path)) as history:
        begun = [history.ledger.begin(entry()) for _ in range(3)]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        ((data,),) = connection.execute("SELECT entry FROM actions WHERE number = ?", (begun[1].number,))
        unknown_outcome = data.replace(b"\xa7running", b"\xa7mutated")
        assert unknown_outcome != data
        statement = "UPDATE actions SET entry = ? WHERE number = ?"
        connection.executemany(statement, [(b"\x80", begun[0].number), (unknown_outcome, begun[1].number)])
        connection.commit()
    with open_history(str(path)) as history:
        assert history.ledger.entries() == (begun[2],)
        assert history.ledger.open_entries() == (begun[2],)
        assert history.ledger.entry(begun[1].number) is None


def test_file_from_before_the_ledger_gets_it_and_keeps_everything(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:3])
        patched.setattr(schema, "SCHEMA_VERSION", 3)
        with open_history(str(path)) as history:
            save(history, b"/a")
            history.save_size(b"/a", measurement(), fingerprint=b"f")
            history.save_preference("view", b"x")
    with open_history(str(path)) as history:
        assert history.problem is None
        assert history.report(b"/a") == report(b"/a")
        assert history.preference("view") == b"x"
        assert history.ledger.entries() == ()
        begun = history.ledger.begin(entry())
        assert history.ledger.entries() == (begun,)


def test_a_file_that_can_only_be_read_is_read_and_new_entries_are_kept_in_memory() -> None:
    with unprivileged() as folder:
        path = folder / "state.db"
        with open_history(str(path)) as history:
            old = history.ledger.begin(entry())
        path.chmod(0o400)
        before = path.read_bytes()
        with open_history(str(path)) as history:
            new = history.ledger.begin(entry(started_at_s=MOMENT_S + 1))
            history.ledger.put(ended(new))
            assert history.ledger.entries() == (ended(new), old)
            assert history.ledger.entry(new.number) == ended(new)
            history.ledger.put(ended(old))
            assert history.ledger.entries() == (ended(new), ended(old))
            assert history.ledger.open_entries() == ()
        assert path.read_bytes() == before


def test_what_another_process_keeps_from_being_written_is_written_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_PATIENCE_S", 0.05)
    with (
        open_history(str(path)) as history,
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        first = history.ledger.begin(entry())
        other.execute("BEGIN IMMEDIATE")
        second = history.ledger.begin(entry(started_at_s=MOMENT_S + 1))
        history.ledger.put(ended(first))
        assert history.ledger.entries() == (second, ended(first))
        other.execute("ROLLBACK")
        history.ledger.put(ended(second))
        found = history.ledger.entry(second.number)
        assert found is not None
        assert found.outcome is Outcome.DONE
        history.ledger.put(ended(second, elapsed_s=9.0))
        assert len(history.ledger.entries()) == 2
        assert "is in use by another process" in (history.problem or "")
    with open_history(str(path)) as history:
        assert [(one.outcome, one.elapsed_s) for one in history.ledger.entries()] == [
            (Outcome.DONE, 9.0),
            (Outcome.DONE, 1.5),
        ]


def test_what_was_kept_is_written_when_the_file_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_PATIENCE_S", 0.05)
    with open_history(str(path)) as history, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        history.ledger.begin(entry())
        other.execute("ROLLBACK")
    with open_history(str(path)) as history:
        assert len(history.ledger.entries()) == 1


def test_an_entry_that_ends_after_the_file_was_closed_is_no_error(path: Path) -> None:
    history = open_history(str(path))
    begun = history.ledger.begin(entry())
    history.close()
    history.ledger.put(ended(begun))
    assert history.ledger.entry(begun.number) == ended(begun)
    with open_history(str(path)) as history:
        assert history.ledger.open_entries() == (begun,)


def test_threads_begin_and_end_actions_at_once(ledger: Ledger) -> None:
    def act(number: int) -> None:
        for _ in range(20):
            ledger.put(ended(ledger.begin(entry(b"/srv/%d" % number))))

    threads = [threading.Thread(target=act, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = ledger.entries()
    assert len({one.number for one in found}) == len(found) == 160
    assert {one.outcome for one in found} == {Outcome.DONE}


def start_writer(path: Path, run: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.history.writes_entries", os.fspath(path), run]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)


def killed_after(process: "subprocess.Popen[str]", line_count: int, delay_s: float) -> list[tuple[str, int]]:
    """Kill a writer some time after it has said so many lines; return all that it said whole."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(line_count)]
    time.sleep(delay_s)  # the moment of the kill is what is tried
    process.send_signal(signal.SIGKILL)
    said += process.stdout.read().splitlines(keepends=True)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    whole = [line.split() for line in said if line.endswith("\n")]
    return [(what, int(number)) for what, number in whole]


@pytest.mark.safety
def test_everything_that_was_begun_is_readable_after_kills_at_random_moments(path: Path) -> None:
    chance = random.Random(20)
    claims: dict[int, Outcome] = {}
    for round_number in range(6):
        writers = [start_writer(path, f"{round_number}-{number}") for number in range(2)]
        for writer in writers:
            said = killed_after(writer, chance.randrange(1, 40), chance.random() * 0.02)
            claims |= {number: Outcome.RUNNING if what == "begun" else Outcome.DONE for what, number in said}
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with open_history(str(path)) as history:
        found = {one.number: one for one in history.ledger.entries(limit=100_000)}
        running = history.ledger.open_entries()
    assert len(claims) > 100
    assert claims.keys() <= found.keys()
    for number, outcome in claims.items():
        # one that is said to be begun may have ended before that could be said
        assert outcome is Outcome.RUNNING or found[number].outcome is Outcome.DONE
    assert {len(one.reference_changes) for one in found.values() if one.outcome is Outcome.DONE} == {200}
    assert len(running) <= 12, "no more than one for each process"
