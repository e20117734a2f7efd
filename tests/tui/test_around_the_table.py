"""What stands around the table is about what the table shows now, whatever brought that there."""

import pytest
from textual.widgets import Input

from gitdash.model.report import State
from gitdash.model.view import View
from gitdash.tui.options import Options
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, row

KIB = 1024
POOL = [
    row("pool", State.OK, role="pool", disk_bytes=1 * KIB),
    row("one", State.WARNING, "many-packs", role="member", lender="pool", disk_bytes=2 * KIB),
    row("two", State.OK, role="member", lender="pool", disk_bytes=4 * KIB),
]


@pytest.fixture(autouse=True)
def _steady_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)


def pane(driven: DrivenFleet) -> str:
    """The head of the detail pane and the line below it."""
    return "\n".join("".join(piece.text for piece in line) for line in driven.app.fleet_screen.panels.detail.lines[:2])


def title(driven: DrivenFleet) -> str:
    return driven.screen_lines()[0]


async def test_pane_has_the_sums_of_the_group_as_the_next_view_has_it() -> None:
    views = [View(name="all", group="pool", sort="disk"), View(name="members", filter="=role = 'member'", group="pool")]
    async with driven_fleet(POOL, options=Options(views=views)) as driven:
        await driven.press("1")
        assert driven.cursor == "[pool]"
        assert "group of 3" in pane(driven)
        assert "7.00 KiB disk" in pane(driven)
        await driven.press("2")
        assert driven.cursor == "[pool]"
        assert "group of 2" in pane(driven)
        assert "6.00 KiB disk" in pane(driven)


async def test_pane_has_the_sums_of_the_group_as_the_filter_leaves_it() -> None:
    async with driven_fleet(POOL, options=Options(views=[View(name="all", group="pool")])) as driven:
        await driven.press("1", "slash")
        await driven.type("warning")
        assert "group of 1" in pane(driven)
        assert "2.00 KiB disk" in pane(driven)


async def test_pane_has_the_sums_of_the_group_when_rows_join_or_leave_it() -> None:
    async with driven_fleet(POOL, options=Options(views=[View(name="all", group="pool")])) as driven:
        await driven.press("1")
        await driven.happen(row("three", role="member", lender="pool", disk_bytes=8 * KIB))
        assert "group of 4" in pane(driven)
        assert "15.0 KiB disk" in pane(driven)
        await driven.happen(gone=[POOL[2].path])
        assert "11.0 KiB disk" in pane(driven)
