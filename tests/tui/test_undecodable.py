"""What the terminal sends need not be UTF-8."""

import sys
from pathlib import Path

import pytest
from textual.events import Key

from gitdash.tui.undecodable import TolerantParser
from tests.support.pty_session import PtySession

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.safety
@pytest.mark.parametrize(
    "sent",
    [
        b"\xff",
        b"\x1b[M \xa0\x21",
        b"\x1b[200~caf\xe9\x1b[201~",
        b"\xc3",
        b"\x1b[97:65;1u",
        b"\x1b[5:~",
        b"\x1b[1;1:3A",
        b"\x1b[9999999999;1u",
    ],
)
def test_what_cannot_be_read_ends_nothing(tmp_path: Path, sent: bytes) -> None:
    command = [sys.executable, "-m", "gitdash", "--no-state", str(tmp_path)]
    with PtySession(command, folder=str(PROJECT)) as session:
        session.wait_for_text("quit")
        session.send(sent)
        session.send(b"?")
        session.wait_for_text("Help")
        session.send(b"\x1b")
        session.send(b"\x11")
        assert session.wait_for_exit() == 0


@pytest.mark.parametrize(
    ("sequence", "keys"),
    [
        ("\x1b[97;1u", ["a"]),
        ("\x1b[97:65;1u", ["a"]),
        ("\x1b[97;1:1u", ["a"]),
        ("\x1b[97:65:97;5:2u", ["ctrl+a"]),
        ("\x1b[97;1:3u", []),
        ("\x1b[1;5A", ["ctrl+up"]),
        ("\x1b[9999999999;1u", []),
        ("a", ["a"]),
    ],
)
def test_key_is_read_by_the_first_number_of_its_field(sequence: str, keys: list[str]) -> None:
    assert [event.key for event in TolerantParser().feed(sequence) if isinstance(event, Key)] == keys
