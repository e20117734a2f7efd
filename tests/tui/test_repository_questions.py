"""What the screen of one repository asks of the source, when, and what it does with answers, come they or not."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot

from gitdash.model.command import CommandRecord
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.namespaces import ReferenceNamespace, ReferenceNamespaces
from gitdash.model.repository import Unreadable
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.repository.screen import RepositoryScreen
from tests.support.idle import until
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.source_double import SourceDouble

PATH = ROOT + b"/team/web.git"
SHA1 = "1a2b3c4d5e6f70819203a4b5c6d7e8f901234567"


class Opened:
    """A repository's screen with its source."""

    def __init__(self, app: Dashboard, source: SourceDouble, pilot: Pilot[int]) -> None:
        self.app = app
        self.source = source
        self.pilot = pilot
        self.monotonic_s = 1_000.0

    @property
    def screen(self) -> RepositoryScreen:
        assert isinstance(self.app.screen, RepositoryScreen)
        return self.app.screen

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def flush(self) -> None:
        self.app.flush()
        await self.pilot.pause()

    async def paste(self, text: str) -> None:
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()
        await self.pilot.pause()

    async def ask(self, text: str) -> None:
        self.screen.id_line.input.value = text
        await self.press("enter")

    def lines(self) -> list[str]:
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        return "\n".join(self.lines())

    def cursor_line(self) -> str:
        items = self.screen.items
        return "".join(piece.text for piece in items.lines[items._items[items.selected]])


@asynccontextmanager
async def opened(*, has_reports: bool = True, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Opened]:
    source = SourceDouble(fixed_reports() if has_reports else ())
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: source.started, "the survey begins")
        here = Opened(app, source, pilot)
        app.context.monotonic = lambda: here.monotonic_s
        app.open_repository(PATH)
        await until(lambda: isinstance(app.screen, RepositoryScreen), "the repository is open")
        await here.flush()
        yield here


def command(number: int, *, elapsed_s: float | None = 0.5) -> CommandRecord:
    return CommandRecord(
        number=number,
        path=PATH,
        argv=("git", "rev-list", f"--max-count={number}"),
        started_s=900.0 + number,
        elapsed_s=elapsed_s,
        exit_code=None if elapsed_s is None else 0,
    )


def answer(asked: str, object_id: str | None = SHA1) -> ObjectAnswer:
    return ObjectAnswer(asked=asked, object_id=object_id, type="blob", bytes=1, stored_bytes=2, elapsed_s=0.001)


async def test_screen_asks_for_what_a_tab_needs_when_it_is_first_shown() -> None:
    async with opened() as here:
        assert (here.source.counted, here.source.timed) == ([], [])
        await here.press("5")
        assert (here.source.counted, here.source.timed) == ([PATH], [])
        await here.press("6")
        assert (here.source.counted, here.source.timed) == ([PATH], [PATH])
        await here.press("5", "6", "7", "8")
        assert (here.source.counted, here.source.timed) == ([PATH], [PATH])


async def test_nothing_is_asked_before_the_report_is_there() -> None:
    async with opened(has_reports=False) as here:
        await here.press("5")
        assert here.source.counted == []
        here.source.happen().reports[PATH] = next(
            report for report in fixed_reports() if report.repository.path == PATH
        )
        await here.flush()
        assert here.source.counted == [PATH]


async def test_count_is_shown_while_it_runs_when_it_comes_and_when_it_fails() -> None:
    async with opened() as here:
        await here.press("5")
        here.monotonic_s += 7
        here.screen._poll()
        await here.pilot.pause()
        assert "counting … 7 s" in here.text()
        here.source.happen().namespaces[PATH] = Unreadable("did not answer within 10 s")
        await here.flush()
        assert "They could not be counted: did not answer within 10 s" in here.text()
        await here.press("r")
        assert here.source.counted == [PATH, PATH]
        assert here.source.rescanned == [PATH]
        heads = ReferenceNamespace(
            name="refs/heads", loose_count=1, packed_count=4, count=5, examples=("refs/heads/a",)
        )
        tags = ReferenceNamespace(name="refs/tags", loose_count=0, packed_count=5, count=5, examples=("refs/tags/b",))
        here.source.happen().namespaces[PATH] = ReferenceNamespaces(
            namespaces=(heads, tags), head="refs/heads/a", elapsed_s=0.01
        )
        await here.flush()
        assert "10: 1 loose, 9 packed" in here.text()
        assert "refs/tags/b" not in here.text()
        await here.press("j")
        assert here.cursor_line().split()[0] == "refs/tags"
        assert "refs/tags/b" in here.text()


