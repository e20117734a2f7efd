"""The Packs of a repository: a line for each, and what a geometric repack would do."""

import msgspec
import pytest

from gitdash.model.inspection import Inspection, MultiPackIndexFacts, PackFile
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.survey.summarize import summarize
from gitdash.tui.drawing.cells import Line, Piece, Tone, line_length
from gitdash.tui.drawing.lazy_lines import LazyLines
from gitdash.tui.repository.pack_order import PackOrder
from gitdash.tui.repository.packs import packs_page
from gitdash.tui.repository.view import RepositoryView
from tests.tui.fixture_fleet import NOW_S, no_family
from tests.tui.many_packs import pack, report_of, thousand_packs

SMALL = [pack(1, 10), pack(2, 15), pack(3, 40), pack(4, 500)]


def view_of(entry: RepositoryReport, order: PackOrder | None = None) -> RepositoryView:
    return RepositoryView(
        summary=summarize(entry),
        report=entry,
        now_s=NOW_S,
        family=no_family,
        repository_count=1,
        pack_order=order or PackOrder(),
    )


def text_of(line: Line) -> str:
    return "".join(piece.text for piece in line).rstrip()


def texts(view: RepositoryView, width: int = 120) -> list[str]:
    return [text_of(line) for line in packs_page(view, width).lines]


def rows(packs: list[PackFile], order: PackOrder | None = None, width: int = 120) -> list[list[str]]:
    """The words of the line of each pack, in the order of the items."""
    page = packs_page(view_of(report_of(packs), order), width)
    return [text_of(page.lines[number]).split() for number in page.items]


def with_index(entry: RepositoryReport, index: MultiPackIndexFacts | Unreadable | None) -> RepositoryReport:
    assert isinstance(entry.inspection, Inspection)
    inspection = msgspec.structs.replace(entry.inspection, multi_pack_index=index)
    return msgspec.structs.replace(entry, inspection=inspection)


def test_each_pack_has_a_line_with_its_facts() -> None:
    traits = {"in_multi_pack_index": True, "has_bitmap": True, "has_reverse_index": True}
    [words] = rows([pack(1, 10_000, **traits)])
    assert words[0].startswith("pack-")
    assert words[1:] == ["10.0k", "1.14", "MiB", "120", "B", "plain", "yes", "yes", "yes", "274", "KiB", "2h"]


@pytest.mark.parametrize(
    ("traits", "kind"),
    [
        ({}, "plain"),
        ({"kept": True}, "kept"),
        ({"cruft": True}, "cruft"),
        ({"promisor": True}, "promisor"),
        ({"kept": True, "cruft": True}, "kept+cruft"),
    ],
)
def test_kind_of_a_pack(traits: dict[str, bool], kind: str) -> None:
    assert kind in rows([pack(1, **traits)])[0]


def test_pack_without_index_has_no_count_and_an_unreadable_index_an_unknown_one() -> None:
    without = rows([pack(1, None, has_index=False)])[0]
    assert without[1] == "-"
    assert "no index" in " ".join(without)
    unreadable = rows([pack(1, None)])[0]
    assert unreadable[1] == "?"
    empty = rows([pack(1, 0)])[0]
    assert empty[1] == "0"


def test_damaged_pack_is_called_so() -> None:
    entry = report_of([pack(1), pack(2)])
    assert isinstance(entry.inspection, Inspection)
    facts = msgspec.structs.replace(entry.inspection.packs, unreadable_names=(f"{pack(2).name}.idx",))
    entry = msgspec.structs.replace(entry, inspection=msgspec.structs.replace(entry.inspection, packs=facts))
    page = packs_page(view_of(entry), 120)
    assert ["damaged" in text_of(page.lines[number]) for number in page.items] == [True, False]


@pytest.mark.parametrize(("index", "word"), [(None, "-"), (Unreadable("bad signature"), "?")])
def test_without_multi_pack_index_no_pack_is_said_to_be_outside_it(index: Unreadable | None, word: str) -> None:
    page = packs_page(view_of(with_index(report_of([pack(1)]), index)), 120)
    assert text_of(page.lines[page.items[0]]).split()[7] == word


@pytest.mark.parametrize(
    ("order", "numbers"),
    [
        (PackOrder(), [3, 1, 2, 4]),
        (PackOrder().reversed(), [4, 2, 1, 3]),
        (PackOrder("objects", True), [3, 1, 2, 4]),
        (PackOrder("objects", False), [2, 1, 3, 4]),
        (PackOrder("age", True), [4, 3, 2, 1]),
        (PackOrder("age", False), [1, 2, 3, 4]),
    ],
)
def test_packs_are_in_the_chosen_order_and_the_unknown_stand_last(order: PackOrder, numbers: list[int]) -> None:
    packs = [pack(1, 50), pack(2, 20), pack(3, 70), pack(4, None)]
    assert order.sorted(packs) == [packs[number - 1] for number in numbers]


def test_orders_go_from_column_to_column_and_round() -> None:
    keys = [PackOrder()]
    for _ in range(5):
        keys.append(keys[-1].neighbour(1))
    assert [order.key for order in keys] == ["size", "density", "age", "name", "objects", "size"]
    assert [order.descending for order in keys] == [True, True, True, False, True, True]
    assert PackOrder().neighbour(-1).key == "objects"


