"""The screen of lenders: what stands on it, what keys do, and what becomes of the cursor when the fleet changes."""

import dataclasses
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
import pytest

from gitdash.export.pools import KnownSum, cost_text, pool_forest
from gitdash.model.report import Lender, State
from gitdash.model.saved import SavedSum
from gitdash.model.sizes import Bound
from gitdash.model.summary import RepositorySummary
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.drawing.cells import Tone, line_length
from gitdash.tui.options import Options
from gitdash.tui.pools import screen as pools_screen
from gitdash.tui.pools.figures import net_text, sum_text
from gitdash.tui.pools.lines import entry_line, head_line, no_lender_lines
from gitdash.tui.pools.order import ORDERS, PoolOrder
from gitdash.tui.pools.pool_list import PoolList
from gitdash.tui.pools.screen import PoolsScreen
from gitdash.tui.repository.screen import RepositoryScreen
from tests.export.rows import NOW_S, summary
from tests.support.idle import until
from tests.support.speed import slowness
from tests.tui.driven import Driven
from tests.tui.fixture_pools import GONE, OUTSIDE, at, known, member, pool, pool_summaries
from tests.tui.source_double import SourceDouble


def texts(pools: PoolList, width: int = 120) -> list[str]:
    return ["".join(piece.text for piece in entry_line(entry, width)).rstrip() for entry in pools.entries.rows]


def words(line: str) -> str:
    return " ".join(line.split())


def of(rows: Sequence[RepositorySummary]) -> PoolList:
    pools = PoolList()
    take(pools, rows)
    return pools


def take(pools: PoolList, rows: Sequence[RepositorySummary]) -> None:
    saved = SavedSum()
    for row in rows:
        saved.add(row)
    pools.take(rows, saved)


def test_worst_stand_first_and_lines_below_say_why() -> None:
    lines = texts(of(pool_summaries()))
    assert [line.split()[0 if line[1] == " " else 1] for line in lines if "!" not in line] == [
        "/srv/git/@pools/gone.git",
        "pool.git",
        "/srv/other/base.git",
        "middle.git",
        "base.git",
        "lonely.git",
    ]
    assert [line.strip() for line in lines if "!" in line] == [
        "! missing (no such file or directory): 2 repositories lost its objects",
        "! a lender's config drops objects",
        "! outside the roots: nobody here sees whether it drops objects",
    ]


def test_reason_that_is_the_word_itself_is_not_repeated() -> None:
    lender = Lender(path=GONE, depth=1, exists=False, is_known=False, problem="missing")
    lines = texts(of([member("a", lender, rules=("missing-lender",), state=State.CRITICAL)]))
    assert lines[1].strip() == "! missing: 1 repository lost its objects"


def test_row_has_members_and_sums_over_them() -> None:
    line = next(line for line in texts(of(pool_summaries())) if "pool.git" in line)
    assert words(line) == "▸ pool.git warning 2 600 MiB 600 MiB 4.00 MiB >=300 MiB"
    base = next(line for line in texts(of(pool_summaries())) if " base.git" in line)
    assert words(base) == "▸ base.git notice 1 +2 600 MiB 600 MiB 2.00 MiB >=300 MiB >=300 MiB"


def test_lender_outside_and_missing_say_so_by_words() -> None:
    lines = texts(of(pool_summaries()))
    assert any(line.split()[1:4] == ["/srv/git/@pools/gone.git", "missing", "2"] for line in lines)
    assert any(line.split()[1:4] == ["/srv/other/base.git", "outside", "1"] for line in lines)


def test_open_lender_shows_its_members_with_figures_of_their_own() -> None:
    pools = of(pool_summaries())
    pools.set_open(at("base.git"), is_open=True)
    pools.set_open(at("pool.git"), is_open=True)
    lines = texts(pools)
    assert lines[2:8] == [
        next(line for line in lines if "▾ pool.git" in line),
        "   │ ! a lender's config drops objects",
        next(line for line in lines if "├─ fork-a.git" in line),
        next(line for line in lines if "└─ fork-b.git" in line),
        "     and 2 that an earlier survey saw elsewhere",
        lines[7],
    ]
    assert words(lines[4]) == "├─ fork-a.git ok 9.00 MiB 7.00 MiB 2.00 MiB >=300 MiB"
    assert words(lines[5]) == "└─ fork-b.git ok 9.00 MiB 7.00 MiB 2.00 MiB"
    middle = next(number for number, line in enumerate(lines) if "└─ middle.git" in line)
    assert lines[middle].split()[:4] == ["└─", "middle.git", "notice", "2"], "it lends itself"
    assert lines[middle + 1].strip() == "and 2 more that borrow through other lenders"


