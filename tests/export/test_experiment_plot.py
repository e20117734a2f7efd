"""Strips of text and pictures of experiments: where a run stands, how wide a line is, what is drawn."""

import itertools
import re
from xml.etree import ElementTree

import msgspec
import pytest

from gitdash.export.experiment_picture import Box, Point, Text, picture_of, svg_text
from gitdash.export.experiment_plot import ASCII, UNICODE, axis, plot_lines, strip, tick_text
from gitdash.export.experiment_scale import scale_for, scale_of
from gitdash.export.text_width import cell_width
from gitdash.model.experiment import Measure, Summary
from tests.support.experiment_results import result, run, variant, variants

ONE_S = Summary(count=1, median_s=1.0, minimum_s=1.0, low_s=1.0, high_s=1.0)


@pytest.mark.parametrize(
    ("values_s", "ticks"),
    [
        ([0.1, 0.5], ["0", "100 ms", "200 ms", "300 ms", "400 ms", "500 ms"]),
        ([0.9], ["0", "200 ms", "400 ms", "600 ms", "800 ms", "1 s"]),
        ([3.0, 7.0], ["0", "2 s", "4 s", "6 s", "8 s"]),
        ([0.001, 0.3], ["1 ms", "10 ms", "100 ms", "1 s"]),
    ],
)
def test_axis_has_round_ends(values_s: list[float], ticks: list[str]) -> None:
    scale = scale_for(values_s)
    assert scale is not None
    assert [tick_text(round(tick_s, 9)) for tick_s in scale.ticks_s] == ticks
    assert scale.low_s <= min(values_s)
    assert scale.high_s >= max(values_s)


def test_slow_runs_stand_right_of_fast_ones_on_either_axis() -> None:
    for values_s in ([0.1, 0.2, 1.0], [0.001, 0.1, 5.0]):
        scale = scale_for(values_s)
        assert scale is not None
        places = [scale.place(value_s) for value_s in values_s]
        assert 0.0 <= places[0] < places[1] < places[2] <= 1.0
    assert scale_for([1.0, 20.0]).is_logarithmic is False
    assert scale_for([1.0, 20.1]).is_logarithmic is True


def test_halves_of_an_axis_are_halves_of_the_strip() -> None:
    scale = scale_for([1.0])
    middle = variant("x", (0.5,), None)
    assert strip(middle, Measure.WALL, scale, width=11, glyphs=ASCII) == "     o     "
    interval = Summary(count=3, median_s=0.5, minimum_s=0.2, low_s=0.2, high_s=0.8)
    drawn = strip(variant("x", (0.2, 0.5, 0.6), interval), Measure.WALL, scale, width=11, glyphs=ASCII)
    assert drawn == "  [--|o-]  "


def test_warm_ups_are_not_drawn() -> None:
    scale = scale_for([1.0])
    warm_up = variant("x", (), None, runs=(run("x", 0, 0.9), run("x", 1, 0.1)))
    assert strip(warm_up, Measure.WALL, scale, width=11, glyphs=ASCII) == " o         "


def test_what_is_compared_is_what_is_drawn() -> None:
    # the runs took half of their time in the program, and a quarter in the system
    three_quarters = Summary(count=1, median_s=0.75, minimum_s=0.75, low_s=0.75, high_s=0.75)
    scale = scale_of(result(variants=(variant("x", (1.0,), three_quarters),), measure=Measure.CPU))
    assert scale is not None
    assert scale.high_s == pytest.approx(0.8)
    unknown = variant("x", (), None, runs=(run("x", 1, 1.0, user_s=None),))
    assert strip(unknown, Measure.CPU, scale, width=5, glyphs=ASCII) == "     "


def test_variant_whose_time_is_not_compared_is_not_drawn() -> None:
    counted = variant("strace", (100.0,), None)
    one = result(variants=(*variants(), counted))
    assert scale_of(one) == scale_of(result())
    assert plot_lines(one, width=80) == plot_lines(result(), width=80)
    assert picture_of(one) == picture_of(result())


