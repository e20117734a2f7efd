"""The pages of the lab at every width, without colours, in ASCII, and with names that are meant to do harm."""

import dataclasses
import itertools
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from gitdash.model.experiment import ExperimentKind, Measure
from gitdash.model.job import Job, JobKind, JobState
from gitdash.tui.drawing.cells import Line, Tone
from gitdash.tui.drawing.filters import EncodableText
from gitdash.tui.drawing.items import Page
from gitdash.tui.experiments import ExperimentUnderWay, LabAnswer
from gitdash.tui.lab.box_plot import box_lines
from gitdash.tui.lab.choosing import Choosing
from gitdash.tui.lab.figures import figures_of
from gitdash.tui.lab.list_lines import LabView, lab_page, lab_title
from gitdash.tui.lab.page import ExperimentView, experiment_page
from gitdash.tui.lab.published import PUBLISHED
from gitdash.units import printable_path
from tests.tui.fixture_fleet import HOSTILE_NAMES, NOW_S
from tests.tui.fixture_lab import BITMAP, WALK, WEB, answer, hostile_answer, measured, offers, size_result, under_way

WIDTHS = (*range(60, 116), 137, 160, 200)
SIZE = ExperimentKind.SIZE
NAMES = ("bitmap", "walk")
RUNNING = Job(
    number=1,
    kind=JobKind.BENCH,
    path=WEB,
    what="size",
    state=JobState.RUNNING,
    asked_at_s=NOW_S - 20,
    started_at_s=NOW_S - 18,
)


def _experiment(
    told: LabAnswer,
    *,
    now: ExperimentUnderWay | None = None,
    explains: bool = False,
    unfolds: bool = False,
    has_boxes: bool = False,
) -> ExperimentView:
    results = [*told.earlier, *told.others]
    return ExperimentView(
        choosing=Choosing(told.offers[0]),
        under_way=now,
        job=RUNNING if now is not None else None,
        earlier=told.earlier,
        others=told.others,
        name_of=printable_path,
        shown_keys={"run_experiment": "R", "cancel_experiment": "x"},
        unfolded={("result", (result.number, result.started_at_s)) for result in results} if unfolds else (),
        explains=explains,
        has_boxes=has_boxes,
        now_s=NOW_S,
    )


def _lab(told: LabAnswer, *, explains: bool = False) -> LabView:
    return LabView(answer=told, under_way={SIZE: under_way()}, jobs={1: RUNNING}, explains=explains, now_s=NOW_S)


def test_what_can_be_said_of_several_questions_is_said_once() -> None:
    told = answer(earlier=[])
    lookup = told.offers[-1]
    (question,) = lookup.questions
    three = tuple(dataclasses.replace(question, text=text) for text in ("missing", "first", "warm"))
    offer = dataclasses.replace(lookup, questions=three)
    page = lab_page(_lab(dataclasses.replace(told, offers=(offer,))), 80)
    text = "\n".join("".join(piece.text for piece in line) for line in page.lines)
    assert "1 of 1 variant can run here, for each of 3 questions." in text
    none = dataclasses.replace(three[2], variants=(), problem="it has no remote")
    offer = dataclasses.replace(offer, questions=(*three[:2], none))
    page = lab_page(_lab(dataclasses.replace(told, offers=(offer,))), 120)
    text = " ".join("".join(piece.text for piece in line).strip() for line in page.lines)
    assert "by question: missing, first: 1 of 1; warm: it has no remote." in text


def _pages(width: int) -> Iterator[Page]:
    for told, explains in itertools.product((answer(), hostile_answer(), answer(earlier=[])), (False, True)):
        yield lab_page(_lab(told, explains=explains), width)
        for now in (None, under_way()):
            view = _experiment(told, now=now, explains=explains, unfolds=explains, has_boxes=not explains)
            yield experiment_page(view, width)


def _text(line: Line) -> str:
    return "".join(piece.text for piece in line)


def test_every_line_fits_at_every_width() -> None:
    for width in WIDTHS:
        for page in _pages(width):
            too_long = [_text(line) for line in page.lines if cell_len(_text(line).rstrip()) > width]
            assert not too_long, width


def test_items_have_names_of_their_own_and_begin_on_lines_of_the_page() -> None:
    for page in _pages(100):
        assert len(set(page.names)) == len(page.names) == len(page.items)
        assert sorted(set(page.items)) == list(page.items)
        assert page.items[-1] < len(page.lines)