def test_member_says_what_is_unsafe_unless_its_lender_said_it() -> None:
    rows = [
        member("a", known("p"), rules=("shared-object-store", "many-packs"), state=State.NOTICE),
        pool("p", 1, rules=("pool-drops-objects",), state=State.CRITICAL),
        *pool_summaries(),
    ]
    pools = of(rows)
    pools.set_all_open(is_open=True)
    lines = texts(pools)
    number = next(number for number, line in enumerate(lines) if "└─ a " in line)
    assert lines[number + 1].strip() == "! object store shared without alternates"
    assert sum("missing" in line for line in lines) == 2, "the lender's state, and the line below it"


def test_tone_of_a_reason_is_no_worse_than_the_state() -> None:
    notes = of([member("a", known("p")), pool("p", 1, rules=("pool-drops-objects",), state=State.WARNING)]).entries.rows
    assert entry_line(notes[1], 80)[1].tone is Tone.WARNING
    notes = of(
        [member("a", known("p")), pool("p", 1, rules=("pool-drops-objects",), state=State.CRITICAL)]
    ).entries.rows
    assert entry_line(notes[1], 80)[1].tone is Tone.CRITICAL


@pytest.mark.parametrize("width", [59, 79, 100, 119, 199])
def test_every_line_fits_and_columns_stand_below_their_heads(width: int) -> None:
    pools = of(
        [*pool_summaries(), member("x" * 300, known("日本語のリポジトリ" * 20)), pool("日本語のリポジトリ" * 20, 1)]
    )
    pools.set_all_open(is_open=True)
    assert all(line_length(entry_line(entry, width)) <= width for entry in pools.entries.rows)
    head = "".join(piece.text for piece in head_line(pools.order, width))
    row = next(line for line in texts(pools, width) if "base.git  " in line and "+2" in line)
    end = head.index("saved") + len("saved")
    assert row[:end].endswith(">=300 MiB")
    assert row[: head.index("members") + 7].endswith("1 +2")
    assert ("net" in head, "exclusive" in head) == (width >= 85, width >= 109)


@pytest.mark.parametrize(
    ("key", "first", "last"),
    [
        ("name", "/srv/git/@pools/gone.git/objects", "pool.git"),
        ("worst", "/srv/git/@pools/gone.git/objects", "lonely.git"),
        ("objects", "base.git", "/srv/other/base.git/objects"),
        ("duplicate", "middle.git", "lonely.git"),
        ("saved", "middle.git", "lonely.git"),
        ("net", "middle.git", "lonely.git"),
        ("unsafe", "/srv/git/@pools/gone.git/objects", "lonely.git"),
    ],
)
def test_lenders_are_sorted_by_any_column_and_the_unknown_stand_last(key: str, first: str, last: str) -> None:
    pools = of(pool_summaries())
    order = next(one for one in _orders() if one.key == key)
    names = [row.name for row in order.sorted(pools._pools.values())]
    assert (names[0], names[-1]) == (first, last)


def _orders() -> list[PoolOrder]:
    order = PoolOrder()
    found = []
    for _ in ORDERS:
        found.append(order)
        order = order.neighbour(1)
    assert order == PoolOrder(), "the last is followed by the first"
    return found


def test_sums_mark_what_they_lack() -> None:
    assert sum_text(KnownSum(bytes=0, known_count=0, unknown_count=0, bound=Bound.EXACT)) == "-"
    assert sum_text(KnownSum(bytes=0, known_count=0, unknown_count=2, bound=Bound.LOWER)) == ""
    assert sum_text(KnownSum(bytes=5, known_count=1, unknown_count=2, bound=Bound.LOWER)) == ">=5 B"