@pytest.mark.parametrize("width", [1, 5, 20, 33, 60, 100, 200])
@pytest.mark.parametrize("glyphs", [ASCII, UNICODE], ids=["ascii", "unicode"])
def test_no_line_is_wider_than_it_may_be(width: int, glyphs) -> None:
    long_name = variant("a-variant-with-a-very-long-name-indeed-it-is", (0.0001, 40.0), ONE_S)
    for one in (result(), result(variants=(*variants(), long_name))):
        lines = plot_lines(one, width=width, glyphs=glyphs)
        assert all(cell_width(line) <= width for line in lines)
        assert lines or width < 20
        assert glyphs is UNICODE or "".join(lines).isascii()


def test_nothing_is_drawn_of_nothing() -> None:
    skipped = (variant("x", (), None, skipped="needs git 2.46"),)
    assert plot_lines(result(variants=skipped), width=80) == []
    assert picture_of(result(variants=skipped)) is None


def test_plot_names_what_was_run_with_its_median() -> None:
    first, second, last = plot_lines(result(), width=80)
    assert first.startswith("bitmap |")
    assert first.endswith("110 ms")
    assert second.startswith("walk ")
    assert "300 ms" in last


def test_numbers_at_the_axis_do_not_touch() -> None:
    scale = scale_for([0.5])
    for width in range(6, 80):
        assert re.fullmatch(r" *(0|\d00 ms)( +\d00 ms)*", axis(scale, width=width))


def test_picture_has_each_run_and_each_name_inside_it() -> None:
    picture = picture_of(result())
    assert picture is not None
    points = [shape for shape in picture.shapes if isinstance(shape, Point)]
    assert len(points) == 10
    texts = {shape.text for shape in picture.shapes if isinstance(shape, Text)}
    assert {"bitmap", "walk", "110 ms", "420 ms"} <= texts
    for shape in picture.shapes:
        match shape:
            case Box(left=left, top=top, width=width, height=height):
                assert 0 <= left <= left + width <= picture.width
                assert 0 <= top <= top + height <= picture.height
            case Point(x=x, y=y) | Text(x=x, y=y):
                assert 0 <= x <= picture.width
                assert 0 <= y <= picture.height


def test_runs_of_a_row_stay_in_it() -> None:
    points = [shape for shape in picture_of(result()).shapes if isinstance(shape, Point)]
    rows = [{point.y for point in points if point.colour == colour} for colour in {point.colour for point in points}]
    for one, other in itertools.permutations(rows, 2):
        assert max(one) < min(other) or min(one) > max(other)


@pytest.mark.safety
def test_svg_is_a_document_in_which_no_name_is_markup() -> None:
    hostile = result(path=b"/srv/<script>alert(1)</script>&\x1b[2J.git", verdict='"><image href="http://x/"/>')
    document = svg_text(picture_of(hostile))
    root = ElementTree.fromstring(document)
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds == {"svg", "rect", "circle", "text"}
    assert "\x1b" not in document
    assert "http" not in document.replace("http://www.w3.org/2000/svg", "").replace("http://x/", "")
    assert any("<script>" in (element.text or "") for element in root.iter())


@pytest.mark.safety
@pytest.mark.parametrize(
    "harmful",
    [
        "\x00",
        "\x1b]0;x\x07",
        "\ufffe",
        "\uffff",
        "\ud800",
        "\u202e",
        "\u2028",
        "</text><script>",
        "&x;",
        "]]>",
        "漢字" * 60,
    ],
    ids=ascii,
)
def test_svg_is_well_formed_whatever_a_text_holds(harmful: str) -> None:
    path = b"/srv/" + harmful.encode("utf-8", "surrogatepass") + b".git"
    (fast, *others) = variants()
    fast = msgspec.structs.replace(fast, name=harmful, title=harmful)
    texts = dict.fromkeys(("question", "verdict", "host", "filesystem_type", "git_version"), harmful)
    document = svg_text(picture_of(result(path=path, variants=(fast, *others), winner=harmful, **texts)))
    # as it is written to a file
    root = ElementTree.fromstring(document.encode("utf-8"))
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {"svg", "rect", "circle", "text"}
    assert all(character.isprintable() or character == "\n" for character in document)
