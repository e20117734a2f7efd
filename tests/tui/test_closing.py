"""Keys of one burst close a screen once: a terminal sends them together when they are pasted, or typed quickly."""

import os
import sys
from pathlib import Path

import pytest

from gitdash.export.columns import column_named
from gitdash.tui.drawing.chosen_columns import chosen_layout
from tests.support.pty_session import PtySession

F1 = b"\x1bOP"
ATTEMPT_COUNT = 60
PROJECT = os.fspath(Path(__file__).parents[2])


def _burst(*bursts: bytes, after: str | None = None) -> None:
    """Send each burst once the last has been drawn, the second one after a text; then the dashboard has to go on."""
    with PtySession([sys.executable, "-m", "tests.support.moving_fleet", "0", "0"], folder=PROJECT) as session:
        session.wait_for_text("quit")
        for number, burst in enumerate(bursts):
            start = len(session.output)
            session.send(burst)
            if number == 0 and after is not None:
                session.wait_for_text(after, start=start)
            else:
                session.wait_for(bool, start=start)
        _ask_for_help(session)
        session.send(b"\x11")
        assert session.wait_for_exit() == 0


def _ask_for_help(session: PtySession) -> None:
    """Ask until it is shown, of a page that asks for a name once that is left: its keys are letters of the name."""
    start = len(session.output)
    for _ in range(ATTEMPT_COUNT):
        session.send(F1)
        try:
            session.wait_for_text("Move the cursor down", start=start, limit_s=0.3)
        except AssertionError:
            assert session.exit_code is None
            session.send(b"\x1b")
        else:
            return
    raise AssertionError("no help was shown")


@pytest.mark.parametrize("keys", [b"\r\r", b"\r\r\r\r", b"\x1b[B\r\r", b"jobs\x1b[B\r\r\r", b"\x1b[B\r\x1b"])
def test_palette_is_closed_once(keys: bytes) -> None:
    _burst(b"\x10", keys, after="Choose a view")


@pytest.mark.parametrize("opened_by", [b"V", b"c", b"J", b"p"])
def test_screen_or_page_is_closed_once(opened_by: bytes) -> None:
    _burst(opened_by, b"\r\r")


@pytest.mark.parametrize("enter_count", [2, 3, 4])
def test_name_of_a_view_is_taken_once(enter_count: int) -> None:
    _burst(b"w", b"abc\r", b"w", b"abc" + b"\r" * enter_count)


@pytest.mark.parametrize("width", range(60))
def test_names_are_placed_however_narrow_the_window_is(width: int) -> None:
    for keys in (("name", "disk", "packs"), ("disk", "name", "packs"), ("disk", "packs", "name")):
        placed = chosen_layout([column_named(key) for key in keys], width).columns
        assert "name" in [one.column.key for one in placed]