@pytest.mark.parametrize(
    ("bound", "text"),
    [(Bound.EXACT, "2.00 KiB"), (Bound.LOWER, "<=2.00 KiB"), (Bound.UPPER, ">=2.00 KiB"), (Bound.UNKNOWN, "~2.00 KiB")],
)
def test_what_is_saved_at_least_is_paid_at_most(bound: Bound, text: str) -> None:
    assert cost_text(-2048, bound) == text


def test_net_of_a_pool_is_a_cost_in_words_and_blank_while_members_are_unknown() -> None:
    row = next(row for row in pool_forest([member("a", known("p")), pool("p", 1)]) if row.summary is not None)
    saved = KnownSum(bytes=1 << 20, known_count=1, unknown_count=0, bound=Bound.EXACT)
    known_row = dataclasses.replace(row, saved=saved, net_bytes=-(3 << 20))
    assert net_text(known_row) == "costs 3.00 MiB"
    partial = dataclasses.replace(saved, unknown_count=1, bound=Bound.LOWER)
    assert net_text(dataclasses.replace(known_row, saved=partial)) == ""
    assert net_text(dataclasses.replace(known_row, saved=partial, net_bytes=3 << 20)) == ">=3.00 MiB"


@pytest.mark.parametrize(
    ("is_complete", "text"), [(True, "12 repositories."), (False, "12 repositories looked at so far.")]
)
def test_fleet_without_lenders_says_what_a_lender_is(is_complete: bool, text: str) -> None:
    lines = ["".join(piece.text for piece in line) for line in no_lender_lines(12, 80, is_complete=is_complete)]
    assert lines[1].strip() == f"No lender among the {text}"
    assert "objects/info/alternates" in " ".join(lines)


class DrivenLenders(Driven):
    """The application with the screen of lenders on top."""

    async def change(self, *rows: RepositorySummary, forgotten: Sequence[bytes] = ()) -> None:
        changes = self.source.happen()
        changes.summaries.update({row.path: row for row in rows})
        changes.forgotten += forgotten
        self.app.flush()
        await self.pilot.pause()

    @property
    def screen(self) -> PoolsScreen:
        assert isinstance(self.app.screen, PoolsScreen)
        return self.app.screen

    @property
    def cursor(self) -> str:
        key = self.screen.key
        assert key is not None
        return "/".join(path.removesuffix(b"/objects").rpartition(b"/")[2].decode() for path in key if path)

    def cursor_line(self) -> int:
        """The line of the screen that stands out."""
        items = self.screen.items
        return items._items[items.selected] - items.scroll_offset.y


@asynccontextmanager
async def lenders(
    rows: Sequence[RepositorySummary] | None = None, size: tuple[int, int] = (120, 40), options: Options | None = None
) -> AsyncIterator[DrivenLenders]:
    source = SourceDouble()
    app = Dashboard(
        [b"/srv/git"], pool_summaries() if rows is None else rows, source, lambda: NOW_S, options or Options()
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: source.started, "the survey begins")
        driven = DrivenLenders(app, source, pilot)
        await driven.press("p")
        yield driven


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools_screen, "RENEW_INTERVAL_S", 0.0)


async def test_screen_has_title_sums_head_and_rows() -> None:
    async with lenders() as driven:
        lines = driven.lines()
    assert words(lines[0]) == "Lenders and their members by unsafe ▼"
    assert words(lines[1]) == "6 lenders 8 members 3 unsafe 1 missing 1 outside the roots"
    # 2 pools that nobody owns, of which one lends: 6 members save 300 MiB each, less its 600 MiB
    assert words(lines[2]) == ">=1.77 GiB in lenders >=900 MiB saved net >=14.0 MiB duplicate in members"
    assert words(lines[3]) == "name worst members objects exclusive duplicate saved net"
    assert lines[4].split()[1] == "/srv/git/@pools/gone.git"


@pytest.mark.parametrize(
    ("keys", "cursor"),
    [
        (["right"], "gone.git"),
        (["right", "right"], "gone.git/api.git"),
        (["l", "l", "j"], "gone.git/web.git"),
        (["enter", "j", "left"], "gone.git"),
        (["enter", "j", "h", "right", "G"], "lonely.git"),
        (["plus", "j"], "gone.git/api.git"),
        (["plus", "j", "minus"], "gone.git"),
        (["G", "right", "right", "left"], "lonely.git"),
        (["j", "enter", "j", "j", "j", "j"], "middle.git"),
    ],
)
async def test_keys_open_and_close_lenders(keys: list[str], cursor: str) -> None:
    async with lenders() as driven:
        await driven.press(*keys)
        assert driven.cursor == cursor


