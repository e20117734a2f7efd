"""The tabs Overview, Findings and Packs driven by keys: what is asked for, what is copied, what state follows."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from textual.pilot import Pilot

from gitdash.model.finding import Severity
from gitdash.model.report import RepositoryReport
from gitdash.survey.summarize import summarize
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.drawing.filters import EncodableText
from gitdash.tui.options import Options
from gitdash.tui.repository.pack_order import PackOrder
from gitdash.tui.repository.screen import RepositoryScreen
from tests.support.idle import until
from tests.tui.fixture_fleet import NOW_S, ROOT, finding
from tests.tui.many_packs import pack, report_of, thousand_packs
from tests.tui.source_double import SourceDouble

COMMANDS = ("git -C '/srv/git/a b' repack -d -l", "git -C '/srv/git/a b' gc")
FINDINGS = (
    finding("stale-lock", Severity.CRITICAL, "old", "remove the file"),
    finding("loose-objects", Severity.WARNING, "many", f"`{COMMANDS[0]}` packs some, `{COMMANDS[1]}` all"),
)


class Opened:
    """The screen of one repository, and what it copied."""

    def __init__(self, app: Dashboard, source: SourceDouble, pilot: Pilot[int], path: bytes) -> None:
        self.app = app
        self.source = source
        self.pilot = pilot
        self.path = path
        assert isinstance(app.screen, RepositoryScreen)
        self.screen = app.screen

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def lines(self) -> list[str]:
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    @property
    def pack_under_cursor(self) -> str:
        line = self.screen.items.lines[self.screen.items._items[self.screen.items.selected]]
        return "".join(piece.text for piece in line).split()[0]


@asynccontextmanager
async def opened(report: RepositoryReport, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Opened]:
    source = SourceDouble([report])
    app = Dashboard([ROOT], [summarize(report)], source, lambda: NOW_S, Options())
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: source.started, "the survey begins")
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, RepositoryScreen), "the repository is open")
        app.flush()
        await pilot.pause()
        yield Opened(app, source, pilot, report.repository.path)


def with_findings() -> RepositoryReport:
    return msgspec.structs.replace(report_of([pack(1)]), findings=FINDINGS)


async def test_why_the_sizes_differ_is_shown_and_hidden_by_a_key() -> None:
    async with opened(report_of([pack(1)])) as repository:
        assert not repository.screen.explains_sizes
        await repository.press("w")
        assert repository.screen.explains_sizes
        assert any("Why they differ" in line for line in repository.lines())
        await repository.press("w")
        assert not any("Why they differ" in line for line in repository.lines())


async def test_key_of_another_tab_goes_there_and_does_it() -> None:
    async with opened(report_of([pack(1, 10), pack(2, 20)])) as repository:
        await repository.press("2", "w")
        assert repository.screen.shown_tab() == "overview"
        assert repository.screen.explains_sizes
        await repository.press("2", "greater_than_sign")
        assert repository.screen.shown_tab() == "packs"
        assert repository.screen.pack_order.key == "density"


async def test_sizes_and_a_new_look_are_asked_for() -> None:
    async with opened(report_of([pack(1)])) as repository:
        await repository.press("s", "r")
        assert repository.source.measured == [repository.path]
        assert repository.source.rescanned == [repository.path]


async def test_commands_of_the_finding_under_the_cursor_are_copied_in_turn() -> None:
    async with opened(with_findings()) as repository:
        await repository.press("2", "j", "y")
        assert repository.app.clipboard == COMMANDS[0]
        await repository.press("y")
        assert repository.app.clipboard == COMMANDS[1]
        await repository.press("y")
        assert repository.app.clipboard == COMMANDS[0]
        titles = [notification.title for notification in repository.app._notifications]
        assert titles == ["Copied 1 of 2", "Copied 2 of 2", "Copied 1 of 2"]


@pytest.mark.parametrize("keys", [("y",), ("2", "y"), ("3", "y")])
async def test_where_there_is_no_command_the_path_is_copied(keys: tuple[str, ...]) -> None:
    async with opened(with_findings()) as repository:
        await repository.press(*keys)
        assert repository.app.clipboard == "/srv/git/many/packs.git"


async def test_cursor_stays_on_its_pack_when_the_order_changes() -> None:
    async with opened(report_of(thousand_packs())) as repository:
        await repository.press("3", "j", "j", "j")
        name = repository.pack_under_cursor
        for key in ("greater_than_sign", "O", "less_than_sign", "less_than_sign", "O"):
            await repository.press(key)
            assert repository.pack_under_cursor == name
            assert any(name in line for line in repository.lines())


@pytest.mark.parametrize(
    ("keys", "tab"),
    [(("right", "l", "tab"), "pool"), (("left",), "history"), (("shift+tab",), "history"), (("h", "h"), "log")],
)
async def test_tabs_are_passed_in_both_directions(keys: tuple[str, ...], tab: str) -> None:
    async with opened(with_findings()) as repository:
        await repository.press(*keys)
        assert repository.screen.shown_tab() == tab


async def test_packs_are_sorted_by_the_column_to_the_left_and_to_the_right() -> None:
    async with opened(report_of([pack(1, 10), pack(2, 20)])) as repository:
        await repository.press("3", "less_than_sign")
        assert any("▼ objects" in line for line in repository.lines())
        await repository.press("greater_than_sign")
        assert any("▼ size" in line for line in repository.lines())


async def test_order_is_marked_in_the_head_and_can_be_reversed() -> None:
    async with opened(report_of([pack(1, 10), pack(2, 20)])) as repository:
        await repository.press("3")
        assert any("▼ size" in line for line in repository.lines())
        await repository.press("O")
        assert any("▲ size" in line for line in repository.lines())
        assert repository.screen.pack_order.descending is False


async def test_head_of_the_table_stays_when_packs_are_scrolled() -> None:
    async with opened(report_of(thousand_packs()), size=(80, 24)) as repository:
        await repository.press("3", "end")
        lines = repository.lines()
        assert lines[2].split()[:2] == ["pack", "objects"]
        assert repository.screen.items.selected == 999
        await repository.press("k", "pageup")
        name = repository.pack_under_cursor
        assert any(name[:4] in line and name[-7:] in line for line in repository.lines()[3:])


async def test_click_on_the_head_that_stays_opens_no_pack_and_moves_no_cursor() -> None:
    async with opened(report_of(thousand_packs()), size=(80, 24)) as repository:
        await repository.press("3", "end")
        await repository.pilot.click(repository.screen.items, offset=(repository.lines()[2].index("kind"), 0))
        assert repository.screen.items.selected == 999
        await repository.pilot.click(repository.screen.items, offset=(5, 3))
        assert 900 < repository.screen.items.selected < 999


async def test_key_line_names_the_keys_of_the_tab() -> None:
    async with opened(with_findings()) as repository:
        assert "w why" in repository.lines()[-1]
        assert "sort" not in repository.lines()[-1]
        await repository.press("3")
        assert "w why" not in repository.lines()[-1]
        assert "< > sort" in repository.lines()[-1]


async def test_all_signs_have_an_ascii_form() -> None:
    report = msgspec.structs.replace(report_of(thousand_packs()), findings=FINDINGS)
    ascii_only = EncodableText("ascii")
    async with opened(report, size=(200, 60)) as repository:
        for key in ("1", "w", "2", "3"):
            await repository.press(key)
            text = "".join(repository.lines())
            signs = {sign for sign in text if not sign.isascii()}
            assert {sign for sign in signs if ascii_only._encodable(sign) == "?"} == set()


async def test_report_that_came_together_with_a_newer_row_is_asked_for_again() -> None:
    report = report_of([pack(1)])
    async with opened(report) as repository:
        repository.app.flush()
        before = len(repository.source.requested)
        changes = repository.source.happen()
        changes.summaries[repository.path] = summarize(with_findings())
        changes.reports[repository.path] = report
        repository.source.reports[repository.path] = with_findings()
        repository.app.flush()
        await repository.pilot.pause()
        assert len(repository.source.requested) > before
        repository.app.flush()
        await repository.press("2")
        assert any("loose-objects" in line for line in repository.lines())


async def test_detail_beside_the_table_asks_again_for_a_report_that_came_with_a_newer_row() -> None:
    report = report_of([pack(1)])
    source = SourceDouble([report])
    app = Dashboard([ROOT], [summarize(report)], source, lambda: NOW_S)
    async with app.run_test(size=(120, 40)):
        await until(lambda: app.flush() or source.requested, "the report is asked for")
        app.flush()
        before = len(source.requested)
        changes = source.happen()
        changes.summaries[report.repository.path] = summarize(with_findings())
        changes.reports[report.repository.path] = report
        app.flush()
        app.flush()
        assert len(source.requested) > before


async def test_click_on_a_head_sorts_the_packs_by_it_and_again_turns_the_order_round() -> None:
    async with opened(report_of(thousand_packs()), size=(120, 24)) as repository:
        await repository.press("3")
        for keys in ((), ("end",)):
            await repository.press(*keys)
            line = next(number for number, text in enumerate(repository.lines()) if text.split()[:1] == ["pack"])
            x = repository.lines()[line].index("objects") + 2
            selected = repository.screen.items.selected
            await repository.pilot.click(offset=(x, line))
            await repository.pilot.pause()
            assert repository.screen.pack_order == PackOrder("objects", descending=not keys)
            assert bool(repository.screen.items.selected) == bool(selected)


async def test_click_on_a_head_that_cannot_sort_changes_nothing() -> None:
    async with opened(report_of([pack(1, 10), pack(2, 20)])) as repository:
        await repository.press("3")
        line = next(number for number, text in enumerate(repository.lines()) if text.split()[:1] == ["pack"])
        await repository.pilot.click(offset=(repository.lines()[line].index("midx"), line))
        await repository.pilot.pause()
        assert repository.screen.pack_order == PackOrder()
