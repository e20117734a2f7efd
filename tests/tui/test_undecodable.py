"""What the terminal sends need not be UTF-8."""

import sys
from pathlib import Path

import pytest

from tests.support.pty_session import PtySession

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.safety
@pytest.mark.parametrize("sent", [b"\xff", b"\x1b[M \xa0\x21", b"\x1b[200~caf\xe9\x1b[201~", b"\xc3"])
def test_a_byte_that_is_not_utf8_ends_nothing(tmp_path: Path, sent: bytes) -> None:
    command = [sys.executable, "-m", "gitdash", "--no-state", str(tmp_path)]
    with PtySession(command, folder=str(PROJECT)) as session:
        session.wait_for_text("quit")
        session.send(sent)
        session.send(b"?")
        session.wait_for_text("Help")
        session.send(b"\x1b")
        session.send(b"\x11")
        assert session.wait_for_exit() == 0