@pytest.mark.safety
def test_names_of_other_repositories_are_shown_printable() -> None:
    page = experiment_page(_experiment(hostile_answer(), unfolds=True), 120)
    text = "\n".join(map(_text, page.lines))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "[@click=app.quit]x[/]" in text
    for name in (name for name in HOSTILE_NAMES if len(name) < 100):
        assert printable_path(name) in text


@pytest.mark.safety
def test_argument_and_note_of_a_variant_are_shown_printable() -> None:
    harmful = msgspec.structs.replace(
        measured(BITMAP, 1.0, 2.0), argv=("git", "\x1b]52;c;x\x07"), note="\x1b[2Jgone", name="bitmap"
    )
    result = msgspec.structs.replace(size_result(3), variants=(harmful,), verdict="\x9b31m", winner=None)
    page = experiment_page(_experiment(answer(earlier=[result]), explains=True, unfolds=True), 120)
    assert all(character.isprintable() for line in page.lines for character in _text(line))


def test_every_sign_has_a_stand_in_of_the_same_width_in_ascii() -> None:
    plain = EncodableText("ascii")
    for page in _pages(120):
        for line in map(_text, page.lines):
            ((shown, _, _),) = plain.apply([Segment(line)], Color(0, 0, 0)) or [("", None, None)]
            assert cell_len(shown) == cell_len(line)
            if not any(printable_path(name) in line for name in HOSTILE_NAMES if not name.isascii()):
                assert "?" not in shown


def test_strip_stands_where_its_runs_are() -> None:
    told = answer()
    page = experiment_page(_experiment(told), 160)
    rows = {name: _text(page.lines[item]) for item, name in zip(page.items, page.names, strict=True)}
    bitmap, walk = rows["variant", "bitmap"], rows["variant", "walk"]
    left, right = bitmap.index("│"), bitmap.rindex("│")
    cells = right - left - 2
    # the axis goes from 0 to 50 ms
    assert bitmap.index("┃") - left - 1 == round(0.0121 / 0.050 * cells)
    assert walk.index("┃") - left - 1 == round(0.0425 / 0.050 * cells)


@pytest.mark.parametrize("columns", [40, 400])
def test_boxes_stand_where_the_runs_are(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # what plotext takes for the terminal's size does not matter
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = [_text(line) for line in experiment_page(_experiment(answer(), has_boxes=True), 160).lines]
    bitmap, walk = (
        next(line for line in lines if line.strip().startswith(f"{name} ") and "┤" in line) for name in NAMES
    )
    left, right = next((line.index("┌"), line.rindex("┐")) for line in lines if "┌" in line)
    cells = right - left - 2
    # the axis goes from 0 to 50 ms, and medians are 12.1 and 42.5 ms
    for line, median_s in ((bitmap, 0.0121), (walk, 0.0425)):
        assert abs(line.index("│", left + 1) - left - 1 - median_s / 0.050 * cells) <= 1


@pytest.mark.safety
def test_boxes_pass_no_name_on_to_escape_sequences() -> None:
    harmful = measured(msgspec.structs.replace(BITMAP, name="\x1b]0;x\x07\x1b[31mred\n"), 1.0, 2.0)
    figures = figures_of([harmful], [harmful], measure=Measure.WALL, winner=None, width=100)
    text = "\n".join(map(_text, box_lines([harmful], figures)))
    assert "\\x1b]0;x" in text
    assert all(character.isprintable() or character == "\n" for character in text)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param([(0.1 * number, 0.12 * number, 0.11 * number) for number in range(1, count + 1)], id=str(count))
        for count in (2, 5, 8, 11)
    ]
    + [
        pytest.param([(0.2,), (0.3,)], id="one run each"),
        pytest.param([(0.2,) * 5, (0.2,) * 5], id="all equal"),
        pytest.param([(0.0,) * 5, (0.0,) * 5], id="all zero"),
        pytest.param([(2e-4, 3e-4), (4e-3, 5e-3), (2.1, 2.2)], id="a curve"),
    ],
)
def test_each_variant_has_a_box_beside_its_name_and_no_line_is_too_wide(
    seconds: list[tuple[float, ...]], width: int
) -> None:
    ran = [measured(msgspec.structs.replace(BITMAP, name=f"v{number}"), *one) for number, one in enumerate(seconds)]
    figures = figures_of(ran, ran, measure=Measure.WALL, winner=None, width=width)
    lines = [_text(line) for line in box_lines(ran, figures)]
    assert all(cell_len(line) <= width for line in lines)
    rows = [line for line in lines if line.strip().startswith("v")]
    assert [row.split()[0] for row in rows] == [f"v{number}" for number in range(len(seconds))]
    for row in rows:
        inside = row.partition("┤")[2].rstrip()[:-1]
        assert set(inside) & set("│█"), row
    # the slower, the further to the right
    places = [row.index("│") for row in rows]
    assert places == sorted(places)


