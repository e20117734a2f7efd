"""Terminals that show less: no colours at all under NO_COLOR, and ASCII where the encoding lacks our signs."""

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from gitdash.tui.dashboard import Dashboard
from gitdash.tui.drawing.filters import EncodableText, WithoutColours, filters_for
from gitdash.tui.options import Options
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries, many_summaries
from tests.tui.source_double import SourceDouble

BLACK = Color(0, 0, 0)


def test_terminal_that_shows_everything_needs_no_filter() -> None:
    assert filters_for(has_colours=True, encoding="utf-8") == []


def test_colours_go_and_bold_underline_and_reverse_stay() -> None:
    style = Style(color="red", bgcolor="#101010", bold=True, underline=True, reverse=True, dim=True)
    [segment] = WithoutColours().apply([Segment("x", style)], BLACK)
    assert segment.style == Style(bold=True, underline=True, reverse=True)
    assert WithoutColours().apply([Segment("x")], BLACK) == [Segment("x")]


@pytest.mark.parametrize(
    ("encoding", "text", "shown"),
    [
        ("ascii", "▌a·b…c▼▲│─╭╮", ">a-b~cv^|-++"),
        ("ascii", "caf\xe9 日本", "caf? ????"),
        ("latin-1", "caf\xe9·…", "caf\xe9·~"),
        ("ascii", "🔎", "> "),
        ("utf-8", "▌日本", "▌日本"),
    ],
)
def test_what_the_encoding_lacks_is_replaced_by_ascii_of_the_same_width(encoding: str, text: str, shown: str) -> None:
    [segment] = EncodableText(encoding).apply([Segment(text)], BLACK)
    assert segment.text == shown
    assert segment.cell_length == Segment(text).cell_length


def test_signs_asked_for_in_ascii_leave_names_as_the_encoding_has_them() -> None:
    (utf_8,) = filters_for(has_colours=True, encoding="utf-8", ascii_signs=True)
    assert utf_8.apply([Segment("▌日本·é…")], BLACK)[0].text == ">日本-é~"
    (latin_1,) = filters_for(has_colours=True, encoding="latin-1", ascii_signs=True)
    assert latin_1.apply([Segment("▌日本·é…")], BLACK)[0].text == ">????-é~"


@pytest.mark.parametrize("keys", [(), ("question_mark",), ("slash", "t"), ("ctrl+p",), ("y",), ("e",)])
async def test_no_color_sends_no_colour_on_any_screen(monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Dashboard([ROOT], many_summaries(200), SourceDouble(), lambda: NOW_S)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        styles = [segment.style for strip in app.screen._compositor.render_strips() for segment in strip]
    assert all(style is None or (style.color is None and style.bgcolor is None) for style in styles)


async def test_no_color_tells_cursor_head_and_scrollbar_by_reverse_and_underline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Dashboard([ROOT], many_summaries(200), SourceDouble(), lambda: NOW_S)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        head, cursor, other = app.screen._compositor.render_strips()[1:4]
    assert all(segment.style.underline for segment in list(head)[:-1] if segment.style)
    assert all(segment.style.reverse for segment in cursor if segment.style)
    assert not any(segment.style.reverse for segment in list(other)[:-1] if segment.style)
    assert list(other)[-1].style.reverse


@pytest.mark.parametrize(
    ("keys", "sign"),
    [((), "> lost.git"), (("question_mark",), "+- Help"), (("ctrl+p",), "> lost.git"), (("enter",), "bare - plain")],
)
async def test_every_screen_can_be_written_in_ascii(keys: tuple[str, ...], sign: str) -> None:
    app = Dashboard([ROOT], fixed_summaries(), SourceDouble(fixed_reports()), lambda: NOW_S, Options(encoding="ascii"))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        text = "\n".join(strip.text for strip in strips)
        assert [strip.cell_length for strip in strips] == [120] * 40
    assert text.isascii()
    assert sign in text
