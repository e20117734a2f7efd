"""Saved views: how one is opened, left, saved, replaced and removed, and what the configuration may get wrong."""

from collections.abc import Sequence

import pytest

from gitdash.export.views import BUILT_IN_VIEWS, decode_views, encode_views
from gitdash.model.report import State
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import View
from gitdash.tui.memory import VIEWS_NAME, Memory
from gitdash.tui.options import Options
from gitdash.tui.pages.page_screen import PageScreen
from gitdash.tui.pages.view_list import description, views_page
from gitdash.tui.pages.views_screen import ViewsScreen
from gitdash.tui.saved_views import Origin, SavedViews
from tests.support.idle import until
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, row

BIG = View(name="big", filter="=disk > 15", sort="-disk", columns=("disk", "packs"), group="state")


class PreferencesDouble:
    """Preferences in memory."""

    def __init__(self, *views: View) -> None:
        self.values: dict[str, bytes] = {VIEWS_NAME: encode_views(views)}

    def preference(self, name: str) -> bytes | None:
        return self.values.get(name)

    def save_preference(self, name: str, value: bytes) -> None:
        self.values[name] = value

    def views(self) -> tuple[View, ...]:
        return decode_views(self.values[VIEWS_NAME])


def rows() -> list[RepositorySummary]:
    return [
        row("small.git", State.OK, pack_count=3, disk_bytes=10),
        row("middle.git", State.WARNING, "many-packs", pack_count=80, disk_bytes=20),
        row("large.git", State.OK, pack_count=1, disk_bytes=30),
    ]


def heads(driven: DrivenFleet) -> list[str]:
    return [placed.column.key for placed in driven.app.table.table_layout.columns]


def texts(lines: Sequence[Sequence[tuple[str, object]]]) -> list[str]:
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_views_that_people_made_come_first_and_stand_in_for_those_of_the_same_name() -> None:
    views = SavedViews([View(name="mine")], [View(name="saved"), View(name="biggest", sort="packs")])
    listed = views.listed()
    assert [entry.view.name for entry in listed[:3]] == ["mine", "saved", "biggest"]
    assert [entry.origin for entry in listed[:3]] == [Origin.CONFIGURED, Origin.OWN, Origin.OWN]
    assert [entry.view.name for entry in listed].count("biggest") == 1
    assert len(listed) == 2 + len(BUILT_IN_VIEWS)


def test_view_of_the_configuration_loses_what_there_is_not_and_the_problem_is_told() -> None:
    views = SavedViews([View(name="x", columns=("nam", "disk"), sort="sise")])
    assert views.listed()[0].view == View(name="x", columns=("disk",))
    assert [problem.split(":")[0] for problem in views.problems] == ["view 'x'"] * 2


def test_saving_and_removing_are_noted_for_the_state_file() -> None:
    noted: list[tuple[str, View | None]] = []
    views = SavedViews(note=lambda name, view: noted.append((name, view)))
    views.save(BIG)
    assert views.remove("big") == BIG
    assert views.remove("big") is None
    assert noted == [("big", BIG), ("big", None)]


KEYS = {f"view_{number}": str(number) for number in range(1, 10)}


def test_page_gives_the_first_nine_a_key_and_marks_the_one_that_is_shown() -> None:
    listed = SavedViews([BIG, View(name="other")]).listed()
    page = views_page(listed, "other", KEYS, 80)
    shown = [text for number, text in enumerate(texts(page.lines)) if number in page.items]
    assert [text[:5] for text in shown[:2]] == [" 1   ", " 2 ✓ "]
    assert [text[1] for text in shown] == [*"123456789", *" " * (len(listed) - 9)]


def test_description_says_all_that_a_view_sets() -> None:
    assert description(BIG) == "filter =disk > 15; by disk, turned round; grouped by state; disk, packs"
    assert description(View(name="x")) == "all rows"


@pytest.mark.safety
def test_name_and_filter_of_a_view_are_shown_printable() -> None:
    page = views_page(SavedViews([View(name="a\x1b[2J", filter="x\x07")]).listed(), None, KEYS, 80)
    assert "\x1b" not in "".join(texts(page.lines))
    assert "\x07" not in "".join(texts(page.lines))


