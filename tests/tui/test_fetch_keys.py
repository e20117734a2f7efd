"""The keys that fetch: into what, how that is chosen, what is asked back, and what is refused."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.model.summary import RepositorySummary
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.drawing.cells import line_length
from gitdash.tui.fetches.choice import FetchChoice, fetch_page
from gitdash.tui.fetches.screen import FetchScreen
from gitdash.tui.options import Options
from gitdash.tui.pages.name_screen import NameScreen
from gitdash.tui.repeated_key import RepeatedKey
from tests.support.idle import until
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries, many_summaries
from tests.tui.repository_pages import HOSTILE_TEXTS, texts_of
from tests.tui.source_double import SourceDouble

WEB = ROOT + b"/team/web.git"
API = ROOT + b"/team/api.git"
CONFIGURED = FetchOptions(alternate_refs="use", time_limit_s=90.0, protocols=("https", "ssh", "file"))


class DrivenFetches(Driven):
    """The dashboard with the cursor on one repository."""

    @property
    def page(self) -> FetchScreen:
        assert isinstance(self.app.screen, FetchScreen)
        return self.app.screen

    def page_text(self) -> str:
        return "\n".join("".join(piece.text for piece in line) for line in self.page.items.lines)


@asynccontextmanager
async def dashboard(
    summaries: Sequence[RepositorySummary] | None = None, *, read_only: bool = False
) -> AsyncIterator[DrivenFetches]:
    source = SourceDouble(fixed_reports())
    options = Options(read_only=read_only, fetch=CONFIGURED)
    app = Dashboard([ROOT], fixed_summaries() if summaries is None else summaries, source, lambda: NOW_S, options)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(lambda: source.started, "the survey begins")
        app.fleet_screen.go_to(WEB)
        yield DrivenFetches(app, source, pilot)


async def test_f_fetches_into_the_repository_under_the_cursor_as_it_is_configured() -> None:
    async with dashboard() as driven:
        await driven.press("f")
        assert driven.source.fetched == [((WEB,), None)]
        assert driven.toasts() == ["Fetching into team/web.git: J shows how far that is."]


async def test_f_fetches_into_the_marked_repositories_wherever_the_cursor_is() -> None:
    async with dashboard() as driven:
        await driven.press("space")
        driven.app.fleet_screen.go_to(API)
        await driven.press("space", "g", "f")
        ((paths, options),) = driven.source.fetched
        assert (set(paths), options) == ({WEB, API}, None)
        assert driven.toasts() == ["Fetching into 2 repositories: J shows how far that is."]


@pytest.mark.parametrize("key", ["enter", "p"])
async def test_f_fetches_on_the_screens_of_one_repository_and_of_lenders(key: str) -> None:
    async with dashboard() as driven:
        await driven.press(key)
        path = driven.app.screen.current_path()  # type: ignore[attr-defined]
        await driven.press("f")
        assert path is not None
        assert driven.source.fetched == [((path,), None)]


async def test_more_than_twenty_repositories_are_fetched_into_when_it_is_asked_for_twice() -> None:
    async with dashboard(many_summaries(21)) as driven:
        await driven.press("a", "f")
        assert driven.source.fetched == []
        assert driven.toasts() == ["Once more fetches into 21 repositories."]
        await driven.press("f")
        assert len(driven.source.fetched[0][0]) == 21


async def test_twenty_repositories_are_fetched_into_at_once() -> None:
    async with dashboard(many_summaries(20)) as driven:
        await driven.press("a", "f")
        assert len(driven.source.fetched[0][0]) == 20


async def test_of_an_empty_table_nothing_is_fetched() -> None:
    async with dashboard(()) as driven:
        await driven.press("f", "F")
        assert driven.source.fetched == []
        assert driven.toasts() == ["There is no repository under the cursor."] * 2


@pytest.mark.parametrize("keys", [("f",), ("F",), ("enter", "f"), ("enter", "F")])
async def test_read_only_refuses_to_fetch(keys: tuple[str, ...]) -> None:
    async with dashboard(read_only=True) as driven:
        await driven.press(*keys)
        assert driven.source.fetched == []
        assert driven.toasts() == ["Read-only: nothing is fetched."]
        assert not isinstance(driven.app.screen, FetchScreen)
        assert not {"fetch", "choose_fetch"} & driven.app.shown_keys.keys()


async def test_page_begins_with_what_is_configured_and_esc_fetches_nothing() -> None:
    async with dashboard() as driven:
        await driven.press("F")
        assert driven.page.choice.options == CONFIGURED
        assert "Fetches into team/web.git." in driven.page_text()
        assert "By https, ssh or file only, for 1 m 30 s at most each" in driven.page_text()
        await driven.press("down", "right", "down", "right", "escape")
        assert driven.app.screen is driven.app.fleet_screen
        assert driven.source.fetched == []


async def test_page_starts_what_was_chosen_with_all_else_as_configured() -> None:
    async with dashboard() as driven:
        await driven.press("F", "down", "right", "down", "space", "space", "down", "left", "enter")
        # use -> auto; config -> yes -> no; no -> yes
        options = FetchOptions(
            alternate_refs="auto", prune=False, dry_run=True, time_limit_s=90.0, protocols=("https", "ssh", "file")
        )
        assert driven.source.fetched == [((WEB,), options)]
        assert driven.app.screen is driven.app.fleet_screen
        assert driven.toasts() == ["Asking what a fetch would change in team/web.git: J shows how far that is."]


async def test_one_remote_and_a_group_of_remotes_are_typed() -> None:
    async with dashboard() as driven:
        await driven.press("F", "right")
        assert driven.page.choice.options.remotes == ("origin",)
        assert "< origin >" in driven.page_text()
        await driven.press("right")
        assert isinstance(driven.app.screen, NameScreen)
        await driven.press(*"upstream", "enter")
        assert driven.page.choice.options.remotes == ("upstream",)
        assert "< upstream >" in driven.page_text()
        await driven.press("right", *"mirrors", "enter")
        assert (driven.page.choice.options.remotes, driven.page.choice.options.group) == ((), "mirrors")
        assert "< group mirrors >" in driven.page_text()
        await driven.press("right")
        assert driven.page.choice.options == CONFIGURED


async def test_no_name_leaves_the_remotes_as_they_were() -> None:
    async with dashboard() as driven:
        await driven.press("F", "left")
        assert isinstance(driven.app.screen, NameScreen)
        await driven.press(*"abc", "escape")
        assert driven.page.choice.options == CONFIGURED
        await driven.press("enter")
        assert driven.source.fetched == [((WEB,), CONFIGURED)]


async def test_protocols_can_be_chosen_for_one_fetch() -> None:
    async with dashboard() as driven:
        await driven.press("F", "j", "j", "j", "j", "right")
        assert driven.page.choice.options.protocols == ("file",)
        assert "By file only" in driven.page_text()
        await driven.press("right")
        assert set(driven.page.choice.options.protocols) == {"https", "ssh", "http", "git", "file"}
        await driven.press("right")
        assert driven.page.choice.options == CONFIGURED


async def test_page_asks_back_before_many_are_fetched_into() -> None:
    async with dashboard(many_summaries(21)) as driven:
        await driven.press("a", "F", "enter")
        assert driven.source.fetched == []
        assert driven.toasts() == ["Once more fetches into 21 repositories."]
        await driven.press("enter")
        assert len(driven.source.fetched) == 1
        assert driven.app.screen is driven.app.fleet_screen


@pytest.mark.parametrize("width", [52, 60, 80, 100, 110])
@pytest.mark.parametrize("text", HOSTILE_TEXTS[:4])
def test_page_is_no_wider_than_its_frame_whatever_the_names(width: int, text: str) -> None:
    choice = FetchChoice(FetchOptions())
    choice.named("name", text)
    for number in range(5):
        for _ in range(3):
            choice.turn(number, 1)
            page = fetch_page(choice, text, width)
            assert max(map(line_length, page.lines)) <= width
            assert len(page.items) == 5


def test_each_value_has_a_sentence_of_its_own() -> None:
    choice = FetchChoice(FetchOptions())
    seen = set()
    for number, count in enumerate((4, 3, 3, 2, 3)):
        for _ in range(count):
            kind = choice.turn(number, 1)
            if kind is not None:
                choice.named(kind, "x")
            page = fetch_page(choice, "x", 200)
            seen.add(texts_of(page)[page.items[number]])
    assert len(seen) == 15


@pytest.mark.parametrize(
    ("configured", "others"),
    [
        (("file",), [("https", "ssh", "http", "git", "file")]),
        (("https", "ssh", "http", "git", "file"), [("file",)]),
        (("https", "ssh"), [("file",), ("https", "ssh", "http", "git", "file")]),
    ],
)
@pytest.mark.parametrize("step", [1, -1])
def test_all_protocols_can_be_reached_both_ways_whatever_is_configured(
    configured: tuple[str, ...], others: list[tuple[str, ...]], step: int
) -> None:
    choice = FetchChoice(FetchOptions(protocols=configured))
    seen = [choice.options.protocols]
    for _ in others:
        choice.turn(4, step)
        seen.append(choice.options.protocols)
    assert seen == [configured, *others[::step]]
    choice.turn(4, step)
    assert choice.options.protocols == configured


async def test_fetch_is_started_once_by_a_burst_of_keys() -> None:
    async with dashboard() as driven:
        await driven.press("F")
        page = driven.page
        page.action_accept()
        page.action_accept()
        await driven.pilot.pause()
        assert len(driven.source.fetched) == 1


async def test_enter_pressed_once_more_after_a_fetch_was_started_opens_nothing() -> None:
    async with dashboard() as driven:
        await driven.press("F")
        for _ in range(4):
            await driven.press("enter")
        assert len(driven.source.fetched) == 1
        assert driven.app.screen is driven.app.fleet_screen
        # another key is heard at once, and the same one after it
        await driven.press("j", "enter")
        assert driven.app.screen is not driven.app.fleet_screen


@pytest.mark.parametrize(
    ("presses", "dropped"),
    [
        # each press: the key, and seconds after the one that was spent
        ([("enter", 0.1), ("enter", 0.4), ("enter", 0.7)], [True, True, True]),
        ([("enter", 0.5)], [False]),
        ([("enter", 0.1), ("enter", 0.6)], [True, False]),
        ([("j", 0.1), ("enter", 0.2)], [False, False]),
    ],
)
def test_presses_that_follow_a_spent_one_are_dropped_as_long_as_they_follow_fast(
    presses: list[tuple[str, float]], dropped: list[bool]
) -> None:
    key = RepeatedKey()
    assert not key.is_dropped("enter", 10.0)
    key.spend()
    assert [key.is_dropped(name, 10.0 + after_s) for name, after_s in presses] == dropped