async def test_question_that_is_open_is_not_asked_again() -> None:
    async with opened() as here:
        await here.press("5", "r", "r")
        assert here.source.counted == [PATH]


async def test_answers_to_other_repositories_are_not_shown() -> None:
    async with opened() as here:
        await here.press("5")
        here.source.happen().namespaces[ROOT + b"/lost.git"] = Unreadable("not this one")
        await here.flush()
        assert "not this one" not in here.text()


async def test_reader_is_released_when_the_screen_closes_and_only_if_it_was_asked_for() -> None:
    async with opened() as here:
        await here.press("5", "7", "q")
        assert here.source.closed == []
        here.app.open_repository(PATH)
        await here.pilot.pause()
        await here.press("6", "q")
        await here.pilot.pause()
        assert here.source.closed == [PATH]


async def test_times_are_shown() -> None:
    async with opened() as here:
        await here.press("6")
        assert "Opening a reader and timing it" in here.text()
        here.source.happen().lookup_times[PATH] = LookupTimes(
            first_s=0.027, warm_s=0.000_01, missing_s=0.002, object_id=SHA1, pack_count=800
        )
        await here.flush()
        assert "800 packs" in here.text()
        assert "Opening a reader" not in here.text()


async def test_typed_id_is_asked_for_and_its_answer_is_under_the_cursor() -> None:
    async with opened() as here:
        await here.press("6", "slash", *"1a2b", "enter")
        assert here.source.looked_up == [(PATH, "1a2b")]
        assert "looking up" in here.text()
        assert here.screen.id_line.input.value == ""
        here.source.happen().objects[PATH] = [answer("1a2b")]
        await here.flush()
        assert "looking up" not in here.text()
        assert SHA1 in here.cursor_line()
        await here.ask("dead")
        here.source.happen().objects[PATH] = [answer("dead", None)]
        await here.flush()
        assert here.cursor_line().split() == ["dead", "missing"]
        assert len(here.screen.items._items) == 2


async def test_slash_on_another_tab_goes_to_objects() -> None:
    async with opened() as here:
        await here.press("slash")
        assert here.screen.shown_tab() == "objects"
        assert here.screen.id_line.is_typing


async def test_keys_are_text_while_an_id_is_typed_and_escape_ends_that() -> None:
    async with opened() as here:
        await here.press("6", "slash", *"q1r?")
        assert here.screen.id_line.input.value == "q1r?"
        assert here.source.rescanned == []
        await here.press("escape")
        assert not here.screen.id_line.is_typing
        assert here.screen.id_line.input.value == ""
        await here.press("escape")
        assert not isinstance(here.app.screen, RepositoryScreen)
        assert here.source.looked_up == []


async def test_up_and_down_recall_what_was_asked_for() -> None:
    async with opened() as here:
        await here.press("6", "slash")
        for text in ("aaaa", "bbbb", "aaaa"):
            await here.ask(text)
        values = []
        for key in ("up", "up", "up", "down", "down"):
            await here.press(key)
            values.append(here.screen.id_line.input.value)
        assert values == ["aaaa", "bbbb", "bbbb", "aaaa", ""]


async def test_enter_on_nothing_asks_nothing() -> None:
    async with opened() as here:
        await here.press("6", "slash", "enter", "space", "enter")
        assert here.source.looked_up == []


async def test_tab_key_leaves_what_is_typed_for_the_next_tab() -> None:
    async with opened() as here:
        await here.press("6", "slash", "a", "tab")
        assert here.screen.shown_tab() == "config"
        await here.press("8")
        assert here.screen.shown_tab() == "log"


@pytest.mark.parametrize("is_typing", [False, True])
async def test_pasted_id_is_taken(is_typing: bool) -> None:
    async with opened() as here:
        await here.press("6", *(["slash"] if is_typing else []))
        await here.paste(SHA1 + "\n")
        assert here.screen.id_line.input.value == SHA1
        await here.press("enter")
        assert here.source.looked_up == [(PATH, SHA1)]


