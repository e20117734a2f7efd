"""Fetches from servers that refuse, stall, are slow, go away or lie: how they end, and what is left."""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from gitdash.model.ledger import Outcome, Reason
from tests.support.repositories import GitRepository
from tests.support.servers.client import Client, Fetched, make_served
from tests.support.servers.git_daemon import git_daemon
from tests.support.servers.listening import listening
from tests.support.servers.lying import (
    Lies,
    lying_daemon,
    pack_of,
    whole_pack,
    with_bad_body,
    with_bad_trailer,
    with_count,
)
from tests.support.servers.misbehaving import (
    close_at_once,
    cut_daemon,
    never_connects,
    nobody_listens,
    reset,
    slow_daemon,
    stall,
)

pytestmark = pytest.mark.safety

HOSTILE_TALK = b"\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b[2J\x9b31mred\n"
IN_THE_PACK_BYTES = 700
"""More than the advertisement of `make_served`, and less than all that its server says."""


@contextlib.contextmanager
def port_of(opened: AbstractContextManager) -> Iterator[int]:
    with opened as server:
        yield server if isinstance(server, int) else server.port


def assert_failed_cleanly(client: Client, before: dict[str, str], fetched: Fetched) -> None:
    assert fetched.left == fetched.left_folders == []
    assert client.locks() == []
    assert client.references() == before
    assert fetched.result.reference_changes == ()
    assert fetched.result.sentence
    assert fetched.unprintable == set()


def client_of(tmp_path: Path, port: int) -> tuple[Client, dict[str, str]]:
    client = Client.make(tmp_path / "client.git", f"git://127.0.0.1:{port}/a.git")
    client.repository.commit({"own": "work"})
    client.repository.git("update-ref", "refs/remotes/origin/topic", "refs/heads/main")
    return client, client.references()


BROKEN: dict[str, tuple[Callable[[Path], AbstractContextManager], Reason]] = {
    "nobody listens": (lambda _: nobody_listens(), Reason.NETWORK),
    "reset": (lambda _: listening(reset), Reason.NETWORK),
    "closed without a word": (lambda _: listening(close_at_once), Reason.NETWORK),
    "closed in the middle of the references": (lambda folder: cut_daemon(folder, 57), Reason.NETWORK),
    "closed in the middle of the pack": (lambda folder: cut_daemon(folder, IN_THE_PACK_BYTES), Reason.NETWORK),
    "no such repository": (lambda folder: git_daemon(folder / "a.git"), Reason.NOT_FOUND),
}


@pytest.mark.parametrize("name", BROKEN)
def test_fetch_from_a_broken_server_fails_with_its_reason_and_leaves_nothing_running(name: str, tmp_path: Path) -> None:
    serve, reason = BROKEN[name]
    make_served(tmp_path / "served")
    with port_of(serve(tmp_path / "served")) as port:
        client, before = client_of(tmp_path, port)
        fetched = client.fetch()
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.FAILED, reason), fetched.result
    assert_failed_cleanly(client, before, fetched)


SILENT: dict[str, Callable[[Path], AbstractContextManager]] = {
    "connection is never made": lambda _: never_connects(),
    "accepts and says nothing": lambda _: listening(stall),
    "half open in the middle of the pack": lambda folder: cut_daemon(folder, IN_THE_PACK_BYTES, then_stall=True),
    "one byte in a second": slow_daemon,
}


@pytest.mark.parametrize("name", SILENT)
def test_fetch_from_a_silent_server_ends_at_its_time_limit(name: str, tmp_path: Path) -> None:
    make_served(tmp_path / "served")
    with port_of(SILENT[name](tmp_path / "served")) as port:
        client, before = client_of(tmp_path, port)
        fetched = client.fetch(time_limit_s=0.4)
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.TIMED_OUT, Reason.TIMED_OUT)
    assert 0.4 <= fetched.elapsed_s <= 1.4
    assert_failed_cleanly(client, before, fetched)


