"""Columns that a person chooses: which fit, the page to choose them on, and that names never go."""

import pytest

from gitdash.export.columns import COLUMNS, column_named
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.chosen_columns import chosen_layout
from gitdash.tui.pages.column_choice import ColumnChoice, columns_page
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, row

ATTENTION = ("name", "state", "why", "findings", "disk", "age")


def placed_keys(width: int, *keys: str) -> list[str]:
    return [placed.column.key for placed in chosen_layout([column_named(key) for key in keys], width).columns]


def heads(driven: DrivenFleet) -> list[str]:
    return [placed.column.key for placed in driven.app.table.table_layout.columns]


@pytest.mark.parametrize("width", [30, 57, 77, 117, 197])
@pytest.mark.parametrize("keys", [ATTENTION, tuple(column.key for column in COLUMNS), ("why", "path", "name")])
def test_chosen_columns_stand_side_by_side_within_the_width(width: int, keys: tuple[str, ...]) -> None:
    layout = chosen_layout([column_named(key) for key in keys], width)
    for former, placed in zip(layout.columns, layout.columns[1:], strict=False):
        assert placed.left == former.left + former.width + 2
    assert layout.columns[-1].left + layout.columns[-1].width <= width - 1
    assert all(placed.width >= min(placed.column.width, 16) for placed in layout.columns)


def test_last_columns_fall_off_where_there_is_no_room() -> None:
    # A margin of 2 and one of 1, the name's 20, then 2 + 8 for disk and 2 + 5 for each count.
    assert placed_keys(40, "name", "disk", "packs", "loose") == ["name", "disk", "packs"]
    assert placed_keys(39, "name", "disk", "packs", "loose") == ["name", "disk"]


def test_column_behind_one_that_does_not_fit_falls_off_too() -> None:
    assert placed_keys(35, "name", "reachable", "packs") == ["name", "reachable"]
    assert placed_keys(34, "name", "reachable", "packs") == ["name"]


def test_names_stay_wherever_they_stand() -> None:
    assert placed_keys(40, "disk", "exclusive", "packs", "loose", "name") == ["disk", "name"]


def test_sentence_makes_room_for_the_columns_behind_it() -> None:
    assert placed_keys(79, *ATTENTION) == list(ATTENTION)
    widths = {
        placed.column.key: placed.width for placed in chosen_layout(list(map(column_named, ATTENTION)), 197).columns
    }
    assert widths["why"] == column_named("why").width
    assert widths["name"] > 32


def test_choice_begins_with_what_is_shown() -> None:
    automatic = ColumnChoice(COLUMNS, (), ("name", "disk"))
    assert automatic.is_automatic
    assert automatic.shown == {"name", "disk"}
    assert automatic.chosen() == ()
    chosen = ColumnChoice(COLUMNS, ("packs", "name"), ("name", "disk"))
    assert chosen.keys[:3] == ["packs", "name", "role"]
    assert sorted(chosen.keys) == sorted(column.key for column in COLUMNS)
    assert chosen.chosen() == ("packs", "name")


def test_page_tells_the_shown_from_the_hidden_and_those_that_do_not_fit() -> None:
    choice = ColumnChoice(COLUMNS, ("name", "disk", "why"), ())
    page = columns_page(choice, {"why"}, 100)
    lines = ["".join(text for text, _ in line) for line in page.lines]
    assert lines[0].startswith(" 3 columns, in this order; 1 does not fit into this width.")
    assert [lines[number].split()[:3] for number in page.items[:3]] == [
        ["[x]", "name", "The"],
        ["[x]", "disk", "Sum"],
        ["[x]", "why", "!"],
    ]
    assert lines[page.items[4]].startswith(" [ ] state")


def rows() -> list[RepositorySummary]:
    return [row("a.git", pack_count=1, disk_bytes=3), row("b.git", pack_count=2, disk_bytes=1)]


async def test_columns_are_shown_at_once_and_kept_by_enter() -> None:
    async with driven_fleet(rows(), size=(80, 24)) as driven:
        automatic = heads(driven)
        assert automatic == ["name", "state", "disk", "exclusive", "reachable", "packs"]
        await driven.press("c", "j", "j", "space")
        assert heads(driven) == ["name", "disk", "exclusive", "reachable", "packs"]
        await driven.press("enter")
        assert driven.app.screen is driven.app.fleet_screen
        assert driven.app.table.chosen_columns == ("name", "disk", "exclusive", "reachable", "packs")
        assert "state" not in driven.lines()[1]


async def test_escape_leaves_columns_as_they_were() -> None:
    async with driven_fleet(rows(), size=(80, 24)) as driven:
        automatic = heads(driven)
        await driven.press("c", "j", "j", "space", "escape")
        assert heads(driven) == automatic
        assert driven.app.table.chosen_columns == ()
        await driven.press("c", "j", "j", "space", "enter", "c", "j", "space", "q")
        assert "state" not in driven.app.table.chosen_columns
        assert "role" not in driven.app.table.chosen_columns


async def test_column_moves_and_the_cursor_goes_with_it() -> None:
    async with driven_fleet(rows(), size=(80, 24)) as driven:
        await driven.press("c", "j", "j", "less_than_sign", "less_than_sign", "less_than_sign")
        assert heads(driven)[:2] == ["state", "name"]
        await driven.press("greater_than_sign", "shift+down", "shift+up", "enter")
        assert heads(driven)[:2] == ["name", "state"]


async def test_column_of_names_is_never_hidden() -> None:
    async with driven_fleet(rows()) as driven:
        before = heads(driven)
        await driven.press("c", "space", "enter")
        assert heads(driven) == before
        assert driven.app.table.chosen_columns == ()


async def test_reset_lets_the_width_decide_again() -> None:
    async with driven_fleet(rows()) as driven:
        automatic = heads(driven)
        await driven.press("c", "j", "space", "enter")
        assert heads(driven) != automatic
        await driven.press("c", "r", "enter")
        assert heads(driven) == automatic
        assert driven.app.table.chosen_columns == ()


async def test_what_does_not_fit_is_said_and_comes_with_the_room() -> None:
    async with driven_fleet(rows(), size=(80, 24)) as driven:
        await driven.press("c", "G", "space")
        assert any("1 does not fit" in line for line in driven.lines())
        await driven.press("enter")
        assert [toast.message for toast in driven.app._notifications] == ["1 column does not fit: root"]
        await driven.pilot.resize_terminal(160, 24)
        await driven.pilot.pause()
        assert heads(driven)[-1] == "root"


async def test_chosen_column_can_be_sorted_by() -> None:
    async with driven_fleet(rows()) as driven:
        driven.app.table.choose_columns(("name", "garbage"))
        await driven.press("greater_than_sign")
        assert driven.fleet.order[0][0] == "name"
        await driven.press("greater_than_sign")
        assert driven.fleet.order[0] == ("garbage", True)
        assert "▼ garbage" in driven.lines()[1]


async def test_page_of_columns_can_be_left_by_its_keys_and_clicked() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("c")
        await driven.pilot.click("#page", offset=(10, 3))
        await driven.press("space", "enter")
        assert driven.app.table.chosen_columns[:2] == ("name", "state")
        assert "role" not in driven.app.table.chosen_columns
