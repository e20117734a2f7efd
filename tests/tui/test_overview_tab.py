"""The Overview of a repository: what the five sizes look like on one scale, and what is said beside them."""

import msgspec
import pytest

from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound, Question, Sizes
from gitdash.survey.summarize import summarize
from gitdash.tui.drawing.cells import Tone, line_length
from gitdash.tui.repository.overview import overview_page
from gitdash.tui.repository.size_bar import BarPart, SizeBar, bar_pieces
from gitdash.tui.repository.view import RepositoryView
from tests.tui.fixture_fleet import (
    MIB,
    NOW_S,
    ROOT,
    exclusive,
    fixed_reports,
    inspection,
    measured,
    no_family,
    pack_facts,
    report,
)

KEYS = {"measure": "s", "rescan": "r", "explain_sizes": "w"}
REPORTS = {entry.repository.path.removeprefix(ROOT + b"/"): entry for entry in fixed_reports()}
MEMBER = next(entry for name, entry in REPORTS.items() if name.startswith(b"@hashed"))


def view_of(entry: RepositoryReport, *, has_report: bool = True, **fields: object) -> RepositoryView:
    return RepositoryView(
        summary=summarize(entry),
        report=entry if has_report else None,
        now_s=NOW_S,
        family=no_family,
        repository_count=1,
        keys=KEYS,
        **fields,  # type: ignore[arg-type]
    )


def texts(view: RepositoryView, width: int = 80) -> list[str]:
    return ["".join(piece.text for piece in line).rstrip() for line in overview_page(view, width).lines]


def row(view: RepositoryView, label: str, width: int = 80) -> tuple[str, str]:
    """The line of a size, and the one below it."""
    lines = texts(view, width)
    number = next(number for number, line in enumerate(lines) if line.split()[:1] == [label])
    return lines[number], lines[number + 1]


def bar(size_bytes: int, **fields: object) -> str:
    drawn = SizeBar(parts=(BarPart(size_bytes, "█", Tone.PLAIN),), **fields)  # type: ignore[arg-type]
    return "".join(piece.text for piece in bar_pieces(drawn, 1_000, 102))


@pytest.mark.parametrize(("size_bytes", "cells"), [(1_000, 100), (500, 50), (10, 1), (0, 0)])
def test_bar_is_to_scale(size_bytes: int, cells: int) -> None:
    assert bar(size_bytes) == "█" * cells


def test_what_is_too_small_for_a_cell_is_a_stroke_and_not_nothing() -> None:
    assert bar(1) == "▏"
    assert bar(1, start_bytes=500) == " " * 50 + "▏"


@pytest.mark.parametrize(
    ("bound", "end"), [(Bound.EXACT, ""), (Bound.LOWER, ">"), (Bound.UPPER, "<"), (Bound.UNKNOWN, "~")]
)
def test_bar_of_a_bound_has_an_open_end(bound: Bound, end: str) -> None:
    assert bar(500, bound=bound) == "█" * 50 + end


def test_bar_never_exceeds_its_width() -> None:
    parts = (BarPart(1_000, "█", Tone.PLAIN), BarPart(1, "▒", Tone.PLAIN))
    pieces = bar_pieces(SizeBar(parts=parts, bound=Bound.LOWER), 1_000, 30)
    assert line_length(pieces) == 30


def test_sizes_nest_by_indentation() -> None:
    labels = ("disk", "objects", "exclusive", "duplicate", "reachable", "own")
    indents = [len(line) - len(line.lstrip()) for line in (row(view_of(MEMBER), label)[0] for label in labels)]
    assert indents == [1, 3, 5, 5, 1, 3]


def test_what_comes_with_lenders_has_another_glyph_than_what_is_own() -> None:
    facts = inspection(packs=pack_facts(2, 30 * MIB), alternates=(b"/pool/objects",))
    sizes = Sizes(
        exclusive=exclusive(20 * MIB, 10 * MIB, 5),
        reachable=measured(Question.REACHABLE, 100 * MIB),
        reachable_own=measured(Question.REACHABLE_OWN, 25 * MIB),
    )
    entry = msgspec.structs.replace(MEMBER, inspection=facts, sizes=sizes)
    reachable = row(view_of(entry), "reachable")[0]
    own = row(view_of(entry), "own")[0]
    assert reachable.count("█") == own.count("█")
    assert reachable.count("░") == pytest.approx(3 * reachable.count("█"), abs=2)
    duplicate = row(view_of(entry), "duplicate")[0]
    assert duplicate.index("▓") == row(view_of(entry), "exclusive")[0].rindex("█") + 1
    assert "░ with lenders' references" in "\n".join(texts(view_of(entry)))