def test_equal_packs_stand_by_name() -> None:
    packs = [msgspec.structs.replace(pack(1, 5), name=name) for name in "cab"]
    assert [entry.name for entry in PackOrder("objects", True).sorted(packs)] == ["a", "b", "c"]
    assert [entry.name for entry in PackOrder("name", True).sorted(packs)] == ["c", "b", "a"]


def test_what_a_geometric_repack_would_do_is_said_in_numbers() -> None:
    text = " ".join(texts(view_of(report_of(SMALL, loose_count=412))))
    assert "would join 3 of 4 packs to one of at most 65 objects, rewrite about 7.62 KiB, and leave 1 as it is." in text
    assert "412 loose objects of 166 KiB would go into a pack, too." in text
    assert "Outside the progression" not in text


def test_progression_that_holds_is_said_to_hold() -> None:
    text = " ".join(texts(view_of(report_of([pack(1, 10), pack(2, 20), pack(3, 40)]))))
    assert "The 3 packs form a geometric progression" in text
    assert "would join none" in text
    assert "joined" not in text


def test_one_pack_is_no_progression_and_has_no_picture() -> None:
    text = " ".join(texts(view_of(report_of([pack(1)]))))
    assert "There is one pack in a geometric progression: a geometric repack would join none." in text
    assert "┃" not in text


def test_bars_reach_their_marks_where_packs_stay_and_only_there() -> None:
    lines = [line for line in texts(view_of(report_of(SMALL))) if line.split()[2:3] in (["stays"], ["joined"])]
    assert [line.split()[1:3] for line in lines] == [
        ["500", "stays"],
        ["40", "joined"],
        ["15", "joined"],
        ["10", "joined"],
    ]
    stays, beyond, short, first = lines
    assert stays.index("┃") < stays.rindex("█")
    assert beyond.index("┃") < beyond.rindex("▒")
    assert short.index("┃") > short.rindex("▒")
    assert "┃" not in first
    assert "a pack beyond its mark is joined, too" in " ".join(texts(view_of(report_of(SMALL))))


def test_bars_are_logarithmic() -> None:
    lines = [line for line in texts(view_of(report_of([pack(1, 15), pack(2, 255)]))) if "stays" in line]
    large, small = (line.count("█") + line.count("┃") for line in lines)
    assert large == pytest.approx(2 * small, abs=1)


def test_packs_that_take_no_part_are_counted_apart() -> None:
    packs = [*SMALL, pack(5, 9, kept=True), pack(6, 9, cruft=True), pack(7, 9, promisor=True), pack(8, None)]
    text = " ".join(texts(view_of(report_of(packs)), 200))
    assert "Outside the progression: 1 kept, 1 cruft, 1 promisor, 1 without a readable index." in text
    assert "lose the mark that a promisor sent them" in text
    assert "over all packs, without those of 1 that cannot be counted" in text


def test_many_packs_are_summed_up_in_the_picture() -> None:
    lines = texts(view_of(report_of(thousand_packs())))
    assert any(line.startswith(" … and 991 more joined") for line in lines)
    assert sum(" joined " in line for line in lines) == 3


def test_unreadable_folder_says_why() -> None:
    entry = report_of([])
    assert isinstance(entry.inspection, Inspection)
    facts = msgspec.structs.replace(entry.inspection, packs=Unreadable("permission denied"))
    assert texts(view_of(msgspec.structs.replace(entry, inspection=facts))) == [" unreadable: permission denied"]
    lost = msgspec.structs.replace(entry, inspection=Unreadable("not a directory"))
    assert texts(view_of(lost))[0].strip() == "This repository could not be read: not a directory."


def test_repository_without_packs_has_no_table() -> None:
    page = packs_page(view_of(report_of([])), 120)
    assert not page.items
    assert texts(view_of(report_of([])))[0].split() == ["packs", "0"]


@pytest.mark.parametrize("width", [60, 79, 119, 199])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    lines = packs_page(view_of(report_of(thousand_packs(), loose_count=3)), width).lines
    assert max(map(line_length, lines)) <= width


def test_lines_are_composed_only_when_looked_at() -> None:
    composed: list[int] = []

    def compose(number: int) -> Line:
        composed.append(number)
        return [Piece(str(number), Tone.PLAIN)]

    lines = LazyLines([[]], range(1_000), compose, "state")
    assert len(lines) == 1_001
    assert text_of(lines[7]) == "6"
    assert text_of(lines[-1]) == "999"
    assert [text_of(line) for line in lines[1:3]] == ["0", "1"]
    assert composed == [6, 999, 0, 1]
    assert lines == LazyLines([[]], range(1_000), compose, "state")
    assert lines != LazyLines([[]], range(1_000), compose, "other")
    assert lines != LazyLines([[]], range(999), compose, "state")
    assert composed == [6, 999, 0, 1]
    assert len(list(lines)) == 1_001
    with pytest.raises(IndexError):
        lines[1_001]
