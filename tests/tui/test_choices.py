"""What a person chose is found again in the next dashboard, and nothing but that."""

import threading

import msgspec
import pytest

from gitdash.config.dashboard import DashboardSettings
from gitdash.config.settings import Settings
from gitdash.errors import ExitCode
from gitdash.export.views import decode_views
from gitdash.gitcmd.installed import find_git
from gitdash.history.store import open_history
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import View
from gitdash.tui.app import run_dashboard
from gitdash.tui.choices import Choices, decode_choices, encode_choices
from gitdash.tui.drawing.filters import EncodableText
from gitdash.tui.memory import CHOICES_NAME, VIEWS_NAME, Memory
from gitdash.tui.options import Options, options_of
from gitdash.tui.table.sorting import order_of, sort_texts
from gitdash.tui.themes import UnknownThemeError, theme_names
from tests.support.repositories import GIT
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, fleet_of, row


class PreferencesDouble:
    """Preferences in memory; `written` is set with each write."""

    def __init__(self, **values: bytes) -> None:
        self.values = values
        self.threads: list[threading.Thread] = []
        self.written = threading.Event()

    def preference(self, name: str) -> bytes | None:
        return self.values.get(name)

    def save_preference(self, name: str, value: bytes) -> None:
        self.values[name] = value
        self.threads.append(threading.current_thread())
        self.written.set()

    def choices(self) -> Choices:
        return decode_choices(self.values.get(CHOICES_NAME))


def rows() -> list[RepositorySummary]:
    return [row("a.git", pack_count=1, disk_bytes=3), row("b.git", pack_count=2, disk_bytes=1)]


ALL = Choices(theme="nord", sort=("-packs", "disk"), columns=("name", "packs"), group="root", detail=False)


def test_choices_are_the_same_after_writing_and_reading() -> None:
    assert decode_choices(encode_choices(ALL)) == ALL


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"[1]",
        b"\xff",
        b"[" * 2_000,
        b'{"theme": 5, "sort": "x", "columns": [1], "group": "by", "detail": 2}',
    ],
)
def test_choices_of_another_version_are_left_out(data: bytes | None) -> None:
    assert decode_choices(data) == Choices()


def test_what_can_be_read_of_choices_is_kept() -> None:
    assert decode_choices(b'{"theme": "nord", "sort": 7, "new": 1}') == Choices(theme="nord")


def test_order_is_the_same_after_writing_and_reading() -> None:
    columns = fleet_of([]).columns
    order = [("disk", True), ("name", False), ("packs", False), ("age", True)]
    assert sort_texts(order, columns) == ("disk", "name", "-packs", "-age")
    assert order_of(sort_texts(order, columns), columns) == order
    assert order_of(["-gone", "disk"], columns) == [("disk", True)]


async def test_choices_are_found_again() -> None:
    preferences = PreferencesDouble()
    memory = Memory(preferences)
    async with driven_fleet(rows(), memory=memory) as driven:
        await driven.press("greater_than_sign", "O", "z", "d")
        driven.app.theme = "nord"
        await driven.pilot.pause()
    memory.close()
    async with driven_fleet(rows(), memory=Memory(preferences)) as driven:
        assert driven.app.theme == "nord"
        assert driven.fleet.order[0] == ("disk", False)
        assert driven.fleet.grouping == "root"
        assert not driven.app.fleet_screen.detail_is_shown


async def test_filter_and_a_view_that_is_only_looked_at_are_not_remembered() -> None:
    preferences = PreferencesDouble()
    memory = Memory(preferences)
    options = Options(views=[View(name="v", filter="a.git", sort="packs", columns=("packs",), group="state")])
    async with driven_fleet(rows(), memory=memory, options=options) as driven:
        await driven.press("greater_than_sign", "1")
        assert driven.names == ["a.git"]
        driven.app.remember()
    memory.close()
    assert preferences.choices() == Choices(sort=("disk", "state"))


async def test_view_that_was_changed_is_remembered_like_anything_else() -> None:
    preferences = PreferencesDouble()
    memory = Memory(preferences)
    async with driven_fleet(rows(), memory=memory, options=Options(views=[View(name="v", sort="packs")])) as driven:
        await driven.press("1", "O")
    memory.close()
    assert preferences.choices().sort[0] == "-packs"


async def test_columns_that_there_are_not_any_more_are_left_out() -> None:
    choices = Choices(sort=("gone", "packs"), columns=("name", "gone", "packs"))
    preferences = PreferencesDouble(**{CHOICES_NAME: encode_choices(choices)})
    async with driven_fleet(rows(), memory=Memory(preferences)) as driven:
        assert driven.app.table.chosen_columns == ("name", "packs")
        assert driven.fleet.order == [("packs", True)]


async def test_nothing_is_written_where_nothing_was_chosen() -> None:
    preferences = PreferencesDouble()
    memory = Memory(preferences)
    async with driven_fleet(rows(), memory=memory) as driven:
        await driven.press("j", "slash", "a", "escape")
        driven.app.remember()
    memory.close()
    assert preferences.values == {}


async def test_theme_that_is_asked_for_wins_and_the_remembered_one_stays() -> None:
    preferences = PreferencesDouble(**{CHOICES_NAME: encode_choices(Choices(theme="nord"))})
    memory = Memory(preferences)
    async with driven_fleet(rows(), memory=memory, options=Options(theme="dracula")) as driven:
        assert driven.app.theme == "dracula"
        await driven.press("O")
    memory.close()
    assert preferences.choices().theme == "nord"