async def test_enter_opens_members_then_the_repository() -> None:
    async with lenders() as driven:
        await driven.press("j", "enter")
        assert driven.cursor == "pool.git"
        assert any("└─ fork-b.git" in line for line in driven.lines())
        await driven.press("enter")
        assert isinstance(driven.app.screen, RepositoryScreen)
        assert driven.app.screen.path == at("pool.git")
        await driven.press("escape", "j", "enter")
        assert isinstance(driven.app.screen, RepositoryScreen)
        assert driven.app.screen.path == at("fork-a.git")
        await driven.press("q")
        assert driven.cursor == "pool.git/fork-a.git"


async def test_lender_that_is_no_repository_here_says_so_instead_of_opening() -> None:
    async with lenders() as driven:
        await driven.press("enter", "enter")
        assert isinstance(driven.app.screen, PoolsScreen)
        messages = [notification.message for notification in driven.app._notifications]
        assert messages == ["/srv/git/@pools/gone.git/objects is none of the repositories here."]


async def test_only_unsafe_hides_the_others_and_shows_them_again() -> None:
    async with lenders() as driven:
        await driven.press("u")
        shown = [line.split()[1] for line in driven.lines() if line[1:2] == "▸"]
        assert shown == ["/srv/git/@pools/gone.git", "pool.git", "/srv/other/base.git"]
        assert "unsafe only" in driven.lines()[0]
        await driven.press("u")
        assert sum(line[1:2] == "▸" for line in driven.lines()) == 5


async def test_nothing_unsafe_is_said_in_a_sentence() -> None:
    async with lenders([member("a", known("p")), pool("p", 1)]) as driven:
        await driven.press("u")
        assert any(line.strip() == "Nothing unsafe is known of the 1 lender. u shows all." for line in driven.lines())
        await driven.press("j", "enter", "right", "left", "y")
        assert driven.screen.key is None


async def test_sort_keys_go_from_column_to_column_and_reverse_and_the_cursor_stays_on_its_lender() -> None:
    async with lenders() as driven:
        await driven.press("j")
        for keys, order in (
            (["greater_than_sign"], "by name ▲"),
            (["greater_than_sign"], "by worst ▼"),
            (["O"], "by worst ▲"),
            (["less_than_sign", "less_than_sign", "less_than_sign"], "by net ▼"),
        ):
            await driven.press(*keys)
            assert driven.lines()[0].endswith(order)
            assert driven.cursor == "pool.git"
        assert "▼ net" in driven.lines()[3]


async def test_path_of_lender_or_member_is_copied() -> None:
    async with lenders() as driven:
        await driven.press("y")
        assert driven.app.clipboard == GONE.decode()
        await driven.press("j", "right", "j", "y")
        assert driven.app.clipboard == "/srv/git/fork-a.git"


@pytest.mark.usefixtures("_at_once")
async def test_cursor_stays_on_its_line_when_lenders_come_and_go() -> None:
    rows = [pool(f"p{number:03}", 1) for number in range(100)]
    rows += [member(f"m{number:03}", known(f"p{number:03}")) for number in range(100)]
    async with lenders(rows) as driven:
        await driven.press("greater_than_sign", *["pagedown"] * 2, "k", "right", "j")
        name, line = driven.cursor, driven.cursor_line()
        new = [pool(f"a{number}", 1) for number in range(7)]
        await driven.change(*new, *(member(f"b{number}", known(f"a{number}")) for number in range(7)))
        assert len(driven.screen.pools.entries.keys) == 108
        assert (driven.cursor, driven.cursor_line()) == (name, line)
        await driven.change(forgotten=[at("a1"), at("b1"), at("p099"), at("m099")])
        assert (driven.cursor, driven.cursor_line()) == (name, line)


@pytest.mark.usefixtures("_at_once")
async def test_cursor_goes_to_the_lender_when_its_member_is_gone() -> None:
    async with lenders() as driven:
        await driven.press("j", "right", "j")
        await driven.change(forgotten=[at("fork-a.git")])
        assert driven.cursor == "pool.git"