def test_member_whose_own_part_is_not_known_is_not_drawn_as_own() -> None:
    sizes = Sizes(reachable=measured(Question.REACHABLE, 100 * MIB))
    entry = msgspec.structs.replace(MEMBER, sizes=sizes)
    line, _ = row(view_of(entry), "reachable")
    assert "█" not in line
    assert "━" in line
    assert "own or lent: not told apart" in "\n".join(texts(view_of(entry)))


def test_each_size_says_how_it_was_obtained() -> None:
    assert row(view_of(MEMBER), "disk")[1].strip().startswith("from files, exact, read 45s ago")
    assert "index difference, exact, took 110 ms, compared 45s ago" in row(view_of(MEMBER), "exclusive")[1]
    assert row(view_of(MEMBER), "reachable")[1].strip() == "bitmap, exact, took 3.6 s, measured 2h ago"
    line, note = row(view_of(MEMBER), "own")
    assert "<=56.1 MiB" in line
    assert line.endswith("<")
    assert note.strip() == "walk, an upper bound, took 3.6 s, measured 2h ago"


def test_size_that_is_not_measured_names_the_key_that_measures_it() -> None:
    view = view_of(REPORTS[b"team/web.git"])
    line, note = row(view, "reachable")
    assert line.split(maxsplit=1)[1].strip() == "not measured"
    assert note.strip() == "s has it measured now"
    without_keys = RepositoryView(
        summary=view.summary, report=view.report, now_s=NOW_S, family=no_family, repository_count=1
    )
    assert "has it measured" not in "\n".join(texts(without_keys))


def test_unreadable_absent_and_not_measured_are_three_things() -> None:
    line, reason = row(view_of(REPORTS[b"team/api.git"]), "exclusive")
    assert line.split() == ["exclusive", "?"]
    assert reason.strip() == "the lender is missing"
    worktree, why = row(view_of(REPORTS[b"clones/gitdash-review"]), "exclusive")
    assert worktree.split() == ["exclusive", "-"]
    assert why.strip() == "a linked worktree stores no objects of its own"
    empty = row(view_of(REPORTS[b"empty.git"]), "objects")[0]
    assert empty.split() == ["objects", "0", "B"]


def test_disk_that_could_not_be_read_whole_is_drawn_open() -> None:
    facts = inspection(packs=pack_facts(1, MIB))
    assert isinstance(facts.disk, DiskFacts)
    partly = msgspec.structs.replace(facts, disk=msgspec.structs.replace(facts.disk, incomplete=True))
    line, note = row(view_of(report(b"x.git", partly)), "disk")
    assert ">=1.05 MiB" in line
    assert line.endswith(">")
    assert "a lower bound" in note


def test_unreadable_repository_says_why_and_how_to_look_again() -> None:
    lines = texts(view_of(REPORTS[b"lost.git"]))
    assert lines[0].strip() == "This repository could not be read: permission denied."
    assert lines[1].strip() == "r looks at it again."


def test_before_the_report_the_figures_of_the_row_are_shown() -> None:
    view = view_of(MEMBER, has_report=False)
    assert "being read" in texts(view)[0]
    assert "1.25 GiB" in row(view, "reachable")[0]


def test_why_they_differ_is_offered_and_shown_on_demand() -> None:
    offered = "\n".join(texts(view_of(MEMBER), 200))
    assert "w why do they differ?" in offered
    assert "of `reachable` come with the lender's references" not in offered
    shown = "\n".join(texts(view_of(MEMBER, explains_sizes=True), 200))
    assert "1,287,561,361 bytes (1.20 GiB) of `reachable` come with the lender's references" in shown
    assert "why do they differ?" not in shown


def test_wide_screen_puts_notes_beside_bars_and_facts_in_two_columns() -> None:
    lines = texts(view_of(MEMBER), 200)
    assert any("reachable" in line and "bitmap, exact" in line for line in lines)
    assert any("alternates" in line and "│" in line for line in lines)
    assert len(lines) < len(texts(view_of(MEMBER), 80))


@pytest.mark.parametrize("width", [60, 79, 119, 199])
@pytest.mark.parametrize("name", REPORTS)
def test_no_line_is_wider_than_the_screen(name: bytes, width: int) -> None:
    view = view_of(REPORTS[name], explains_sizes=True)
    assert max(line_length(line) for line in overview_page(view, width).lines) <= width


def test_all_sizes_of_the_scale_come_from_this_repository() -> None:
    facts = REPORTS[b"damaged.git"].inspection
    assert isinstance(facts, Inspection)
    assert isinstance(facts.packs, Unreadable)
    line, reason = row(view_of(REPORTS[b"damaged.git"]), "objects")
    assert line.split() == ["objects", "?"]
    assert reason.strip() == "permission denied"


def test_facts_of_an_unreadable_repository_have_no_rule_beside_nothing() -> None:
    lines = texts(view_of(REPORTS[b"lost.git"]), 200)
    (fact,) = [line for line in lines if line.startswith(" unreadable")]
    assert fact.split() == ["unreadable", "permission", "denied"]