async def test_remembered_theme_that_there_is_not_any_more_is_passed_over() -> None:
    preferences = PreferencesDouble(**{CHOICES_NAME: encode_choices(Choices(theme="gone"))})
    async with driven_fleet(rows(), memory=Memory(preferences)) as driven:
        assert driven.app.theme == "textual-dark"


def test_choices_are_written_by_another_thread_soon() -> None:
    preferences = PreferencesDouble()
    memory = Memory(preferences)
    memory.note_choices(Choices(theme="nord"))
    memory.note_choices(ALL)
    assert preferences.values == {}
    assert preferences.written.wait(10)
    assert preferences.choices() == ALL
    assert preferences.threads != [threading.main_thread()]
    assert len(preferences.threads) == 1


def test_what_waits_is_written_at_the_end() -> None:
    preferences = PreferencesDouble()
    memory = Memory(preferences)
    memory.note_choices(ALL)
    memory.close()
    assert preferences.choices() == ALL
    memory.close()
    assert len(preferences.threads) == 1


def test_two_dashboards_at_once_keep_each_others_views() -> None:
    preferences = PreferencesDouble()
    first, second = Memory(preferences), Memory(preferences)
    first.note_view("a", View(name="a"))
    second.note_view("b", View(name="b"))
    first.close()
    second.close()
    assert [view.name for view in decode_views(preferences.values[VIEWS_NAME])] == ["a", "b"]
    first.note_view("a", None)
    first.note_view("b", View(name="b", filter="x"))
    first.close()
    assert first.views() == (View(name="b", filter="x"),)


def test_memory_without_a_state_file_keeps_nothing() -> None:
    memory = Memory(None)
    memory.note_choices(ALL)
    memory.note_view("a", View(name="a"))
    memory.close()
    assert memory.choices() == Choices()
    assert memory.views() == ()


def test_choices_go_into_the_state_file(tmp_path) -> None:
    path = tmp_path / "state.db"
    with open_history(str(path)) as history:
        memory = Memory(history)
        memory.note_choices(ALL)
        memory.note_view("a", View(name="a"))
        memory.close()
    with open_history(str(path)) as history:
        assert Memory(history).choices() == ALL
        assert Memory(history).views() == (View(name="a"),)


@pytest.mark.parametrize(
    ("glyphs", "terminal", "chosen"),
    [
        ("auto", "latin-1", ("latin-1", False)),
        ("ascii", "utf-8", ("utf-8", True)),
        ("unicode", "ascii", ("utf-8", False)),
    ],
)
def test_signs_go_by_the_terminal_unless_it_is_said_otherwise(
    glyphs: str, terminal: str, chosen: tuple[str, bool]
) -> None:
    settings = msgspec.convert({"glyphs": glyphs}, DashboardSettings)
    options = options_of(Settings(), settings, terminal)
    assert (options.encoding, options.ascii_signs) == chosen


def test_options_hold_what_the_configuration_says() -> None:
    settings = Settings(keys={"quit": "x"}, view=(View(name="v"),))
    dashboard = DashboardSettings(theme="nord", read_only=True, shell="fish", open_with=("gitui",))
    options = options_of(settings, dashboard, "utf-8")
    assert (options.keys, options.views) == ({"quit": "x"}, (View(name="v"),))
    assert (options.theme, options.read_only) == ("nord", True)
    assert (options.shell, options.open_with) == ("fish", ("gitui",))


def test_unknown_theme_is_said_before_the_screen_opens(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitdash.tui.app.has_terminal", lambda: True)
    with pytest.raises(UnknownThemeError, match=r"there is no theme 'gray'; themes: ansi, .*nord") as raised:
        run_dashboard(
            [bytes(tmp_path)],
            settings=Settings(),
            history=None,
            git=find_git(GIT),
            registry_dir=b"",
            dashboard=DashboardSettings(theme="gray"),
        )
    assert "\n" not in str(raised.value)
    assert ExitCode.WRONG_USE == 2


async def _drawn_in(driven: DrivenFleet) -> str:
    await driven.pilot.pause()
    return driven.lines()[0]


@pytest.mark.parametrize("theme", theme_names())
async def test_every_theme_can_be_drawn(theme: str) -> None:
    async with driven_fleet(rows(), options=Options(theme=theme)) as driven:
        assert driven.app.theme == theme
        assert "gitdash" in await _drawn_in(driven)


async def test_ansi_theme_leaves_all_colours_to_the_terminal() -> None:
    async with driven_fleet(rows(), options=Options(theme="ansi")) as driven:
        await driven.press("j")
        segments = [segment for strip in driven.app.screen._compositor.render_strips() for segment in strip]
        colours = {style.color for _, style, _ in segments if style and style.color}
        grounds = {style.bgcolor for _, style, _ in segments if style and style.bgcolor}
        assert {colour.type.name for colour in colours | grounds} <= {"DEFAULT", "STANDARD"}


async def test_ascii_signs_are_used_where_they_are_asked_for() -> None:
    async with driven_fleet(rows(), options=Options(ascii_signs=True)) as driven:
        assert any(isinstance(one, EncodableText) for one in driven.app.get_line_filters())
