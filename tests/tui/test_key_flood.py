"""A large text that comes as if it were typed does not make the dashboard deaf."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from gitdash.tui.key_flood import KEYS_AT_ONCE, KeyAllowance
from tests.support.pty_session import PtySession
from tests.support.repositories import GitRepository

PROJECT = os.fspath(Path(__file__).parents[2])


def test_keys_come_again_with_time() -> None:
    now_s = 100.0
    allowance = KeyAllowance(lambda: now_s)
    assert sum(allowance.takes() for _ in range(10 * KEYS_AT_ONCE)) == KEYS_AT_ONCE
    now_s += 1
    assert sum(allowance.takes() for _ in range(1_000)) == 200
    now_s += 3_600
    assert sum(allowance.takes() for _ in range(10 * KEYS_AT_ONCE)) == KEYS_AT_ONCE


def test_a_key_that_is_held_down_is_always_taken() -> None:
    now_s = 0.0
    allowance = KeyAllowance(lambda: now_s)
    for _ in range(20_000):
        now_s += 1 / 60
        assert allowance.takes()


@pytest.mark.safety
def test_behind_a_large_text_the_key_that_quits_is_heard(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "root" / "one.git").commit({"a": "1"})
    argv = [sys.executable, "-m", "gitdash", "--no-state", os.fspath(tmp_path / "root")]
    with PtySession(argv, folder=PROJECT) as session:
        session.wait_for_text("one.git")
        session.send(b"/")
        text = b"ab " * 16_000
        typing = threading.Thread(target=lambda: os.write(session._terminal, text), daemon=True)
        typing.start()
        while typing.is_alive():
            session.read_available(0.05)
        started_s = time.monotonic()
        session.send(b"\x11")
        assert session.wait_for_exit() == 0
        assert time.monotonic() - started_s < 10