@pytest.mark.usefixtures("_at_once")
async def test_changes_are_shown_also_those_that_happened_below_another_screen() -> None:
    async with lenders() as driven:
        await driven.press("J")
        await driven.change(member("fork-c.git", known("pool.git")))
        await driven.press("escape")
        assert any(line.split()[:4] == ["▸", "pool.git", "warning", "3"] for line in driven.lines())


async def test_changes_in_a_row_are_looked_at_once_a_second() -> None:
    async with lenders() as driven:
        looks: list[float] = []
        look = driven.screen._look

        def counted() -> None:
            looks.append(time.monotonic())
            look()

        driven.screen._look = counted  # type: ignore[method-assign]
        first_s = driven.screen._looked_at_s
        for number in range(8):
            await driven.change(member(f"new-{number}", known("pool.git")))
        await until(lambda: looks, "the changes are looked at")
        assert looks[0] - first_s >= pools_screen.RENEW_INTERVAL_S
        assert len(looks) == 1
        assert any(line.split()[:4] == ["▸", "pool.git", "warning", "10"] for line in driven.lines())


@pytest.mark.usefixtures("_at_once")
async def test_first_lender_takes_the_place_of_the_sentence() -> None:
    async with lenders([summary("a"), summary("b")]) as driven:
        assert any("No lender among the 2 repositories." in line for line in driven.lines())
        assert not any("in lenders" in line for line in driven.lines())
        await driven.press("enter", "right", "left", "u", "u", "O", "y", "plus")
        await driven.change(pool("p", 1), member("a", known("p")))
        assert driven.lines()[1].split()[:2] == ["1", "lender"]
        assert driven.cursor == "p"


@pytest.mark.safety
async def test_hostile_names_are_shown_and_nothing_else() -> None:
    name = "[@click=app.quit]x[/]\\x1b[2J"
    async with lenders([pool(name, 1), member("a", known(name))], options=Options(encoding="ascii")) as driven:
        await driven.press("right")
        text = "\n".join(driven.lines())
    assert name in text
    assert text.isascii()
    assert "+- a" in text


def test_ten_thousand_repositories_in_three_hundred_pools_are_looked_at_quickly() -> None:
    rows = [member(f"m{number}", known(f"p{number % 300}")) for number in range(9_700)]
    rows += [pool(f"p{number}", 33, is_dedicated_pool=True) for number in range(300)]
    pools = of(rows[:10])
    pools.set_all_open(is_open=True)
    elapsed_s = []
    for _ in range(3):
        started_s = time.process_time()
        pools.take(rows, SavedSum())
        _ = pools.entries
        elapsed_s.append(time.process_time() - started_s)
    assert min(elapsed_s) < 0.15 * slowness()


@pytest.mark.usefixtures("_at_once")
async def test_lender_outside_that_is_scanned_later_is_outside_no_more() -> None:
    async with lenders() as driven:
        await driven.change(
            pool("other.git", 1), msgspec.structs.replace(pool_summaries()[9], lenders=(known("other.git"),), rules=())
        )
        assert not any("outside" in line for line in driven.lines())
        assert all(key != (OUTSIDE, None) for key in driven.screen.pools.entries.keys)


async def test_click_on_a_head_sorts_the_lenders_by_it_and_again_turns_the_order_round() -> None:
    async with lenders() as driven:
        for title, orders in (("saved", ("by saved ▼", "by saved ▲")), ("name", ("by name ▲", "by name ▼"))):
            for order in orders:
                await driven.pilot.click("#pools-head", offset=(driven.lines()[3].index(title) + 1, 0))
                await driven.pilot.pause()
                assert driven.lines()[0].endswith(order)


def test_worst_of_a_lender_is_that_of_its_members_and_a_member_has_its_own() -> None:
    pools = of(
        [
            member("a", known("p"), state=State.OK),
            member("b", known("p"), state=State.WARNING),
            pool("p", 2, state=State.NOTICE),
        ]
    )
    pools.set_all_open(is_open=True)
    lines = texts(pools)
    assert words("".join(piece.text for piece in head_line(pools.order, 120))).startswith("name worst ")
    assert [next(word for word in ("ok", "notice", "warning") if f" {word} " in line) for line in lines] == [
        "warning",
        "ok",
        "warning",
    ]