@pytest.mark.parametrize(
    ("name", "phase", "sentence"),
    [
        ("accepts and says nothing", "connect", "waited for the list of the remote's references"),
        ("one byte in a second", "connect", "waited for the list of the remote's references"),
        ("half open in the middle of the pack", "receive", "waited for objects or received them"),
    ],
)
def test_phase_in_which_a_server_fell_silent_is_the_one_that_took_the_time(
    name: str, phase: str, sentence: str, tmp_path: Path
) -> None:
    make_served(tmp_path / "served")
    with port_of(SILENT[name](tmp_path / "served")) as port:
        client, _ = client_of(tmp_path, port)
        fetched = client.fetch(time_limit_s=1.2)
    assert max(fetched.result.phases, key=lambda one: one.elapsed_s).name == phase
    assert sentence in fetched.result.sentence


@pytest.mark.parametrize("name", SILENT)
def test_cancel_of_a_fetch_from_a_silent_server_takes_at_most_a_second(name: str, tmp_path: Path) -> None:
    make_served(tmp_path / "served")
    # a busy machine may keep one of them waiting
    assert any(_cancelled_after_s(name, tmp_path / str(number)) <= 1.0 for number in range(3))


def _cancelled_after_s(name: str, folder: Path) -> float:
    """Cancel a fetch from a silent server, and return the seconds until it has ended."""
    folder.mkdir()
    cancel = threading.Event()
    cancelled_s: list[float] = []

    def stop() -> None:
        cancelled_s.append(time.monotonic())
        cancel.set()

    with port_of(SILENT[name](folder.parent / "served")) as port:
        client, before = client_of(folder, port)
        timer = threading.Timer(0.3, stop)
        timer.start()
        fetched = client.fetch(cancel=cancel)
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.CANCELLED, Reason.CANCELLED)
    assert_failed_cleanly(client, before, fetched)
    return fetched.ended_s - cancelled_s[0]


def test_a_fetch_that_is_cancelled_before_it_begins_connects_to_nobody(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with listening(stall) as listener:
        client, before = client_of(tmp_path, listener.port)
        fetched = client.fetch(cancel=cancel)
        assert listener.connections == []
    assert fetched.result.outcome is Outcome.CANCELLED
    assert_failed_cleanly(client, before, fetched)


Tell = Callable[[GitRepository], Lies]


def main_of(served: GitRepository) -> list[tuple[str, bytes]]:
    return [(served.git("rev-parse", "main"), b"refs/heads/main")]


def about_main(change: Callable[[bytes], bytes]) -> Tell:
    return lambda served: Lies(main_of(served), change(whole_pack(served, "main")))


LIES: dict[str, Tell] = {
    "more objects announced than sent": about_main(lambda pack: with_count(pack, 9)),
    "fewer objects announced than sent": about_main(lambda pack: with_count(pack, 2)),
    "billions of objects announced": about_main(lambda pack: with_count(pack, 0xFFFFFFFF)),
    "wrong checksum": about_main(with_bad_trailer),
    "broken object": about_main(with_bad_body),
    "reference to an object that is not sent": lambda served: Lies(
        [("1" * 40, b"refs/heads/main")], whole_pack(served, "main")
    ),
    "contents left out": lambda served: Lies(
        main_of(served), pack_of(served, served.git("rev-parse", "main"), served.git("rev-parse", "main^{tree}"))
    ),
    "history of another branch": lambda served: Lies(main_of(served), whole_pack(served, "topic")),
}


@pytest.mark.parametrize("unpack_limit", ["1", "100"], ids=["keeps the pack", "unpacks"])
@pytest.mark.parametrize("name", LIES)
def test_what_a_lying_server_sends_is_found_corrupt_and_no_reference_follows_it(
    name: str, unpack_limit: str, tmp_path: Path
) -> None:
    lies = LIES[name](make_served(tmp_path / "served"))
    lies.talk = HOSTILE_TALK
    with lying_daemon(lies) as daemon:
        client, before = client_of(tmp_path, daemon.port)
        client.config("fetch.unpackLimit", unpack_limit)
        fetched = client.fetch()
    assert lies.asked, "the lie was not told"
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.FAILED, Reason.CORRUPT), fetched.result
    assert_failed_cleanly(client, before, fetched)


