"""The dashboard driven by keys, mouse and a source: what is asked for, and what state follows."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import msgspec
import pytest

from gitdash.discovery.roots import RootError
from gitdash.errors import ExitCode
from gitdash.model.report import State
from gitdash.model.repository import NotRepository, Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.survey.summarize import summarize
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import actions_of
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.fleet.screen import FleetScreen
from gitdash.tui.key_line import key_line
from gitdash.tui.pages.page_screen import PageScreen
from gitdash.tui.repository.screen import RepositoryScreen
from gitdash.tui.source import SurveyProgress
from tests.support.idle import until
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries, many_summaries
from tests.tui.source_double import SourceDouble


class DrivenTable(Driven):
    """The application under test with its source."""

    async def flush(self) -> None:
        self.app.flush()
        await self.pilot.pause()

    @property
    def cursor_name(self) -> str:
        number = self.app.table.cursor_number
        assert number is not None
        return self.app.fleet.rows[number].summary.name

    def shown_names(self) -> list[str]:
        return [self.app.fleet.rows[number].summary.name for number in self.app.fleet.view]


@asynccontextmanager
async def dashboard(
    summaries: Iterable[RepositorySummary] | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[DrivenTable]:
    source = SourceDouble(fixed_reports())
    app = Dashboard([ROOT], fixed_summaries() if summaries is None else summaries, source, lambda: NOW_S)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: source.started, "the survey begins")
        yield DrivenTable(app, source, pilot)


async def test_known_rows_are_painted_before_the_survey_begins() -> None:
    source = SourceDouble()
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S)
    painted_at_start: list[str] = []

    def start(_wake: Callable[[], None]) -> None:
        source.started += 1
        painted_at_start.extend(strip.text for strip in app.screen._compositor.render_strips())

    source.start = start  # type: ignore[method-assign]
    async with app.run_test(size=(120, 40)):
        await until(lambda: source.started, "the survey begins")
    assert any("infra/deploy.git" in line for line in painted_at_start)


@pytest.mark.parametrize(
    ("keys", "position"),
    [
        (["j"], 1),
        (["down", "down"], 2),
        (["j", "j", "k"], 1),
        (["up"], 0),
        (["end"], -1),
        (["G"], -1),
        (["G", "g"], 0),
        (["G", "home"], 0),
        (["G", "j"], -1),
    ],
)
async def test_keys_move_the_cursor(keys: list[str], position: int) -> None:
    async with dashboard() as driven:
        await driven.press(*keys)
        assert driven.app.table.cursor_position == range(len(driven.app.fleet.view))[position]


async def test_pages_and_half_pages_move_by_what_fits() -> None:
    async with dashboard(many_summaries(500)) as driven:
        page = driven.app.table.page_height
        await driven.press("pagedown")
        assert driven.app.table.cursor_position == page
        await driven.press("ctrl+d")
        assert driven.app.table.cursor_position == page + page // 2
        await driven.press("ctrl+u", "pageup")
        assert driven.app.table.cursor_position == 0


async def test_cursor_is_always_on_screen() -> None:
    async with dashboard(many_summaries(500)) as driven:
        for key in ("G", "k", "pageup", "ctrl+u", "g", "pagedown", "pagedown", "end"):
            await driven.press(key)
            assert driven.app.table.cursor_line() is not None
            assert "▌" in driven.text()


async def test_sort_keys_go_from_column_to_column_and_reverse() -> None:
    async with dashboard() as driven:
        assert driven.app.fleet.order[0] == ("state", True)
        await driven.press("greater_than_sign")
        assert driven.app.fleet.order[0] == ("disk", True)
        assert "▼ disk" in driven.text()
        await driven.press("O")
        assert driven.app.fleet.order[0] == ("disk", False)
        assert "▲ disk" in driven.text()
        await driven.press("less_than_sign", "less_than_sign", "less_than_sign")
        assert driven.app.fleet.order[0] == ("name", False)
        assert driven.shown_names() == sorted(driven.shown_names(), key=str.casefold)


async def test_sorting_keeps_the_cursor_on_its_repository_and_line() -> None:
    async with dashboard(many_summaries(500)) as driven:
        await driven.press("pagedown", "j", "j")
        name, line = driven.cursor_name, driven.app.table.cursor_line()
        await driven.press("greater_than_sign")
        assert driven.cursor_name == name
        position = driven.app.table.cursor_position
        assert position is not None
        if position > 50:
            assert driven.app.table.cursor_line() == line


async def test_click_on_a_head_sorts_and_again_reverses() -> None:
    async with dashboard() as driven:
        left = next(p.left for p in driven.app.table.table_layout.columns if p.column.key == "packs")
        await driven.pilot.click("#table", offset=(left, 0))
        await driven.pilot.pause()
        assert driven.app.fleet.order[0] == ("packs", True)
        await driven.pilot.click("#table", offset=(left, 0))
        await driven.pilot.pause()
        assert driven.app.fleet.order[0] == ("packs", False)


async def test_click_moves_the_cursor_and_a_double_click_opens() -> None:
    async with dashboard() as driven:
        await driven.pilot.click("#table", offset=(5, 4))
        assert driven.app.table.cursor_position == 3
        await driven.pilot.click("#table", offset=(5, 4), times=2)
        await driven.pilot.pause()
        assert isinstance(driven.app.screen, RepositoryScreen)


async def test_click_below_the_rows_does_nothing() -> None:
    async with dashboard(fixed_summaries()[:2]) as driven:
        await driven.pilot.click("#table", offset=(5, 8))
        assert driven.app.table.cursor_position == 0


async def test_wheel_scrolls_and_leaves_the_cursor() -> None:
    async with dashboard(many_summaries(500)) as driven:
        driven.app.animation_level = "none"
        name = driven.cursor_name
        await driven.pilot._post_mouse_events([_wheel_down()], "#table", offset=(5, 5), button=0)
        await driven.pilot.pause()
        assert driven.app.table.scroll_offset.y > 0
        assert driven.cursor_name == name


def _wheel_down() -> type:
    from textual.events import MouseScrollDown

    return MouseScrollDown


async def test_filter_acts_on_every_key_and_shows_the_count() -> None:
    async with dashboard() as driven:
        total = len(driven.app.fleet.rows)
        await driven.press("slash", *"team")
        assert driven.shown_names() == ["team/api.git", "team/web.git"]
        assert f"2/{total}" in driven.text()
        await driven.press("space", *"crit")
        assert driven.shown_names() == ["team/api.git"]
        await driven.press("enter")
        assert driven.app.table.has_focus
        assert driven.shown_names() == ["team/api.git"]
        assert f"1/{total}" in driven.text()
        await driven.press("escape")
        assert len(driven.shown_names()) == total
        assert "/ team" not in driven.text()


async def test_keys_typed_into_the_filter_are_text() -> None:
    async with dashboard() as driven:
        await driven.press("slash", *"qrsyd?")
        assert driven.app.fleet_screen.filter_bar.input.value == "qrsyd?"
        assert driven.source.rescanned == []
        assert not isinstance(driven.app.screen, PageScreen)


async def test_arrows_move_the_cursor_while_a_filter_is_typed() -> None:
    async with dashboard() as driven:
        await driven.press("slash", *"team", "down")
        assert driven.cursor_name == "team/web.git"


async def test_filter_that_nothing_passes_says_what_to_do() -> None:
    async with dashboard() as driven:
        await driven.press("slash", *"zzz")
        assert "No repository contains all of these words" in driven.text()
        await driven.press("escape")
        assert driven.app.table.cursor_position is not None


async def test_escape_from_the_filter_keeps_the_cursor_on_its_repository() -> None:
    async with dashboard(many_summaries(500)) as driven:
        await driven.press("slash", *"000133", "enter", "escape")
        assert f"{0x133:064x}" in driven.cursor_name


async def test_new_rows_do_not_move_a_cursor_that_nobody_moved() -> None:
    summaries = fixed_summaries()
    async with dashboard(summaries[5:]) as driven:
        for summary in summaries[:5]:
            driven.source.happen().summaries[summary.path] = summary
        await driven.flush()
        driven.app.live.arrange()
        assert driven.app.table.cursor_position == 0
        assert driven.app.table.scroll_offset.y == 0


async def test_arranging_keeps_a_placed_cursor_on_its_repository() -> None:
    rows = many_summaries(300)
    async with dashboard(rows) as driven:
        await driven.press(*["j"] * 7)
        name, line = driven.cursor_name, driven.app.table.cursor_line()
        for row in rows[:100]:
            changed = msgspec.structs.replace(row, state=State.UNREADABLE)
            driven.source.happen().summaries[row.path] = changed
        await driven.flush()
        driven.app.live.arrange()
        await driven.pilot.pause()
        assert driven.cursor_name == name
        position = driven.app.table.cursor_position
        assert position is not None
        assert line is not None
        if position >= line:
            assert driven.app.table.cursor_line() == line


async def test_rows_are_not_put_in_order_on_every_change() -> None:
    rows = many_summaries(50)
    async with dashboard(rows) as driven:
        driven.app.live.arrange()
        view = list(driven.app.fleet.view)
        driven.source.happen().summaries[rows[0].path] = msgspec.structs.replace(rows[0], state=State.UNREADABLE)
        await driven.flush()
        assert driven.app.fleet.view == view
        assert driven.app.live._arrange_is_due


async def test_rows_stay_where_they_are_while_a_filter_is_typed() -> None:
    rows = many_summaries(50)
    async with dashboard(rows) as driven:
        await driven.press("slash")
        view = list(driven.app.fleet.view)
        driven.app.live._arranged_at_s = 0.0
        driven.source.happen().summaries[rows[0].path] = msgspec.structs.replace(rows[0], state=State.UNREADABLE)
        await driven.flush()
        assert driven.app.fleet.view == view


async def test_changed_row_is_drawn_anew_and_totals_follow() -> None:
    rows = fixed_summaries()
    async with dashboard(rows) as driven:
        shown = next(row for row in rows if row.name == "infra/deploy.git")
        driven.source.happen().summaries[shown.path] = msgspec.structs.replace(
            shown, loose_count=77, state=State.OK, critical_count=0, inspected_at_s=NOW_S
        )
        await driven.flush()
        text = driven.text()
        assert next(line for line in text.splitlines() if "infra/deploy.git" in line).split()[-3] == "77"
        assert "1 critical" in text


async def test_gone_repository_leaves_and_the_cursor_stays_on_its_own() -> None:
    rows = fixed_summaries()
    async with dashboard(rows) as driven:
        await driven.press(*["j"] * 4)
        name = driven.cursor_name
        gone = driven.app.fleet.rows[driven.app.fleet.view[1]].summary.path
        driven.source.happen().forgotten.append(gone)
        await driven.flush()
        assert driven.cursor_name == name
        assert driven.app.fleet.number_of(gone) is None


async def test_gone_repository_under_the_cursor_passes_the_cursor_on() -> None:
    async with dashboard() as driven:
        path = driven.app.table.cursor_path
        assert path is not None
        driven.source.happen().forgotten.append(path)
        await driven.flush()
        assert driven.app.table.cursor_path not in {None, path}


async def test_visible_rows_are_prioritised_first() -> None:
    async with dashboard(many_summaries(500)) as driven:
        await driven.flush()
        first = driven.source.prioritised[-1]
        assert len(first) == driven.app.table.page_height
        await driven.press("G")
        await driven.flush()
        last = driven.source.prioritised[-1]
        assert not set(first) & set(last)
        asked = len(driven.source.prioritised)
        await driven.flush()
        assert len(driven.source.prioritised) == asked


async def test_detail_follows_the_cursor_at_once_and_the_report_after_a_moment() -> None:
    async with dashboard(size=(200, 60)) as driven:
        driven.app.fleet_screen.go_to(ROOT + b"/infra/deploy.git")
        await driven.pilot.pause()
        assert "/srv/git/infra/deploy.git" in driven.text()
        for _ in range(4):
            await driven.flush()
        assert driven.source.requested[-1] == ROOT + b"/infra/deploy.git"
        text = driven.text()
        assert "stale-lock" in text
        assert "no-bitmap" in text


async def test_newer_report_takes_the_place_of_the_one_on_screen() -> None:
    path = ROOT + b"/infra/deploy.git"
    async with dashboard(size=(200, 60)) as driven:
        driven.app.fleet_screen.go_to(path)
        for _ in range(4):
            await driven.flush()
        assert "loose-objects" in driven.text()
        gone = msgspec.structs.replace(
            driven.source.reports[path], inspection=Unreadable("missing"), findings=(), state=State.UNREADABLE
        )
        driven.source.reports[path] = gone
        driven.source.happen().summaries[path] = summarize(gone)
        for _ in range(3):
            await driven.flush()
        text = driven.text()
        assert "unreadable: missing" in text
        assert "loose-objects" not in text


async def test_idle_dashboard_has_no_timer_for_its_source_until_it_is_woken() -> None:
    async with dashboard(many_summaries(500)) as driven:
        await until(lambda: driven.app.flushing._timer is None, "no flush is due")
        changed = msgspec.structs.replace(driven.app.fleet.rows[0].summary, loose_count=77)
        driven.source.happen().summaries[changed.path] = changed
        await until(lambda: driven.source.pending is None, "the change is taken")
        assert driven.app.fleet.rows[0].summary is changed


@pytest.mark.parametrize(
    "act",
    [
        lambda driven: driven.app.fleet_screen.action_move_to_end(True),
        lambda driven: driven.app.fleet_screen.sort_by("packs"),
    ],
)
async def test_what_comes_on_screen_is_prioritised_though_nothing_happens(act) -> None:
    async with dashboard(many_summaries(500)) as driven:
        await until(lambda: driven.app.flushing._timer is None, "no flush is due")
        asked = len(driven.source.prioritised)
        act(driven)
        await until(lambda: len(driven.source.prioritised) > asked, "something is prioritised")
        assert driven.app.table.cursor_path in driven.source.prioritised[-1]


async def test_tick_draws_only_what_reads_otherwise() -> None:
    now_s = [NOW_S]
    app = Dashboard([ROOT], many_summaries(100), SourceDouble(), lambda: now_s[0])
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        drawn: list[object] = []
        app.table.refresh = lambda *regions: drawn.extend(regions)  # type: ignore[method-assign,assignment]
        app._tick()
        assert drawn == []
        now_s[0] += 3_600
        app._tick()
        assert len(drawn) == app.table.page_height


async def test_passing_over_rows_asks_for_no_reports_of_theirs() -> None:
    async with dashboard() as driven:
        for _ in range(3):
            await driven.flush()
        asked = len(driven.source.requested)
        for _ in range(5):
            driven.app.fleet_screen.action_move_rows(1)
        for _ in range(3):
            await driven.flush()
        assert driven.source.requested[asked:] == [driven.app.table.cursor_path]


async def test_detail_pane_hides_and_comes_back() -> None:
    async with dashboard() as driven:
        height = driven.app.table.size.height
        await driven.press("d")
        assert driven.app.table.size.height > height
        await driven.press("d")
        assert driven.app.table.size.height == height


async def test_open_shows_everything_and_escape_goes_back() -> None:
    async with dashboard() as driven:
        driven.app.fleet_screen.go_to(ROOT + b"/infra/deploy.git")
        await driven.press("enter")
        for _ in range(3):
            await driven.flush()
        assert isinstance(driven.app.screen, RepositoryScreen)
        assert "commit-graph" in driven.text()
        await driven.press("escape")
        assert isinstance(driven.app.screen, FleetScreen)


async def test_skipped_page_lists_candidates_with_reasons_and_follows_the_survey() -> None:
    async with dashboard() as driven:
        driven.source.happen().skipped = (NotRepository(path=ROOT + b"/first.git", reason="HEAD is missing"),)
        await driven.flush()
        await driven.press("e")
        assert "skipped so far" in driven.text()
        assert "/srv/git/first.git" in driven.text()
        skipped = NotRepository(path=ROOT + b"/cut.git", reason="HEAD is missing")
        changes = driven.source.happen()
        changes.skipped = (skipped,)
        changes.progress = SurveyProgress(
            step="surveyed", done_count=1, known_count=1, complete=True, elapsed_s=0.1, other_count=1
        )
        await driven.flush()
        assert "/srv/git/cut.git" in driven.text()
        assert "HEAD is missing" in driven.text()
        await driven.press("escape")
        assert "1 skipped (e)" in driven.text()


async def test_help_names_every_key_of_every_action() -> None:
    async with dashboard(size=(120, 90)) as driven:
        await driven.press("question_mark")
        text = driven.text()
        for action in (*actions_of(Scope.FLEET), *actions_of(Scope.EVERYWHERE)):
            assert action.series or driven.app.shown_keys[action.name] in text
            assert (action.series or action.help).split(";", maxsplit=1)[0][:60] in text
        await driven.press("q")
        assert not isinstance(driven.app.screen, PageScreen)


async def test_page_scrolls_by_the_keys_of_the_table() -> None:
    async with dashboard(size=(80, 24)) as driven:
        await driven.press("f1")
        page = driven.app.screen.query_one("#page")
        await driven.press("j", "j")
        assert page.scroll_offset.y == 2
        await driven.press("k")
        assert page.scroll_offset.y == 1
        await driven.press("G")
        end = page.scroll_offset.y
        assert end > 10
        await driven.press("pageup")
        assert page.scroll_offset.y < end
        await driven.press("g")
        assert page.scroll_offset.y == 0


@pytest.mark.parametrize(
    ("key", "read", "expected"),
    [
        ("r", lambda source: source.rescanned, [ROOT + b"/lost.git"]),
        ("R", lambda source: source.rescanned, [None]),
        ("s", lambda source: source.measured, [ROOT + b"/lost.git"]),
    ],
)
async def test_keys_ask_the_source(key: str, read, expected: list[bytes | None]) -> None:
    async with dashboard() as driven:
        driven.app.fleet_screen.go_to(ROOT + b"/lost.git")
        await driven.press(key)
        assert read(driven.source) == expected


async def test_copy_puts_the_path_into_the_clipboard() -> None:
    async with dashboard() as driven:
        driven.app.fleet_screen.go_to(ROOT + b"/infra/deploy.git")
        await driven.press("y")
        assert driven.app.clipboard == "/srv/git/infra/deploy.git"


@pytest.mark.safety
async def test_copy_of_a_hostile_path_is_quoted_and_its_toast_is_no_markup() -> None:
    async with dashboard() as driven:
        for summary in fixed_summaries():
            driven.app.fleet_screen.go_to(summary.path)
            driven.app.fleet_screen.action_copy_path()
            assert driven.app.clipboard.isprintable()
        await until(lambda: "Copied" in driven.text(), "the toast")


async def test_actions_on_no_row_do_nothing() -> None:
    async with dashboard([]) as driven:
        await driven.press("r", "s", "y", "enter", "j", "G", "g", "pagedown", "greater_than_sign", "O", "d")
        assert driven.source.rescanned == driven.source.measured == []
        assert driven.app.table.cursor_path is None


async def test_empty_fleet_says_that_it_searches_and_then_that_there_is_none() -> None:
    async with dashboard([]) as driven:
        assert "Searching for repositories below /srv/git" in driven.text()
        driven.source.happen().progress = SurveyProgress(
            step="surveyed", done_count=0, known_count=0, complete=True, elapsed_s=0.1
        )
        await driven.flush()
        assert "No repository below /srv/git." in driven.text()


async def test_notice_of_the_survey_is_shown_as_it_is() -> None:
    async with dashboard() as driven:
        driven.source.happen().notices.append("[red]state file[/] is [@click=app.quit]full")
        await driven.flush()
        await until(lambda: "[red]state file[/]" in driven.text(), "the warning")


@pytest.mark.parametrize(
    ("key", "code"), [("q", ExitCode.DONE), ("ctrl+q", ExitCode.DONE), ("ctrl+c", ExitCode.INTERRUPTED)]
)
async def test_keys_that_leave(key: str, code: ExitCode) -> None:
    async with dashboard() as driven:
        await driven.pilot.press(key)
        assert driven.app.return_value == code
        assert not driven.app.is_running or driven.app._exit


async def test_q_only_closes_a_page_and_says_so_while_ctrl_q_leaves_from_there() -> None:
    async with dashboard() as driven:
        await driven.press("question_mark")
        assert "esc q close" in driven.text()
        await driven.press("q")
        assert not isinstance(driven.app.screen, PageScreen)
        assert driven.app.return_value is None
        await driven.press("question_mark")
        await driven.pilot.press("ctrl+q")
        assert driven.app.return_value == ExitCode.DONE


async def test_survey_that_cannot_go_on_ends_the_dashboard_with_its_reason() -> None:
    async with dashboard() as driven:
        driven.source.happen().failure = RootError(b"/gone", "no such folder")
        driven.app.flush()
        assert driven.app.return_value == ExitCode.WRONG_USE
        assert isinstance(driven.app.failure, RootError)


@pytest.mark.parametrize("size", [(59, 24), (80, 14), (20, 5)])
async def test_too_small_a_terminal_shows_a_notice_instead(size: tuple[int, int]) -> None:
    async with dashboard(size=size) as driven:
        assert "gitdash" in driven.text()
        assert "infra/deploy" not in driven.text()
        await driven.pilot.resize_terminal(80, 24)
        await driven.pilot.pause()
        assert "infra/deploy" in driven.text()


async def test_smallest_terminal_is_usable() -> None:
    async with dashboard(size=(60, 15)) as driven:
        assert driven.app.table.page_height >= 2
        assert "infra/deploy.git" in driven.text()


async def test_resizing_chooses_columns_and_keeps_the_cursor_on_screen() -> None:
    async with dashboard(many_summaries(500)) as driven:
        await driven.press("G")
        for width, height in ((60, 15), (200, 60), (80, 24), (120, 40)):
            await driven.pilot.resize_terminal(width, height)
            await driven.pilot.pause()
            assert driven.app.table.cursor_line() is not None, (width, height)
            assert "▌" in driven.text()


async def test_wide_terminal_has_the_detail_beside_the_table() -> None:
    async with dashboard(size=(200, 60)) as driven:
        table, detail = driven.app.table.region, driven.app.fleet_screen.panels.detail.region
        assert detail.x >= table.right
        assert detail.height == table.height


async def test_palette_has_the_actions_and_goes_to_a_repository() -> None:
    async with dashboard() as driven:
        titles = {command.title for command in driven.app.get_system_commands(driven.app.screen)}
        actions = (*actions_of(Scope.FLEET), *actions_of(Scope.EVERYWHERE))
        others = {"Theme", "Go to a repository or a view"}
        assert titles == {action.title for action in actions if action.in_palette} | others
        await driven.press("ctrl+p")
        await driven.press(*"web.git")
        await until(lambda: "go to team/web.git" in driven.text(), "the repository in the palette")
        await driven.press("down", "enter")
        await until(lambda: driven.cursor_name == "team/web.git", "the cursor is there")


@pytest.mark.safety
async def test_palette_shows_hostile_names_as_they_are() -> None:
    async with dashboard() as driven:
        await driven.press("ctrl+p")
        await driven.press(*"strange/")
        await until(lambda: "go to strange/[/]" in driven.text(), "the repository in the palette")
        assert "[@click=app.quit]x[/]" in driven.text()


async def test_go_to_clears_a_filter_that_hides_the_repository() -> None:
    async with dashboard() as driven:
        await driven.press("slash", *"team", "enter")
        driven.app.fleet_screen.go_to(ROOT + b"/infra/deploy.git")
        assert driven.cursor_name == "infra/deploy.git"
        driven.app.fleet_screen.go_to(b"/nowhere")
        assert driven.cursor_name == "infra/deploy.git"


async def test_theme_switch_changes_colours_of_every_line() -> None:
    async with dashboard() as driven:

        def colours() -> set[str]:
            strips = driven.app.screen._compositor.render_strips()
            return {str(s.style.color) for strip in strips for s in strip if s.style and s.style.color}

        dark = colours()
        driven.app.theme = "textual-light"
        await driven.pilot.pause()
        await driven.pilot.pause()
        light = colours()
        assert len(dark & light) <= 2


async def test_no_color_draws_without_hues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard() as driven:
        assert driven.app.no_color
        assert "critical" in driven.text()
        assert "▌" in driven.text()


async def test_ages_grow_with_the_clock() -> None:
    source = SourceDouble()
    now_s = [NOW_S]
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: now_s[0])
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        now_s[0] += 3_600
        app._tick()
        await pilot.pause()
        text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "1h" in text
        assert "45s" not in text


async def test_click_on_the_key_line_acts() -> None:
    async with dashboard() as driven:
        line = key_line(Scope.FLEET, driven.app.shown_keys, 120)
        spans = {action.name: first for first, _, action in line.spans}
        await driven.pilot.click("#keys", offset=(spans["help"] + 1, 0))
        await driven.pilot.pause()
        assert isinstance(driven.app.screen, PageScreen)


async def test_work_on_a_row_is_marked_and_ends() -> None:
    async with dashboard() as driven:
        path = ROOT + b"/infra/deploy.git"
        driven.app.fleet_screen.go_to(ROOT + b"/lost.git")
        driven.source.happen().busy = {path: True}
        await driven.flush()
        assert "· infra/deploy.git" in driven.text()
        driven.source.happen().busy = {path: False}
        await driven.flush()
        assert "· infra/deploy.git" not in driven.text()