def test_boxes_of_an_experiment_of_which_all_variants_were_skipped_say_that_nothing_has_run() -> None:
    skipped = [msgspec.structs.replace(BITMAP, name=name, skipped="needs git 99.1") for name in NAMES]
    figures = figures_of(skipped, skipped, measure=Measure.WALL, winner=None, width=80)
    assert "\n".join(map(_text, box_lines(skipped, figures))).strip() == "No runs to draw yet."


def test_boxes_say_why_there_are_none() -> None:
    page = experiment_page(_experiment(answer(earlier=[]), has_boxes=True), 100)
    assert "No runs to draw yet." in "\n".join(map(_text, page.lines))


def test_lab_opens_without_the_library_that_draws_boxes() -> None:
    code = "import sys, gitdash.tui.lab.experiment_screen; sys.exit('textual_plotext' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_earlier_result_says_whether_the_repository_was_the_same() -> None:
    changed = msgspec.structs.replace(size_result(8, age_s=1_000.0), fingerprint=b"other")
    newest = msgspec.structs.replace(size_result(12), elapsed_s=1.5)
    told = answer(earlier=[newest, size_result(9, age_s=900.0), changed])
    page = experiment_page(_experiment(told, now=None), 120)
    heads = [
        _text(page.lines[item]) for item, (what, _) in zip(page.items, page.names, strict=True) if what == "result"
    ]
    states = [head.rpartition("warm cache")[2].strip() for head in heads]
    assert states[:3] == ["", "same repository", "repository has changed"]


def test_narrow_page_has_the_strip_on_a_line_of_its_own() -> None:
    page = experiment_page(_experiment(answer()), 80)
    begin = page.items[page.names.index(("variant", "bitmap"))]
    assert "│" not in _text(page.lines[begin])
    assert _text(page.lines[begin + 1]).strip().startswith("│")
    assert _text(page.lines[begin + 1]).endswith("best")


def test_best_variant_has_a_word_beside_its_colour_at_every_width() -> None:
    for width in WIDTHS:
        page = experiment_page(_experiment(answer()), width)
        begin = page.items[page.names.index(("variant", "bitmap"))]
        pieces = [piece for line in page.lines[begin : begin + 2] for piece in line]
        assert any(piece.tone is Tone.OK and "best" in piece.text for piece in pieces), width


def test_title_names_the_repository_and_the_experiment() -> None:
    assert _text(lab_title("team/web.git", SIZE, 80)) == " Lab  team/web.git  size"
    assert cell_len(_text(lab_title("x" * 300, SIZE, 60))) <= 60


def test_each_experiment_has_a_published_figure() -> None:
    assert {*PUBLISHED} == {*ExperimentKind}


def test_choice_names_variants_only_where_one_is_left_out() -> None:
    choosing = Choosing(offers()[0])
    assert choosing.choice().variants == ()
    choosing.toggle("walk")
    assert choosing.choice().variants == ("bitmap",)
    choosing.turn("question", 1)
    assert choosing.choice().variants == ()
    choosing.turn("question", -1)
    choosing.toggle_all()
    assert choosing.choice().variants == ()


def test_option_comes_back_to_its_first_value() -> None:
    choosing = Choosing(offers()[2])
    first = choosing.choice()
    for option in choosing.options():
        seen = []
        for _ in range(10):
            seen.append(next(one.value for one in choosing.options() if one.name == option.name))
            choosing.turn(option.name, 1)
            if choosing.choice() == first:
                break
        assert len(set(seen)) == len(seen) > 1
        assert choosing.choice() == first


def test_variant_that_failed_or_could_not_be_prepared_says_so_in_its_row() -> None:
    failed = msgspec.structs.replace(BITMAP, note="git rev-list: exit 128")
    refused = msgspec.structs.replace(WALK, skipped="a copy would need 2.00 GiB")
    result = msgspec.structs.replace(size_result(3), variants=(failed, refused), winner=None)
    text = "\n".join(map(_text, experiment_page(_experiment(answer(earlier=[result])), 120).lines))
    assert "bitmap          failed: git rev-list: exit 128" in text
    assert "walk            not here: a copy would need 2.00 GiB" in text
