"""Marks on repositories: what sets and drops them, what survives, and what acts on them."""

import pytest

from gitdash.model.report import State
from gitdash.tui.confirmation import CONFIRM_S, Confirmation
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, fleet_of, row
from tests.tui.fixture_fleet import ROOT, many_summaries

LETTERS = "abcdefgh"
ROWS = [
    row(letter, State.NOTICE if letter in "abc" else State.OK, *(["no-bitmap"] if letter in "abc" else []))
    for letter in LETTERS
]
"""In the order of their names: `a` to `c` lack a bitmap."""


def paths(names: str) -> list[bytes]:
    return [ROOT + b"/" + name.encode() for name in names]


def test_marks_belong_to_repositories_through_sorting_filtering_grouping_and_change() -> None:
    fleet = fleet_of(ROWS)
    number = fleet.number_of(ROOT + b"/b")
    assert number is not None
    fleet.marks.toggle([number])
    fleet.sort_by("name")
    fleet.sort_by("name")
    fleet.set_filter("nothing-has-this")
    fleet.group_by("state")
    fleet.put(row("b", State.CRITICAL, "stale-lock"))
    fleet.set_filter("")
    fleet.arrange()
    assert fleet.acted_on(None) == paths("b")


def test_mark_vanishes_with_its_repository_and_the_others_stay_where_they_were() -> None:
    fleet = fleet_of(ROWS)
    fleet.marks.add(fleet.view[:4])
    assert fleet.acted_on(None) == paths("abcd")
    fleet.forget(paths("ac"))
    assert len(fleet.marks.numbers) == 2
    assert fleet.acted_on(None) == paths("bd")


def test_marks_that_the_filter_hides_are_counted_and_still_acted_on() -> None:
    fleet = fleet_of(ROWS)
    fleet.marks.add(fleet.view)
    fleet.set_filter("no-bitmap")
    assert (len(fleet.marks.numbers), fleet.hidden_marked_count) == (8, 5)
    assert fleet.acted_on(fleet.view[0])[:3] == paths("abc")
    assert set(fleet.acted_on(fleet.view[0])) == set(paths(LETTERS))


def test_without_marks_an_action_means_the_line_under_the_cursor() -> None:
    fleet = fleet_of(ROWS)
    assert fleet.acted_on(fleet.view[2]) == paths("c")
    assert fleet.acted_on(None) == []
    fleet.group_by("state")
    assert fleet.acted_on(fleet.lines[0]) == paths("abc")


def test_same_wish_twice_within_the_time_is_a_yes_and_asks_anew_after_that() -> None:
    confirmation = Confirmation()
    assert not confirmation.is_given("this", 10.0)
    assert not confirmation.is_given("that", 10.1)
    assert not confirmation.is_given("that", 10.2 + CONFIRM_S)
    assert confirmation.is_given("that", 10.2 + CONFIRM_S + CONFIRM_S)
    assert not confirmation.is_given("that", 10.3 + CONFIRM_S + CONFIRM_S)


def _margins(driven: DrivenFleet) -> list[str]:
    """The left margin of the lines below the head, as far as they have rows."""
    return [line[:2].ljust(2) for line in driven.lines()[2 : 2 + len(driven.fleet.lines)]]


async def test_space_marks_and_goes_on_and_a_second_time_unmarks() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("space", "space")
        assert driven.marked == set("ab")
        assert driven.cursor == "c"
        assert _margins(driven) == [" ✓", " ✓", "▌ ", *["  "] * 5]
        await driven.press("k", "space")
        assert driven.marked == set("a")
        await driven.press("G", "space")
        assert driven.marked == set("ah")
        assert _margins(driven)[-1] == "▌✓"


async def test_space_on_a_head_marks_its_rows_and_the_head_says_how_many() -> None:
    async with driven_fleet(ROWS) as driven:
        driven.app.fleet_screen.folding.group_by("state")
        driven.app.table.move_cursor(0)
        await driven.press("minus", "space")
        assert driven.marked == set("abc")
        assert driven.cursor == "[ok]"
        assert _margins(driven) == [" ✓", "▌ "]
        driven.go_to("b")
        await driven.press("space")
        assert driven.marked == set("ac")
        assert _margins(driven)[0] == " -"
        assert "2 marked" in driven.lines()[2]
        await driven.press("g", "space")
        assert driven.marked == set("abc")
        await driven.press("g", "space")
        assert driven.marked == set()


