"""Which columns fit, and lines that are exactly as wide as the terminal."""

import pytest
from rich.cells import cell_len

from gitdash.export.columns import FLEET_COLUMNS
from gitdash.tui.drawing.cells import (
    NAME_WIDTH_LEAST,
    Piece,
    Tone,
    choose_layout,
    cut_line,
    fit,
    head_pieces,
    line_length,
    row_pieces,
    shorten_middle,
    spread,
)
from tests.tui.fixture_fleet import NOW_S, fixed_summaries


def _text(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _keys(width: int) -> list[str]:
    return [placed.column.key for placed in choose_layout(FLEET_COLUMNS, width).columns]


def test_all_columns_are_shown_where_there_is_room() -> None:
    assert _keys(160) == [column.key for column in FLEET_COLUMNS]


def test_80_columns_show_name_state_sizes_and_packs() -> None:
    assert _keys(79) == ["name", "state", "disk", "exclusive", "reachable", "packs"]


def test_columns_go_by_priority_and_none_comes_back_in_a_narrower_terminal() -> None:
    for width in range(40, 200):
        assert set(_keys(width)) <= set(_keys(width + 1))


def test_columns_keep_their_order_whatever_fits() -> None:
    order = [column.key for column in FLEET_COLUMNS]
    for width in range(40, 200):
        keys = _keys(width)
        assert keys == sorted(keys, key=order.index)


@pytest.mark.parametrize("width", [60, 79, 80, 100, 119, 133, 200])
def test_head_and_every_row_are_exactly_as_wide_as_the_table(width: int) -> None:
    layout = choose_layout(FLEET_COLUMNS, width)
    assert cell_len(_text(head_pieces(layout, "disk", descending=True))) == width
    for summary in fixed_summaries():
        line = row_pieces(layout, summary, NOW_S, is_cursor=False, is_busy=False)
        assert cell_len(_text(line)) == width, summary.name


def test_name_takes_what_the_others_leave() -> None:
    widths = {placed.column.key: placed.width for placed in choose_layout(FLEET_COLUMNS, 200).columns}
    assert widths["name"] > NAME_WIDTH_LEAST


@pytest.mark.parametrize(("key", "shown"), [("disk", " ▼ disk"), ("state", " state ▼"), ("exclusive", " ▼ exclusive")])
def test_sorted_column_carries_an_arrow(key: str, shown: str) -> None:
    layout = choose_layout(FLEET_COLUMNS, 120)
    assert shown in _text(head_pieces(layout, key, descending=True))
    assert shown.replace("▼", "▲") in _text(head_pieces(layout, key, descending=False))


@pytest.mark.parametrize(("width", "least"), [(80, 20), (100, 25), (120, 30), (160, 40)])
def test_names_have_a_quarter_of_the_line_before_the_last_columns_are_shown(width: int, least: int) -> None:
    assert all(
        next(placed.width for placed in choose_layout(FLEET_COLUMNS, one).columns if placed.column.key == "name")
        >= least
        for one in range(width, 220)
    )


def test_arrow_stands_apart_from_its_title_in_every_column() -> None:
    layout = choose_layout(FLEET_COLUMNS, 160)
    for placed in layout.columns:
        head = _text(head_pieces(layout, placed.column.key, descending=True)).replace("▼", "v")
        assert "v" in head.split()


def test_arrow_moves_no_other_title() -> None:
    layout = choose_layout(FLEET_COLUMNS, 120)
    plain = _text(head_pieces(layout, "none", descending=False))
    for column in FLEET_COLUMNS:
        sorted_head = _text(head_pieces(layout, column.key, descending=True))
        assert sorted_head.replace("▼", " ") == plain, column.key


def test_column_at_finds_the_column_below_the_pointer() -> None:
    layout = choose_layout(FLEET_COLUMNS, 120)
    for placed in layout.columns:
        assert layout.column_at(placed.left) is placed.column
        assert layout.column_at(placed.left + placed.width - 1) is placed.column
    assert layout.column_at(130) is None


def test_state_says_its_word_and_not_only_a_colour() -> None:
    layout = choose_layout(FLEET_COLUMNS, 120)
    for summary in fixed_summaries():
        line = row_pieces(layout, summary, NOW_S, is_cursor=False, is_busy=False)
        assert summary.state.value in _text(line)


def test_cursor_and_work_are_marked_by_a_sign() -> None:
    layout = choose_layout(FLEET_COLUMNS, 120)
    summary = fixed_summaries()[0]
    assert _text(row_pieces(layout, summary, NOW_S, is_cursor=True, is_busy=False)).startswith("▌")
    assert _text(row_pieces(layout, summary, NOW_S, is_cursor=False, is_busy=True)).startswith("·")
    assert _text(row_pieces(layout, summary, NOW_S, is_cursor=False, is_busy=False)).startswith(" ")


def test_absent_unreadable_unmeasured_and_bounded_are_four_different_things() -> None:
    layout = choose_layout(FLEET_COLUMNS, 140)
    rows = {row.name: row for row in fixed_summaries()}

    def cells(name: str) -> dict[str, str]:
        text = _text(row_pieces(layout, rows[name], NOW_S, is_cursor=False, is_busy=False))
        return {placed.column.key: text[placed.left : placed.left + placed.width].strip() for placed in layout.columns}

    assert cells("team/web.git")["bitmap"] == "-"
    assert cells("team/web.git")["exclusive"] == ""
    assert cells("team/api.git")["exclusive"] == "?"
    member = next(name for name in rows if name.startswith("@hashed"))
    assert cells(member)["own"] == "<=56.1 MiB"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 5, "abc  "),
        ("abcdef", 5, "abcd…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日 …"),
        ("", 3, "   "),
        ("abc", 0, ""),
    ],
)
def test_fit_cuts_and_pads_by_terminal_cells(text: str, width: int, shown: str) -> None:
    assert fit(text, width) == shown


def test_fit_aligns_right() -> None:
    assert fit("12", 5, right=True) == "   12"
    assert fit("日", 5, right=True) == "   日"


def test_long_name_keeps_both_its_ends() -> None:
    shortened = shorten_middle("@hashed/6b/86/6b86b273ff34.git", 20)
    assert len(shortened) == 20
    assert shortened.startswith("@hashed/")
    assert shortened.endswith("f34.git")
    assert "…" in shortened


def test_shortened_name_of_wide_characters_fits() -> None:
    for width in range(12):
        assert cell_len(shorten_middle("日本語のリポジトリ", width)) <= width


def test_line_is_cut_and_padded_to_its_width() -> None:
    line = [Piece("日本", Tone.PLAIN), Piece("abc", Tone.DIM)]
    for width in range(10):
        assert line_length(cut_line(line, width)) == width


def test_spread_puts_two_texts_at_the_ends_and_drops_the_right_one_where_room_is_short() -> None:
    left, right = [Piece("left", Tone.PLAIN)], [Piece("right", Tone.PLAIN)]
    assert _text(spread(left, right, 12)) == "left   right"
    assert _text(spread(left, right, 8)) == "left    "