async def test_number_key_opens_a_view_and_escape_leads_back() -> None:
    async with driven_fleet(rows(), options=Options(views=[BIG])) as driven:
        await driven.press("greater_than_sign")
        before = driven.fleet.order, heads(driven), driven.names
        await driven.press("1")
        assert driven.names == ["middle.git", "large.git"]
        assert driven.fleet.order[0] == ("disk", False)
        assert driven.fleet.grouping == "state"
        assert heads(driven) == ["name", "disk", "packs"]
        assert "big · /srv/git" in driven.lines()[0]
        assert driven.app.table.cursor_position == 0
        await driven.press("escape")
        assert (driven.fleet.order, heads(driven), driven.names) == before
        assert driven.fleet.grouping == "none"
        assert "big" not in driven.lines()[0]
        assert not driven.app.fleet_screen.has_class("-filtering")


@pytest.mark.parametrize("keys", [["O"], ["z"], ["slash", "enter", "escape"], ["slash", "0"]])
async def test_name_of_a_view_goes_when_anything_of_it_is_changed(keys: list[str]) -> None:
    async with driven_fleet(rows(), options=Options(views=[BIG])) as driven:
        await driven.press("1")
        await driven.press(*keys)
        assert driven.app.fleet_screen.viewing.name is None
        assert "big" not in driven.lines()[0]


async def test_one_view_after_another_leads_back_to_what_was_before_the_first() -> None:
    async with driven_fleet(rows(), options=Options(views=[BIG, View(name="many", filter="=packs > 50")])) as driven:
        await driven.press("slash", *"lar", "enter", "1", "2")
        assert driven.names == ["middle.git"]
        assert driven.fleet.grouping == "none"
        await driven.press("escape")
        assert driven.names == ["large.git"]
        assert driven.app.fleet_screen.filter_bar.input.value == "lar"


async def test_view_without_columns_shows_those_that_fit_and_without_a_sort_keeps_the_order() -> None:
    async with driven_fleet(rows(), options=Options(views=[BIG, View(name="plain")])) as driven:
        automatic = heads(driven)
        await driven.press("1", "2")
        assert heads(driven) == automatic
        assert driven.fleet.order[0] == ("disk", False)
        assert len(driven.names) == 3


async def test_view_whose_condition_is_wrong_shows_all_rows_and_says_so() -> None:
    async with driven_fleet(rows(), options=Options(views=[BIG, View(name="broken", filter="=disk >")])) as driven:
        await driven.press("1", "2")
        assert len(driven.names) == 3
        assert driven.app.fleet_screen.has_class("-filtering")
        assert [toast.message for toast in driven.app._notifications] == ["'broken': not complete"]


async def test_problems_of_the_configuration_are_told_and_do_no_harm() -> None:
    async with driven_fleet(rows(), options=Options(views=[View(name="x", columns=("nam",))])) as driven:
        assert [toast.title for toast in driven.app._notifications] == ["Configuration"]
        await driven.press("1")
        assert driven.app.fleet_screen.viewing.name == "x"


async def test_ninth_view_has_a_number() -> None:
    views = [View(name=f"v{number}", filter="one") for number in range(1, 10)]
    async with driven_fleet(rows(), options=Options(views=views)) as driven:
        await driven.press("9")
        assert driven.app.fleet_screen.viewing.name == "v9"


@pytest.mark.parametrize("key", ["V", "c"])
async def test_help_opens_over_a_page_of_choices_and_leads_back(key: str) -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press(key)
        page = driven.app.screen
        await driven.press("question_mark")
        assert driven.app.screen is not page
        assert isinstance(driven.app.screen, PageScreen)
        await driven.press("escape")
        assert driven.app.screen is page


async def test_number_without_a_view_does_nothing() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("9")
        assert driven.app.fleet_screen.viewing.name is None


@pytest.mark.parametrize("keys", [["V", "j", "enter"], ["V", "2"]])
async def test_view_is_chosen_on_its_page(keys: list[str]) -> None:
    async with driven_fleet(rows(), options=Options(views=[View(name="first"), BIG])) as driven:
        await driven.press(*keys)
        assert driven.app.screen is driven.app.fleet_screen
        assert driven.app.fleet_screen.viewing.name == "big"


