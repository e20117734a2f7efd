"""The filter line: words, and SQL conditions after `=`, which half-typed leave the last good answer standing."""

import time
from collections.abc import Sequence

import msgspec
import pytest

from gitdash.export.columns import COLUMNS, CONDITION_NAMES
from gitdash.model.report import State
from gitdash.model.summary import RepositorySummary
from gitdash.tui.fleet.completion import completions
from gitdash.tui.table.fleet import Fleet
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, fleet_of, row
from tests.tui.fixture_fleet import ROOT, many_summaries

KEY_LIMIT_S = 0.030
SLACK = 3
"""Between a quiet machine and a busy one, for CPU time."""


def rows() -> list[RepositorySummary]:
    return [
        row("few.git", State.OK, pack_count=3, disk_bytes=30),
        row("many.git", State.WARNING, "packs-outside-midx", pack_count=80, disk_bytes=20),
        row("most.git", State.CRITICAL, "stale-lock", pack_count=200, disk_bytes=10),
    ]


def names(fleet: Fleet) -> list[str]:
    return [fleet.rows[number].summary.name for number in fleet.view]


@pytest.mark.parametrize(
    ("condition", "passing"),
    [
        ("packs > 50", ["most.git", "many.git"]),
        ("pack_count > 50", ["most.git", "many.git"]),
        ("packs > 50 AND state = 'warning'", ["many.git"]),
        ("packs > '100'", ["most.git"]),
        ("rules LIKE '%lock%'", ["most.git"]),
        ("packs > 1000", []),
        ("packs = (SELECT max(packs) FROM repositories)", ["most.git"]),
    ],
)
def test_condition_chooses_rows_and_keeps_their_order(condition: str, passing: list[str]) -> None:
    fleet = fleet_of(rows())
    assert fleet.set_filter(f"={condition}")
    assert names(fleet) == passing
    assert fleet.filter.problem is None


@pytest.mark.parametrize("half", ["=packs > 50 AND", "=packs > 50 AND pakcs", "=packs > 50 AND name LIKE 'x", "=)"])
def test_condition_that_cannot_be_run_leaves_the_last_good_one_and_says_why(half: str) -> None:
    fleet = fleet_of(rows())
    fleet.set_filter("=packs > 100")
    assert not fleet.set_filter(half)
    assert names(fleet) == ["most.git"]
    assert fleet.filter.text == "=packs > 100"
    assert fleet.filter.problem


def test_sign_without_a_condition_shows_all_rows() -> None:
    fleet = fleet_of(rows())
    fleet.set_filter("=packs > 100")
    assert fleet.set_filter("= ")
    assert len(names(fleet)) == 3
    assert not fleet.filter.is_active
    assert fleet.filter.problem is None


def test_words_after_a_condition_are_words_again() -> None:
    fleet = fleet_of(rows())
    fleet.set_filter("=packs > 100")
    fleet.set_filter("few")
    assert names(fleet) == ["few.git"]
    assert not fleet.filter.is_condition


def test_sign_inside_words_is_no_condition() -> None:
    fleet = fleet_of([row("a=b.git"), row("c.git")])
    fleet.set_filter("a=b")
    assert names(fleet) == ["a=b.git"]


def test_rows_that_change_or_come_are_judged_with_the_next_arrangement() -> None:
    fleet = fleet_of(rows())
    fleet.set_filter("=packs > 100")
    fleet.put(msgspec.structs.replace(rows()[0], pack_count=101))
    fleet.put(row("new.git", State.OK, pack_count=300))
    assert names(fleet) == ["most.git"]
    fleet.arrange()
    assert sorted(names(fleet)) == ["few.git", "most.git", "new.git"]


def test_condition_is_run_once_for_each_arrangement_and_only_if_rows_have_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gitdash.history.condition_table import ConditionTable

    asked: list[str] = []
    original = ConditionTable.select

    def select(self: ConditionTable, condition: str, *, time_limit_s: float) -> list[int]:
        asked.append(condition)
        return original(self, condition, time_limit_s=time_limit_s)

    monkeypatch.setattr(ConditionTable, "select", select)
    fleet = fleet_of(rows())
    fleet.set_filter("=packs > 100")
    fleet.sort_by("disk")
    fleet.arrange()
    assert asked == ["packs > 100"]
    fleet.put(msgspec.structs.replace(rows()[0], pack_count=101))
    fleet.put(msgspec.structs.replace(rows()[1], pack_count=102))
    fleet.arrange()
    assert asked == ["packs > 100"] * 2


def test_rows_that_are_gone_take_no_others_with_them() -> None:
    fleet = fleet_of(rows())
    fleet.set_filter("=packs > 50")
    fleet.forget([ROOT + b"/few.git"])
    assert names(fleet) == ["most.git", "many.git"]
    fleet.forget([ROOT + b"/many.git"])
    assert names(fleet) == ["most.git"]
    fleet.put(row("new.git", pack_count=51))
    fleet.arrange()
    assert sorted(names(fleet)) == ["most.git", "new.git"]


def test_letter_does_not_sort() -> None:
    fleet = fleet_of(rows())
    fleet.put(msgspec.structs.replace(rows()[0], state=State.UNREADABLE))
    fleet.set_filter("git")
    assert names(fleet) == ["most.git", "many.git", "few.git"]
    fleet.arrange()
    assert names(fleet)[0] == "few.git"


@pytest.mark.safety
@pytest.mark.parametrize(
    "condition",
    [
        "load_extension('x')",
        "1 IN (SELECT 1 FROM sqlite_master)",
        "1); DROP TABLE repositories; --",
        "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c) > 0",
    ],
)
def test_condition_does_nothing_but_read_the_rows(condition: str) -> None:
    fleet = fleet_of(rows())
    assert not fleet.set_filter(f"={condition}")
    assert fleet.filter.problem
    assert len(names(fleet)) == 3