async def test_paste_on_another_tab_does_nothing() -> None:
    async with opened() as here:
        await here.press("7")
        await here.paste(SHA1)
        assert here.screen.shown_tab() == "config"
        assert here.screen.id_line.input.value == ""


async def test_keys_of_one_burst_reach_the_line_in_their_order() -> None:
    async with opened() as here:
        await here.press("6")
        for key in ("slash", *"12ab", "enter", *"34cd", "enter"):
            character = "/" if key == "slash" else key if len(key) == 1 else None
            here.app.post_message(events.Key(key, character))
        for _ in range(20):
            await here.pilot.pause()
        assert [text for _, text in here.source.looked_up] == ["12ab", "34cd"]


async def test_copy_takes_the_id_the_command_or_the_path() -> None:
    async with opened() as here:
        await here.press("6")
        await here.press("y")
        assert here.app.clipboard == "/srv/git/team/web.git"
        here.source.happen().objects[PATH] = [answer("1a2b")]
        await here.flush()
        await here.press("y")
        assert here.app.clipboard == SHA1
        here.source.commands_by_path[PATH] = (command(1), command(2))
        await here.press("8", "j", "y")
        assert here.app.clipboard == "git rev-list --max-count=1"
        await here.press("5", "y")
        assert here.app.clipboard == "/srv/git/team/web.git"


async def test_log_is_drawn_anew_when_there_is_something_new_and_keeps_its_command() -> None:
    async with opened(size=(120, 15)) as here:
        here.source.commands_by_path[PATH] = tuple(command(number) for number in range(1, 60))
        await here.press("8", "j", "j")
        assert "--max-count=57" in here.cursor_line()
        for _ in range(2):
            number = len(here.source.commands_by_path[PATH]) + 1
            here.source.commands_by_path[PATH] = (*here.source.commands_by_path[PATH], command(number))
            here.screen._poll()
            await here.pilot.pause()
        assert "--max-count=57" in here.cursor_line()
        assert here.screen.items.selected == 4
        await here.press("G")
        place = [number for number, line in enumerate(here.lines()) if "--max-count=1" in line]
        here.source.commands_by_path[PATH] = (*here.source.commands_by_path[PATH], command(62))
        here.screen._poll()
        await here.pilot.pause()
        assert "--max-count=1" in here.cursor_line()
        assert [number for number, line in enumerate(here.lines()) if "--max-count=1" in line] == place


async def test_command_that_runs_counts_its_seconds() -> None:
    async with opened() as here:
        here.source.commands_by_path[PATH] = (command(1, elapsed_s=None),)
        await here.press("8")
        assert "1 m 39 s" in here.text()
        here.monotonic_s += 10
        here.screen._poll()
        await here.pilot.pause()
        assert "1 m 49 s" in here.text()


async def test_nothing_is_polled_where_nothing_goes_on() -> None:
    async with opened() as here:
        await here.press("7")
        assert here.screen._poll_timer._active.is_set() is False
        await here.press("8")
        assert here.screen._poll_timer._active.is_set()
        await here.press("1")
        assert not here.screen._poll_timer._active.is_set()


async def test_keys_act_at_once_while_nothing_answers() -> None:
    async with opened() as here:
        started_s = time.monotonic()
        await here.press("5", "6", "slash", *"abcd", "enter", "escape", "7", "8", "5", "q")
        assert time.monotonic() - started_s < 10
        assert not isinstance(here.app.screen, RepositoryScreen)


@pytest.mark.safety
async def test_hostile_texts_are_shown_as_they_are_and_act_on_nothing() -> None:
    text = "[red]x[/] [@click=app.quit]y[/]"
    async with opened() as here:
        here.source.commands_by_path[PATH] = (
            CommandRecord(
                number=1, path=PATH, argv=("git", text), started_s=0.0, elapsed_s=1.0, exit_code=1, stderr=text
            ),
        )
        await here.press("8")
        assert here.text().count("[@click=app.quit]y[/]") == 3
        await here.press("y")
        assert here.app.clipboard == f"git '{text}'"
        await here.press("6")
        here.source.happen().objects[PATH] = [
            ObjectAnswer(asked=text, object_id=None, elapsed_s=0.0, problem="[/] no id")
        ]
        await here.flush()
        assert f"{text}  [/] no id" in here.text()
        await here.press("slash")
        await here.paste("\x1b[2J\x07[/]")
        assert here.app.is_running
