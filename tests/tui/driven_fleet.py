"""A dashboard with a fleet under test, and rows that are made for grouping."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import msgspec

from gitdash.export.columns import FLEET_COLUMNS
from gitdash.model.report import Lender, State
from gitdash.model.summary import RepositorySummary
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.memory import Memory
from gitdash.tui.options import Options
from gitdash.tui.table.fleet import Fleet
from tests.support.idle import until
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import NOW_S, ROOT, many_summaries
from tests.tui.source_double import SourceDouble

_TEMPLATE = many_summaries(1)[0]
KEY_NAMES = {
    " ": "space",
    "=": "equals_sign",
    ">": "greater_than_sign",
    "<": "less_than_sign",
    "'": "apostrophe",
    "_": "underscore",
    "(": "left_parenthesis",
    ")": "right_parenthesis",
}


def row(
    name: str,
    state: State = State.OK,
    *rules: str,
    root: bytes = ROOT,
    role: str = "plain",
    lender: str | None = None,
    disk_bytes: int | None = 0,
    **more: object,
) -> RepositorySummary:
    """One repository; `rules` worst first, `lender` by its name below the same root."""
    lenders = () if lender is None else (_lender(f"{lender}/objects-of-it", 2), _lender(lender, 1))
    return msgspec.structs.replace(
        _TEMPLATE,
        name=name,
        path=root + b"/" + name.encode(),
        root=root,
        state=state,
        role=role,
        rules=rules,
        worst_rule=rules[0] if rules else None,
        lenders=lenders[::-1],
        disk_bytes=disk_bytes,
        **more,
    )


def _lender(name: str, depth: int) -> Lender:
    return Lender(path=ROOT + b"/" + name.encode(), depth=depth, exists=True, is_known=True)


def fleet_of(rows: Iterable[RepositorySummary], page_height: int = 100) -> Fleet:
    """A fleet whose lines all fit unless told otherwise."""
    fleet = Fleet(FLEET_COLUMNS)
    for summary in rows:
        fleet.put(summary)
    fleet.fit(page_height)
    fleet.arrange()
    return fleet


def outline(fleet: Fleet) -> list[str]:
    """The lines as text: heads with their count, rows indented."""
    shown = []
    for line in fleet.lines:
        group = fleet.group_at(line)
        shown.append(f"{group.title} {len(group.numbers)}" if group else f"  {fleet.rows[line].summary.name}")
    return shown


class DrivenFleet(Driven):
    """The application with its source."""

    @property
    def fleet(self) -> Fleet:
        return self.app.fleet

    @property
    def cursor(self) -> str:
        """What the cursor is on: the name of a repository, or the title of a group in brackets."""
        line = self.app.table.cursor
        assert line is not None
        group = self.fleet.group_at(line)
        return f"[{group.title}]" if group else self.fleet.rows[line].summary.name

    @property
    def marked(self) -> set[str]:
        return {self.fleet.rows[number].summary.name for number in self.fleet.marks.numbers}

    async def click(self, x: int, line: int, *, times: int = 1, shift: bool = False, control: bool = False) -> None:
        """Click on a line of the table, counted from the first below the head."""
        await self.pilot.click("#table", offset=(x, line + 1), times=times, shift=shift, control=control)
        await self.pilot.pause()

    async def happen(self, *summaries: RepositorySummary, gone: Iterable[bytes] = ()) -> None:
        """Let repositories change, come or go, and put the rows in order."""
        changes = self.source.happen()
        changes.summaries |= {summary.path: summary for summary in summaries}
        changes.forgotten += gone
        self.app.flush()
        self.app.live.arrange()
        await self.pilot.pause()

    @property
    def names(self) -> list[str]:
        """The repositories that pass the filter, in their order."""
        return [self.fleet.rows[number].summary.name for number in self.fleet.view]

    async def type(self, text: str) -> None:
        """Type a text, key by key."""
        await self.press(*(KEY_NAMES.get(character, character) for character in text))

    def go_to(self, name: str) -> None:
        self.app.fleet_screen.go_to(ROOT + b"/" + name.encode())


@asynccontextmanager
async def driven_fleet(
    rows: Iterable[RepositorySummary],
    size: tuple[int, int] = (120, 40),
    *,
    options: Options = Options(),  # noqa: B008 - it is frozen
    memory: Memory | None = None,
) -> AsyncIterator[DrivenFleet]:
    source = SourceDouble()
    app = Dashboard([ROOT], rows, source, lambda: NOW_S, options, memory)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: source.started, "the survey begins")
        yield DrivenFleet(app, source, pilot)