@pytest.mark.safety
def test_condition_that_takes_too_long_is_stopped() -> None:
    fleet = fleet_of(many_summaries(3_000))
    start_s = time.monotonic()
    table = "repositories"
    fleet.set_filter(f"=(SELECT count(*) FROM {table} a, {table} b, {table} c WHERE a.disk < b.disk) > 5")
    assert time.monotonic() - start_s < 5
    assert fleet.filter.problem is not None
    assert "takes more than" in fleet.filter.problem


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("=pack", ["packs", "pack_bytes", "pack_count"]),
        ("=packs > 5 AND disk_", ["disk_bytes"]),
        ("=packs", []),
        ("=nothing_like_it", []),
        ("=name LIKE 'pa", []),
        ("=packs > ", []),
        ("pack", []),
    ],
)
def test_completions_are_columns_that_begin_so(text: str, offered: list[str]) -> None:
    assert list(completions(text)) == offered


def test_unit_of_a_number_is_not_completed_as_if_it_were_a_column() -> None:
    assert list(completions("=loose > 10k")) == []
    assert "kind" in completions("=loose > 10 and k")


def test_every_column_that_a_condition_may_name_is_offered_for_its_beginning() -> None:
    for column in COLUMNS:
        if column.key in CONDITION_NAMES and len(column.key) > 1:
            assert column.key in completions("=" + column.key[:-1])


async def test_condition_acts_on_every_key_and_the_bar_says_why_not_yet() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("slash")
        await driven.type("=packs > 1")
        assert len(driven.names) == 3
        await driven.type("00")
        assert driven.names == ["most.git"]
        assert any("1/3" in line for line in driven.lines())
        await driven.type(" and")
        assert driven.names == ["most.git"]
        assert "   not complete" in driven.lines()


async def test_bar_offers_columns_and_tab_puts_them_in() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("slash")
        await driven.type("=pack")
        assert "   tab: packs  pack_bytes  pack_count" in driven.lines()
        bar = driven.app.fleet_screen.filter_bar
        typed = []
        for _ in range(4):
            await driven.press("tab")
            typed.append(bar.input.value)
        assert typed == ["=packs", "=pack_bytes", "=pack_count", "=packs"]
        await driven.type(" > 100")
        assert driven.names == ["most.git"]


async def test_enter_keeps_a_condition_and_hides_its_help() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("slash")
        await driven.type("=packs > 100")
        assert driven.app.fleet_screen.filter_bar.hint.display
        await driven.press("enter")
        assert not driven.app.fleet_screen.filter_bar.hint.display
        assert driven.names == ["most.git"]
        assert any("=packs > 100" in line for line in driven.lines())


async def test_enter_on_half_a_condition_goes_on_to_say_why_it_does_not_hold() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("slash")
        await driven.type("=packs > 100 or")
        await driven.press("enter")
        assert driven.names == ["most.git"]
        assert "   not complete" in driven.lines()
        await driven.press("escape")
        assert len(driven.names) == 3
        assert "   not complete" not in driven.lines()


async def test_nothing_that_passes_a_condition_says_what_to_do() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("slash")
        await driven.type("=packs > 1000")
        assert any("For no repository is this condition true. esc shows all." in line for line in driven.lines())


async def test_empty_filter_line_says_what_can_be_typed() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("slash")
        assert any("words, or =SQL such as =packs > 50" in line for line in driven.lines())


async def _typed(driven: DrivenFleet, *texts: str) -> None:
    for text in texts:
        await driven.press("slash")
        await driven.type(text)
        await driven.press("enter", "escape")


async def test_arrows_bring_former_filters_back_into_an_empty_line() -> None:
    async with driven_fleet(rows()) as driven:
        await _typed(driven, "few", "=packs > 50", "few")
        await driven.press("slash")
        values = []
        for key in ("up", "up", "up", "down", "down"):
            await driven.press(key)
            values.append(driven.app.fleet_screen.filter_bar.input.value)
        assert values == ["few", "=packs > 50", "=packs > 50", "few", ""]


async def test_arrows_move_the_cursor_while_something_else_is_typed() -> None:
    async with driven_fleet(rows()) as driven:
        await _typed(driven, "few")
        await driven.press("slash")
        await driven.type("git")
        await driven.press("up")
        assert driven.app.fleet_screen.filter_bar.input.value == "git"
        assert driven.cursor == "many.git"


async def test_rows_follow_a_condition_while_they_change() -> None:
    async with driven_fleet(rows()) as driven:
        await driven.press("slash")
        await driven.type("=packs > 100")
        await driven.press("enter")
        await driven.happen(msgspec.structs.replace(rows()[0], pack_count=150), row("new.git", pack_count=5))
        assert sorted(driven.names) == ["few.git", "most.git"]


async def _cpu_s(driven: DrivenFleet, keys: Sequence[str]) -> list[float]:
    spent_s = []
    for key in keys:
        start_s = time.thread_time()
        await driven.press(key)
        spent_s.append(time.thread_time() - start_s)
    return sorted(spent_s)


async def test_keystroke_in_a_condition_over_ten_thousand_rows_is_not_felt() -> None:
    async with driven_fleet(many_summaries(10_000), size=(160, 50)) as driven:
        await driven.press("slash")
        await driven.type("=packs >")
        spent_s = await _cpu_s(driven, ["space", *"50", "space", *"and", "space", *"loose"])
        assert len(driven.names) < 2_000
        assert spent_s[len(spent_s) // 2] <= KEY_LIMIT_S * SLACK, spent_s