async def test_range_follows_the_cursor_and_is_kept_by_the_same_key() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("j", "v", "j", "j")
        assert driven.marked == set()
        assert [margin[1] for margin in _margins(driven)] == list(" ✓✓✓    ")
        await driven.press("k")
        assert [margin[1] for margin in _margins(driven)] == list(" ✓✓     ")
        await driven.press("g")
        assert [margin[1] for margin in _margins(driven)] == list("✓✓      ")
        await driven.press("G", "v", "g")
        assert driven.marked == set("bcdefgh")
        assert driven.app.table.range_start is None


async def test_range_over_a_closed_group_means_its_rows() -> None:
    async with driven_fleet([*ROWS, row("z", State.CRITICAL, "stale-lock")]) as driven:
        driven.app.fleet_screen.folding.group_by("state")
        await driven.press("minus", "g", "v", "j")
        assert [margin[1] for margin in _margins(driven)] == list("✓✓ ")
        await driven.press("v")
        assert driven.marked == set("zabc")


async def test_range_whose_start_is_hidden_is_dropped() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("G", "v", "g", "slash", *"no-bitmap", "enter", "v")
        assert driven.marked == set()
        assert driven.app.table.range_start == driven.app.table.cursor


async def test_range_stays_on_its_repositories_when_one_before_it_vanishes() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("j", "j", "j", "v", "j")
        await driven.happen(gone=paths("a"))
        await driven.press("v")
        assert driven.marked == set("de")


async def test_all_and_none_and_the_others_act_on_what_the_filter_shows() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("G", "space", "slash", *"no-bitmap", "enter")
        await driven.press("a")
        assert driven.marked == set("abch")
        await driven.press("a")
        assert driven.marked == set("h")
        await driven.press("g", "space", "asterisk")
        assert driven.marked == set("bch")


async def test_escape_drops_the_range_then_the_filter_then_the_marks() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("space", "slash", *"no-bitmap", "enter", "v")

        def held() -> tuple[bool, bool, bool]:
            return driven.app.table.range_start is not None, len(driven.fleet.view) < 8, bool(driven.marked)

        assert held() == (True, True, True)
        await driven.press("escape")
        assert held() == (False, True, True)
        await driven.press("escape")
        assert held() == (False, False, True)
        await driven.press("escape")
        assert held() == (False, False, False)


async def test_escape_from_a_filter_that_is_typed_clears_it_and_leaves_the_range() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("v", "j", "slash", "n", "escape")
        assert driven.app.table.range_start is not None
        assert len(driven.fleet.view) == 8


async def test_clicks_on_the_margin_and_with_ctrl_mark_and_with_shift_mark_up_to_there() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.click(1, 1)
        await driven.click(10, 3, control=True)
        assert driven.marked == set("bd")
        assert driven.cursor == "d"
        await driven.click(10, 6, shift=True)
        assert driven.marked == set("bdefg")
        await driven.click(0, 1)
        assert driven.marked == set("defg")
        await driven.click(10, 0)
        assert driven.marked == set("defg")


@pytest.mark.parametrize(("key", "attribute"), [("r", "rescanned"), ("s", "measured")])
async def test_row_actions_mean_the_marked_rows(key: str, attribute: str) -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("space", "space", key)
        assert getattr(driven.source, attribute) == paths("ab")


async def test_row_action_while_a_range_is_chosen_means_the_range() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("v", "j", "j", "r")
        assert driven.source.rescanned == paths("abc")
        assert driven.marked == set("abc")


async def test_row_action_on_a_head_means_the_rows_of_the_group() -> None:
    async with driven_fleet(ROWS) as driven:
        driven.app.fleet_screen.folding.group_by("state")
        driven.app.table.move_cursor(0)
        await driven.press("r", "y")
        assert driven.source.rescanned == paths("abc")
        assert driven.app.clipboard == "/srv/git/a /srv/git/b /srv/git/c"


async def test_measuring_more_than_fifty_waits_for_a_second_press() -> None:
    async with driven_fleet(many_summaries(51)) as driven:
        await driven.press("a", "s")
        assert driven.source.measured == []
        await driven.press("space", "s")
        assert len(driven.source.measured) == 50
        driven.source.measured.clear()
        await driven.press("a", "s", "s")
        assert len(driven.source.measured) == 51