async def test_double_click_opens_a_view() -> None:
    async with driven_fleet(rows(), options=Options(views=[View(name="first"), BIG])) as driven:
        await driven.press("V")
        await driven.pilot.click("#page", offset=(10, 2), times=2)
        await driven.pilot.pause()
        assert driven.app.fleet_screen.viewing.name == "big"


async def test_what_is_shown_is_saved_under_a_name_and_remembered() -> None:
    preferences = PreferencesDouble()
    memory = Memory(preferences)
    async with driven_fleet(rows(), memory=memory) as driven:
        await driven.press("greater_than_sign", "z", "slash")
        await driven.type("git")
        await driven.press("enter", "w")
        await driven.type("by root")
        await driven.press("enter")
        assert driven.app.fleet_screen.viewing.name == "by root"
        assert "by root · " in driven.lines()[0]
    memory.close()
    assert preferences.views() == (View(name="by root", filter="git", sort="disk", group="root"),)


async def test_replacing_a_view_is_asked_for_first() -> None:
    preferences = PreferencesDouble(View(name="big", filter="old"))
    memory = Memory(preferences)
    async with driven_fleet(rows(), memory=memory) as driven:
        await driven.press("w", *"big", "enter")
        assert any("Enter again replaces it" in line for line in driven.lines())
        memory.close()
        assert preferences.views()[0].filter == "old"
        await driven.press("enter")
        assert driven.app.screen is driven.app.fleet_screen
    memory.close()
    assert [(view.name, view.filter) for view in preferences.views()] == [("big", "")]


async def test_escape_and_an_empty_name_save_nothing() -> None:
    preferences = PreferencesDouble()
    memory = Memory(preferences)
    async with driven_fleet(rows(), memory=memory) as driven:
        await driven.press("w", "space", "enter")
        assert driven.app.screen is not driven.app.fleet_screen
        await driven.press("x", "escape")
        assert driven.app.screen is driven.app.fleet_screen
    memory.close()
    assert preferences.views() == ()


async def test_view_that_was_saved_is_removed_and_brought_back() -> None:
    preferences = PreferencesDouble(View(name="a"), View(name="b"))
    memory = Memory(preferences)
    async with driven_fleet(rows(), memory=memory) as driven:
        await driven.press("V", "x")
        memory.close()
        assert [view.name for view in preferences.views()] == ["b"]
        assert "Removed 'a'. u brings it back." in [toast.message for toast in driven.app._notifications]
        await driven.press("u")
        memory.close()
        assert sorted(view.name for view in preferences.views()) == ["a", "b"]


async def test_views_of_gitdash_and_of_the_configuration_stay() -> None:
    async with driven_fleet(rows(), options=Options(views=[BIG])) as driven:
        await driven.press("V", "x", "j", "x")
        screen = driven.app.screen
        assert isinstance(screen, ViewsScreen)
        assert len(screen.views.listed()) == 1 + len(BUILT_IN_VIEWS)
        assert len(driven.app._notifications) == 2


async def test_every_view_of_gitdash_can_be_shown() -> None:
    async with driven_fleet(rows()) as driven:
        for number, entry in enumerate(BUILT_IN_VIEWS, start=1):
            await driven.press(str(number))
            assert driven.app.fleet_screen.viewing.name == entry.view.name
            assert driven.fleet.filter.problem is None


async def test_palette_opens_a_view_from_any_screen() -> None:
    async with driven_fleet(rows(), options=Options(views=[View(name="[b]grand[/b]", sort="disk")])) as driven:
        await driven.press("p", "ctrl+p")
        await driven.type("view grand")
        await until(lambda: any("View: [b]grand[/b]" in line for line in driven.lines()), "the view is found")
        await driven.press("down", "enter")
        await until(lambda: driven.app.fleet_screen.viewing.name == "[b]grand[/b]", "the view is shown")
        assert driven.app.screen is driven.app.fleet_screen
