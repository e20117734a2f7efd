"""Actions whose gitdash is gone: they are told from those that run, and marked once."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from gitdash.history.cut_off import ProcessIdentity, is_action_alive, is_process_alive, settle_cut_off, this_process
from gitdash.history.ledger import Ledger
from gitdash.history.store import open_history
from gitdash.model.ledger import LedgerEntry, Outcome, Reason
from tests.history.ledger_entries import entry

HOST = os.uname().nodename


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with open_history(str(path)) as history:
        yield history.ledger


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def identity_of(process_id: int) -> ProcessIdentity:
    return ProcessIdentity(process_id=process_id, started_at_s=psutil.Process(process_id).create_time(), host=HOST)


def by(identity: ProcessIdentity, **more) -> LedgerEntry:
    return entry(
        process_id=identity.process_id,
        process_started_at_s=identity.started_at_s,
        host=identity.host,
        **more,
    )


def nothing_left(_: LedgerEntry) -> tuple[str, ...]:
    return ()


def test_this_process_is_known_as_another_process_sees_it() -> None:
    probe = f"import psutil; print(psutil.Process({os.getpid()}).create_time())"
    seen = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert this_process() == ProcessIdentity(
        process_id=os.getpid(), started_at_s=pytest.approx(float(seen), abs=1.1), host=HOST
    )
    assert is_process_alive(this_process())


def test_a_process_that_was_killed_is_not_alive(sleeper: "subprocess.Popen[bytes]") -> None:
    identity = identity_of(sleeper.pid)
    assert is_process_alive(identity)
    sleeper.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert not is_process_alive(identity), "nobody has heard of its end, and its id still stands"
    sleeper.wait()
    assert not is_process_alive(identity)


def test_another_process_with_the_same_id_is_not_the_one(sleeper: "subprocess.Popen[bytes]") -> None:
    identity = identity_of(sleeper.pid)
    earlier = ProcessIdentity(process_id=sleeper.pid, started_at_s=identity.started_at_s - 60, host=HOST)
    assert not is_process_alive(earlier)


def test_a_process_of_another_host_counts_as_alive() -> None:
    assert is_process_alive(ProcessIdentity(process_id=2**22 + 1, started_at_s=0.0, host=HOST + "-other"))
    assert not is_process_alive(ProcessIdentity(process_id=2**22 + 1, started_at_s=0.0, host=HOST))


def test_actions_of_processes_that_are_gone_are_marked_with_what_they_may_have_left(
    ledger: Ledger, sleeper: "subprocess.Popen[bytes]"
) -> None:
    other = ProcessIdentity(process_id=sleeper.pid, started_at_s=0.0, host="elsewhere")
    running = [ledger.begin(by(identity)) for identity in (identity_of(sleeper.pid), this_process(), other)]
    gone = ledger.begin(by(ProcessIdentity(process_id=sleeper.pid, started_at_s=5.0, host=HOST), path=b"/srv/gone"))
    asked: list[LedgerEntry] = []

    def leftovers_of(one: LedgerEntry) -> tuple[str, ...]:
        asked.append(one)
        return ("packed-refs.lock",)

    settled = settle_cut_off(ledger, is_alive=is_action_alive, leftovers_of=leftovers_of)
    assert asked == [gone]
    assert [one.number for one in settled] == [gone.number]
    assert settled == (ledger.entry(gone.number),)
    assert settled[0].outcome is Outcome.CUT_OFF
    assert settled[0].reason is Reason.CUT_OFF
    assert settled[0].leftovers == ("packed-refs.lock",)
    assert settled[0].sentence
    assert list(ledger.open_entries()) == running
    assert settle_cut_off(ledger, is_alive=is_action_alive, leftovers_of=leftovers_of) == ()


def test_an_action_that_ended_just_before_its_process_keeps_its_own_end(ledger: Ledger) -> None:
    begun = ledger.begin(entry())
    done = msgspec.structs.replace(begun, outcome=Outcome.DONE)

    def dies_now(_: LedgerEntry) -> bool:
        ledger.put(done)
        return False

    assert settle_cut_off(ledger, is_alive=dies_now, leftovers_of=nothing_left) == ()
    assert ledger.entry(begun.number) == done


def test_two_that_start_at_once_mark_every_action_that_was_cut_off(ledger: Ledger, path: Path) -> None:
    begun = {ledger.begin(entry(b"/srv/%d" % number)).number for number in range(20)}
    barrier = threading.Barrier(2)
    settled: list[LedgerEntry] = []

    def start(name: str) -> None:
        with open_history(str(path)) as history:
            barrier.wait()
            found = settle_cut_off(
                history.ledger, is_alive=lambda _: False, leftovers_of=lambda _: (f"seen by {name}",)
            )
            settled.extend(found)

    threads = [threading.Thread(target=start, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.number for one in settled} == begun
    assert len(settled) == 20, "each is said by one of them"
    assert ledger.open_entries() == ()


@pytest.mark.safety
def test_gitdash_that_was_killed_is_found_by_the_next_start(path: Path, ledger: Ledger) -> None:
    program = """
import sys
from gitdash.history.cut_off import this_process
from gitdash.history.store import open_history
from tests.history.ledger_entries import entry
me = this_process()
history = open_history(sys.argv[1])
history.ledger.begin(
    entry(process_id=me.process_id, process_started_at_s=me.started_at_s, host=me.host)
)
sys.stdout.write("begun\\n")
sys.stdout.flush()
sys.stdin.read()
"""
    project = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", program, os.fspath(path)]
    with subprocess.Popen(command, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        assert settle_cut_off(ledger, is_alive=is_action_alive, leftovers_of=nothing_left) == ()
        process.kill()
        process.wait()
        (settled,) = settle_cut_off(ledger, is_alive=is_action_alive, leftovers_of=nothing_left)
    assert settled.process_id == process.pid
