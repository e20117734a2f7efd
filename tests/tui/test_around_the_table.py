"""What stands around the table is about what the table shows now, whatever brought that there."""

from gitdash.model.report import State
from gitdash.model.view import View
from gitdash.tui.closing import close
from gitdash.tui.drawing.cells import choose_layout
from gitdash.tui.fleet.screen import FleetScreen
from gitdash.tui.options import Options
from gitdash.tui.pages.page_screen import PageScreen
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, row

KIB = 1024
POOL = [
    row("pool", State.OK, role="pool", disk_bytes=1 * KIB),
    row("one", State.WARNING, "many-packs", role="member", lender="pool", disk_bytes=2 * KIB),
    row("two", State.OK, role="member", lender="pool", disk_bytes=4 * KIB),
]


def pane(driven: DrivenFleet) -> str:
    """The head of the detail pane and the line below it."""
    return "\n".join("".join(piece.text for piece in line) for line in driven.app.fleet_screen.panels.detail.lines[:2])


def title(driven: DrivenFleet) -> str:
    return driven.lines()[0]


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


async def test_title_names_the_column_that_sorts_and_is_not_shown() -> None:
    views = [View(name="by garbage", sort="garbage", columns=("name", "disk"))]
    async with driven_fleet(POOL, options=Options(views=views)) as driven:
        assert "sorted by" not in title(driven)
        await driven.press("1")
        assert "by garbage · /srv/git · sorted by garbage ▼" in title(driven)
        await driven.press("O")
        assert "/srv/git · sorted by garbage ▲" in title(driven)
        await driven.press("greater_than_sign")
        assert "sorted by" not in title(driven)


async def test_title_names_the_column_that_sorts_when_the_terminal_becomes_too_narrow_for_it() -> None:
    async with driven_fleet(POOL, size=(140, 40)) as driven:
        driven.app.fleet_screen.sort_by("own")
        await driven.pilot.pause()
        assert "sorted by" not in title(driven)
        await driven.pilot.resize_terminal(80, 24)
        await driven.pilot.pause()
        assert "sorted by own ▼" in title(driven)


async def test_title_and_tick_drop_the_name_of_a_view_that_is_removed_and_have_it_again_when_that_is_undone() -> None:
    async with driven_fleet(POOL) as driven:
        await driven.press("greater_than_sign", "w")
        await driven.type("biggest")
        await driven.press("enter")
        assert "gitdash has a view of this name." in "\n".join(driven.lines())
        await driven.press("enter")
        assert "biggest · " in title(driven)
        assert [toast.message for toast in driven.app._notifications] == ["Saved as 'biggest'."]
        await driven.press("V", "x")
        assert "✓" not in "\n".join(driven.lines())
        assert "biggest · " not in title(driven)
        await driven.press("u")
        assert "1 ✓ biggest" in "\n".join(driven.lines())
        assert "biggest · " in title(driven)


async def test_name_of_a_view_that_was_saved_anew_is_not_that_of_the_former() -> None:
    async with driven_fleet(POOL) as driven:
        await driven.press("w")
        await driven.type("mine")
        await driven.press("enter")
        driven.app.context.views.save(View(name="mine", sort="packs"))
        assert driven.app.fleet_screen.viewing.name is None


async def test_page_that_another_one_covers_is_left_where_it_is() -> None:
    async with driven_fleet([row("a.git")]) as driven:
        await driven.pilot.press("question_mark")
        below = driven.app.screen
        await driven.app.push_screen(PageScreen("above", lambda _: [], {}))
        above = driven.app.screen
        close(below)
        await driven.pilot.pause()
        assert driven.app.screen is above
        close(above)
        close(below)
        close(below)
        await driven.pilot.pause()
        assert isinstance(driven.app.screen, FleetScreen)


async def test_keys_that_sort_do_nothing_before_the_columns_are_placed() -> None:
    async with driven_fleet([row("a.git")]) as driven:
        before = driven.fleet.order
        driven.app.table.table_layout = choose_layout((), 0)
        await driven.press(">")
        assert driven.fleet.order == before
