"""The tab Pool: trees of lenders and borrowers, what each line says, and how one goes from relative to relative."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import msgspec
import pytest

from gitdash.export.family import family
from gitdash.model.inspection import AlternatesFacts
from gitdash.model.report import Lender, RepositoryReport, State
from gitdash.model.repository import Unreadable
from gitdash.model.summary import RepositorySummary
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.drawing.cells import line_length
from gitdash.tui.drawing.items import Page
from gitdash.tui.options import Options
from gitdash.tui.pools.screen import PoolsScreen
from gitdash.tui.repository import relatives
from gitdash.tui.repository.family_tree import tree_rows
from gitdash.tui.repository.pool import pool_page, relative_path
from gitdash.tui.repository.relatives import Relatives
from gitdash.tui.repository.screen import RepositoryScreen
from gitdash.tui.repository.view import RepositoryView
from tests.export.rows import NOW_S, summary
from tests.support.idle import until
from tests.support.speed import slowness
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import inspection, pack_facts, report
from tests.tui.fixture_pools import at, gone, known, member, outside, pool, pool_summaries
from tests.tui.source_double import SourceDouble


def view_of(
    name: str, rows: Sequence[RepositorySummary] | None = None, entry: RepositoryReport | None = None
) -> RepositoryView:
    rows = pool_summaries() if rows is None else rows
    return RepositoryView(
        summary=next(row for row in rows if row.path == at(name)),
        report=entry,
        now_s=NOW_S,
        family=lambda: family(at(name), rows),
        repository_count=len(rows),
    )


def texts(view: RepositoryView, width: int = 110) -> list[str]:
    return ["".join(piece.text for piece in line).rstrip() for line in pool_page(view, width).lines]


def words(lines: Sequence[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def report_with(alternates: AlternatesFacts | Unreadable | None, borrowers: tuple[bytes, ...] = ()) -> RepositoryReport:
    facts = msgspec.structs.replace(inspection(packs=pack_facts(1, 10)), alternates=alternates)
    return report(b"x.git", facts, borrowers=borrowers)


def test_lenders_and_borrowers_are_trees_with_the_repository_at_their_root() -> None:
    assert words(texts(view_of("middle.git"))) == [
        "name role state objects shared duplicate saved exclusive",
        "",
        "Borrows from 1 lender",
        "• middle.git m+pool notice 9.00 MiB >=302 MiB 2.00 MiB >=300 MiB 7.00 MiB",
        "└─ base.git pool ok 600 MiB - 0 B - 600 MiB",
        "",
        "Lends to 2 repositories, which saves >=600 MiB",
        "• middle.git m+pool notice 9.00 MiB >=302 MiB 2.00 MiB >=300 MiB 7.00 MiB",
        "├─ second.git member ok 9.00 MiB >=302 MiB 2.00 MiB >=300 MiB 7.00 MiB",
        "└─ top.git member ok 9.00 MiB >=302 MiB 2.00 MiB >=300 MiB 7.00 MiB",
        "",
        "Who borrows is known only among the 12 repositories that were scanned here: git keeps no list of borrowers.",
        "Look for others before a gc or prune here.",
    ]


def test_chain_hangs_below_the_lender_that_it_goes_through() -> None:
    lines = texts(view_of("top.git"))
    assert lines[2] == " Borrows from 2 lenders, 1 of them through another"
    assert [line[:18].rstrip() for line in lines[4:6]] == [" └─ middle.git", "    └─ base.git"]
    lines = texts(view_of("base.git"))
    assert lines[2] == " Lends to 3 repositories, 2 of them through others, which saves >=300 MiB"
    assert [line[:18].rstrip() for line in lines[4:7]] == [" └─ middle.git", "    ├─ second.git", "    └─ top.git"]


def test_stems_go_on_as_long_as_others_follow() -> None:
    depths = [1, 2, 3, 2, 1, 2, 7, 8, 9, 1]
    rows = [member("a", *(known(f"l{number}", depth) for number, depth in enumerate(depths)))]
    assert [row.stem for row in tree_rows(family(at("a"), rows).lenders)] == [
        "├─ ",
        "│  ├─ ",
        "│  │  └─ ",
        "│  └─ ",
        "├─ ",
        "│  └─ ",
        "│                 └─ ",
        "… 8 └─ ",
        "… 9 └─ ",
        "└─ ",
    ]


def test_lender_that_is_none_of_the_repositories_says_where_it_is_and_why() -> None:
    broken = Lender(path=b"/x/file", depth=1, exists=True, is_known=False, problem="not a directory")
    unread = Lender(path=at("later.git"), depth=1, exists=True, is_known=True)
    lines = texts(view_of("a", [member("a", gone(), outside(), broken, unread)]))
    assert words(lines[4:8]) == [
        "├─ missing /srv/git/@pools/gone.git (no such file or directory)",
        "├─ outside the roots /srv/other/base.git (not scanned)",
        "├─ cannot be used /x/file (not a directory)",
        "└─ not read yet /srv/git/later.git",
    ]


def test_lender_that_git_cannot_use_says_why_below() -> None:
    deep = Lender(path=at("p"), depth=1, exists=True, is_known=True, problem="nested too deep: git ignores it")
    page = pool_page(view_of("a", [member("a", deep, known("q")), pool("p", 1), pool("q", 1)]), 100)
    lines = ["".join(piece.text for piece in line).rstrip() for line in page.lines]
    assert lines[4].startswith(" ├─ p ")
    assert lines[5] == " │    ! git cannot use it: nested too deep: git ignores it"
    assert list(page.items) == [4, 6]


def test_plain_repository_has_one_sentence() -> None:
    assert words(texts(view_of("plain.git"), 200)) == [
        "",
        "It reads no objects from another repository, and none of the 11 other repositories here reads any from it.",
    ]


def test_pool_that_nobody_uses_says_so() -> None:
    assert texts(view_of("lonely.git"))[2] == " Lends to none of the repositories here"


@pytest.mark.parametrize("changes", [{"state": State.UNREADABLE}, {"inspected_at_s": None}])
def test_repository_that_was_not_read_is_not_said_to_be_alone(changes: dict[str, object]) -> None:
    rows = [summary("a", **changes)]
    assert words(texts(view_of("a", rows))) == ["This repository is being read."]
    unreadable = report(b"a", Unreadable("permission denied"), state=State.UNREADABLE)
    if "state" in changes:
        assert words(texts(view_of("a", rows, unreadable))) == ["This repository could not be read: permission denied."]


def test_borrowers_of_earlier_surveys_are_named_once_the_report_is_there() -> None:
    rows = [pool("x.git", 3), member("a", known("x.git"))]
    assert "    and 2 that an earlier survey saw elsewhere" in texts(view_of("x.git", rows))
    entry = report_with(None, borrowers=(at("a"), b"/else/b.git", b"/else/c\x1b.git"))
    lines = texts(view_of("x.git", rows, entry))
    assert "    seen by an earlier survey  /else/b.git" in lines
    assert "    seen by an earlier survey  /else/c\\x1b.git" in lines
    assert sum("seen by" in line for line in lines) == 2


def test_alternates_file_is_described() -> None:
    facts = inspection(packs=pack_facts(1, 10), alternates=[b"/srv/git/p/objects"]).alternates
    assert isinstance(facts, AlternatesFacts)
    facts = msgspec.structs.replace(facts, comment_count=2, mtime_s=NOW_S - 86_400, incomplete="p: permission denied")
    rows = [member("x.git", known("p")), pool("p", 1)]
    lines = words(texts(view_of("x.git", rows, report_with(facts)), 150))
    assert lines[5:7] == [
        "objects/info/alternates names 1 store and has 2 comment lines, written 1d ago; relative paths in it count from"
        " `objects`.",
        "! lenders may be missing here: p: permission denied",
    ]
    comments = msgspec.structs.replace(facts, alternates=(), comment_count=1, incomplete=None)
    lines = words(texts(view_of("y", [summary("y")], report_with(comments)), 150))
    assert lines[-1].startswith("objects/info/alternates names no store and has 1 comment line, written")


def test_alternates_file_that_cannot_be_read_leaves_the_lenders_unknown() -> None:
    entry = report_with(Unreadable("permission denied"))
    lines = words(texts(view_of("x.git", [summary("x.git", role="member")], entry), 150))
    assert lines[2] == "Borrows, but from whom is not known"
    assert lines[4] == "! its objects/info/alternates cannot be read: permission denied"


def test_member_that_is_reached_twice_stands_there_once_in_full() -> None:
    rows = [
        pool("p", 4),
        member("left", known("p"), role="member+pool"),
        member("right", known("p"), role="member+pool"),
        member("both", known("left"), known("p", 2), known("right"), role="member+pool"),
    ]
    view = view_of("p", rows)
    lines = texts(view)
    assert lines[2].startswith(" Lends to 3 repositories, 1 of them through others")
    assert lines[7] == "    └─ both  stands above, with those below it"
    page = pool_page(view, 100)
    assert len(set(page.names)) == len(page.items) == 4
    assert [relative_path(view, number) for number in range(5)] == [
        at("left"),
        at("both"),
        at("right"),
        at("both"),
        None,
    ]


@pytest.mark.parametrize("width", [59, 79, 109, 199])
def test_every_line_fits(width: int) -> None:
    name = "日本語のリポジトリ" * 20
    rows = [
        *pool_summaries(),
        member("y" * 200, known(name), gone(), outside(), known("base.git", 9)),
        pool(name, 1, saved_bytes=None),
    ]
    for row in rows:
        page = pool_page(view_of(row.name, rows), width)
        assert all(line_length(line) <= width for line in page.lines)
        assert page.pinned is None or line_length(page.pinned) <= width


def test_columns_stand_below_their_heads() -> None:
    figures = (("objects", "9.00 MiB"), ("shared", ">=302 MiB"), ("duplicate", "2.00 MiB"), ("saved", ">=300 MiB"))
    for width, has_exclusive in ((79, False), (110, True)):
        lines = texts(view_of("middle.git"), width)
        assert ("shared" in lines[0]) is has_exclusive
        for title, text in figures:
            if title == "shared" and not has_exclusive:
                continue
            assert lines[3][: lines[0].index(title) + len(title)].endswith(text)
        assert ("exclusive" in lines[0]) is has_exclusive


def test_thousand_borrowers_are_listed_quickly() -> None:
    rows = [pool("p", 1_000), *(member(f"m{number:04}", known("p")) for number in range(1_000))]
    found = family(at("p"), rows)
    view = replace(view_of("p", rows), family=lambda: found)
    elapsed_s = []
    page = Page([])
    for _ in range(3):
        started_s = time.process_time()
        page = pool_page(view, 120)
        _ = [page.lines[number] for number in range(40)]
        elapsed_s.append(time.process_time() - started_s)
    assert len(page.items) == 1_000
    assert min(elapsed_s) < 0.05 * slowness()


def test_fleet_is_looked_at_again_when_it_changed_and_not_for_every_change(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    waits: list[float] = []

    def summaries() -> Sequence[RepositorySummary]:
        looked.append(1)
        return pool_summaries()

    one = Relatives(at("base.git"), summaries, waits.append)
    assert one.family() is one.family()
    one.changed()
    one.changed()
    assert one.family() is one.family()
    assert (len(looked), len(waits)) == (1, 1)
    assert 0 < waits[0] <= relatives.LOOK_INTERVAL_S
    monkeypatch.setattr(relatives, "LOOK_INTERVAL_S", 0.0)
    one.family()
    one.family()
    assert (len(looked), len(waits)) == (2, 1)


def test_family_is_looked_at_when_it_is_due_though_the_timer_was_early() -> None:
    looked: list[int] = []
    waits: list[float] = []

    def summaries() -> Sequence[RepositorySummary]:
        looked.append(1)
        return pool_summaries()

    one = Relatives(at("base.git"), summaries, waits.append)
    one.family()
    for count in (2, 3):
        one.changed()
        one.family()
        one.due()
        one.family()
        assert (len(looked), len(waits)) == (count, count - 1)
    one.due()
    one.changed()
    one.family()
    assert len(looked) == 3


class DrivenTab(Driven):
    """The application under test with its source."""

    @property
    def screen(self) -> RepositoryScreen:
        assert isinstance(self.app.screen, RepositoryScreen)
        return self.app.screen


@asynccontextmanager
async def pool_tab(name: str, *, encoding: str = "utf-8") -> AsyncIterator[DrivenTab]:
    source = SourceDouble()
    app = Dashboard([b"/srv/git"], pool_summaries(), source, lambda: NOW_S, Options(encoding=encoding))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: source.started, "the survey begins")
        app.open_repository(at(name), tab="pool")
        await until(lambda: isinstance(app.screen, RepositoryScreen), "the repository is open")
        await pilot.pause()
        yield DrivenTab(app, source, pilot)


async def test_enter_goes_from_relative_to_relative_on_the_same_tab() -> None:
    async with pool_tab("middle.git") as driven:
        assert "[4 Pool]" in driven.lines()[1]
        assert "enter open" in driven.lines()[-1]
        await driven.press("enter")
        assert (driven.screen.path, driven.screen.shown_tab()) == (at("base.git"), "pool")
        await driven.press("G", "enter")
        assert driven.screen.path == at("top.git")
        assert len(driven.app.screen_stack) == 2, "one goes back to the table at once"


async def test_enter_opens_nothing_where_nothing_stands() -> None:
    async with pool_tab("plain.git") as driven:
        await driven.press("enter", "1", "enter")
        assert (driven.screen.path, driven.screen.shown_tab()) == (at("plain.git"), "overview")
        assert "enter" not in driven.lines()[-1]


async def test_way_from_the_lenders_leads_back_to_them() -> None:
    async with pool_tab("middle.git") as driven:
        await driven.press("q", "p", "j", "right", "right", "enter", "4", "enter")
        assert driven.screen.path == at("pool.git")
        await driven.press("escape")
        assert isinstance(driven.app.screen, PoolsScreen)


async def test_new_borrower_appears_and_the_cursor_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relatives, "LOOK_INTERVAL_S", 0.0)
    async with pool_tab("pool.git") as driven:
        await driven.press("j")
        driven.source.happen().summaries[at("aa.git")] = member("aa.git", known("pool.git"))
        driven.app.flush()
        await driven.pilot.pause()
        names = [line.split()[1] for line in driven.lines() if line[1:3] in {"├─", "└─"}]
        assert names == ["aa.git", "fork-a.git", "fork-b.git"]
        assert driven.screen.items.selected == 2


async def test_change_right_after_another_is_shown_soon() -> None:
    async with pool_tab("pool.git") as driven:
        for name in ("aa.git", "ab.git"):
            driven.source.happen().summaries[at(name)] = member(name, known("pool.git"))
            driven.app.flush()
            await driven.pilot.pause()
        await until(lambda: "ab.git" in "\n".join(driven.lines()), "the second change is shown")
        assert any(line.startswith(" Lends to 4 repositories") for line in driven.lines())


@pytest.mark.parametrize("name", ["middle.git", "api.git"])
async def test_trees_can_be_written_in_ascii(name: str) -> None:
    async with pool_tab(name, encoding="ascii") as driven:
        text = "\n".join(driven.lines())
    assert text.isascii()
    assert " +- " in text
    assert f" * {name}" in text
