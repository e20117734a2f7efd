"""Pages of the repository screen as text, composed of values."""

from typing import Any

import msgspec

from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.survey.summarize import summarize
from gitdash.tui.drawing.cells import line_length
from gitdash.tui.drawing.items import Page
from gitdash.tui.repository.view import RepositoryView
from tests.tui.fixture_fleet import MIB, NOW_S, inspection, no_family, pack_facts, report

HOSTILE_TEXTS = ("\\x1b[31m[red]x[/]", "[@click=app.quit]x[/]", "日本語" * 60, "x" * 500, "a  b", "")
"""Printable, as all that a page is composed of: markup, wide characters, no place to break, nothing."""


def entry(**changed: Any) -> RepositoryReport:
    """A report of one repository, with some facts of its inspection changed."""
    facts = inspection(packs=pack_facts(2, 5 * MIB))
    return report(b"a.git", msgspec.structs.replace(facts, **changed))


def inspected(made: RepositoryReport) -> Inspection:
    assert isinstance(made.inspection, Inspection)
    return made.inspection


def view_of(made: RepositoryReport | None, **known: Any) -> RepositoryView:
    """What a page is composed of."""
    return RepositoryView(
        summary=summarize(made or entry()),
        report=made,
        now_s=NOW_S,
        family=no_family,
        repository_count=1,
        keys={"rescan": "r", "ask_object": "/", "copy_shown": "y"},
        **known,
    )


def texts_of(page: Page) -> list[str]:
    """The lines without their tones and margins."""
    return ["".join(piece.text for piece in line).strip() for line in page.lines]


def longest_line(page: Page) -> int:
    """Cells of the longest line."""
    return max(map(line_length, page.lines), default=0)