def test_what_a_server_says_reaches_no_screen_as_control_characters(tmp_path: Path) -> None:
    served = make_served(tmp_path / "served")
    lies = Lies(main_of(served), whole_pack(served, "main"), talk=HOSTILE_TALK)
    with lying_daemon(lies) as daemon:
        client, _ = client_of(tmp_path, daemon.port)
        fetched = client.fetch()
    assert fetched.result.outcome is Outcome.DONE
    assert client.references()["refs/remotes/origin/main"] == served.git("rev-parse", "main")
    assert fetched.unprintable == set()


REFUSALS: dict[str, tuple[Tell, Reason]] = {
    "before it says anything": (lambda _: Lies([], refusal=b"too busy" + HOSTILE_TALK), Reason.SERVER_REFUSED),
    "in place of the pack": (lambda served: Lies(main_of(served), error=b"busy" + HOSTILE_TALK), Reason.OTHER),
    "text for a pack": (about_main(lambda _: b"<html>" + HOSTILE_TALK * 20), Reason.OTHER),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_reason_that_a_server_gives_is_printable(name: str, tmp_path: Path) -> None:
    tell, reason = REFUSALS[name]
    with lying_daemon(tell(make_served(tmp_path / "served"))) as daemon:
        client, before = client_of(tmp_path, daemon.port)
        fetched = client.fetch()
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.FAILED, reason), fetched.result
    assert_failed_cleanly(client, before, fetched)


FLOODS: dict[str, Tell] = {
    "references": lambda served: Lies(main_of(served), endless_references=True),
    "talk in lines": lambda served: Lies(main_of(served), flood=HOSTILE_TALK * 100),
    "talk without end of line": lambda served: Lies(main_of(served), flood=b"x" * 5_000),
    "progress": lambda served: Lies(main_of(served), flood=b"Counting objects:   5% (1/20)\r" * 100),
}


@pytest.mark.parametrize("name", FLOODS)
def test_server_that_talks_without_end_is_left_at_the_time_limit(name: str, tmp_path: Path) -> None:
    with lying_daemon(FLOODS[name](make_served(tmp_path / "served"))) as daemon:
        client, before = client_of(tmp_path, daemon.port)
        fetched = client.fetch(time_limit_s=0.4)
    assert fetched.result.outcome is Outcome.TIMED_OUT, fetched.result
    assert fetched.elapsed_s <= 1.4
    assert len(fetched.texts) < 100_000
    assert_failed_cleanly(client, before, fetched)


@pytest.mark.parametrize(
    "reference", [b"refs/heads/../../../config", b"refs/heads/a\x1b[31m", b"refs/heads/x.lock", b"HEAD", b"refs/heads/"]
)
def test_names_that_no_reference_may_have_change_nothing(reference: bytes, tmp_path: Path) -> None:
    served = make_served(tmp_path / "served")
    lies = Lies([(served.git("rev-parse", "main"), reference)], whole_pack(served, "main"))
    with lying_daemon(lies) as daemon:
        client, before = client_of(tmp_path, daemon.port)
        config = (client.repository.path / "config").read_bytes()
        fetched = client.fetch()
    assert fetched.left == fetched.left_folders == []
    assert client.references() == before
    assert (client.repository.path / "config").read_bytes() == config


def test_temporary_pack_of_a_fetch_that_is_stopped_in_the_middle_is_counted_and_goes_with_it(tmp_path: Path) -> None:
    served, noise = make_served(tmp_path / "served"), random.Random(4)
    served.commit({str(number): noise.randbytes(999) for number in range(200)})
    with cut_daemon(tmp_path / "served", 100_000, then_stall=True) as server:
        client, before = client_of(tmp_path, server.port)
        fetched = client.fetch(time_limit_s=0.6)
    assert fetched.result.outcome is Outcome.TIMED_OUT
    # what came, and not what was announced
    assert 0 < fetched.result.received_objects < 200
    assert 0 < fetched.result.received_bytes <= 100_000
    assert client.references() == before
    assert "what git had half written was removed: objects/pack/tmp_pack_" in fetched.result.sentence
    assert client.temporary_packs() == []
    assert (fetched.result.leftovers, fetched.result.left_bytes) == ((), 0)
    after = client.report().inspection
    assert (after.packs.garbage_count, after.packs.garbage_bytes) == (0, 0)
