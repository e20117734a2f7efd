"""The Objects of a repository: what look-ups cost, and what git said of those that were asked for."""

import pytest

from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.items import Page
from gitdash.tui.repository.objects import object_ids, objects_page
from gitdash.tui.repository.view import Need
from tests.tui.fixture_fleet import report
from tests.tui.repository_pages import HOSTILE_TEXTS, entry, longest_line, texts_of, view_of

SHA1 = "1a2b3c4d5e6f70819203a4b5c6d7e8f901234567"
SHA256 = SHA1 + SHA1[:24]
TIMES = LookupTimes(first_s=0.04, warm_s=0.000_01, missing_s=0.02, object_id=SHA1, pack_count=812)
FOUND = ObjectAnswer(
    asked="1a2b",
    object_id=SHA1,
    type="commit",
    bytes=2_048,
    stored_bytes=171,
    elapsed_s=0.000_013,
    delta_base=SHA1[::-1],
)
MISSING = ObjectAnswer(asked="f" * 40, object_id=None, elapsed_s=0.002)
AMBIGUOUS = ObjectAnswer(asked="dead", object_id=None, elapsed_s=0.0, problem="more than one object begins like this")


def page_with(*answers: ObjectAnswer, width: int = 120, **known: object) -> Page:
    return objects_page(view_of(entry(), answers=answers, answer_count=len(answers), **known), width)


def test_times_have_a_bar_against_the_longest() -> None:
    texts = texts_of(page_with(lookup_times=TIMES))
    words = {text.split()[0]: text.split() for text in texts[1:4]}
    assert words["first"][1:3] == ["40", "ms"]
    assert words["warm"][1:3] == ["0.01", "ms"]
    assert words["missing"][1:3] == ["20", "ms"]
    assert len(words["first"][3]) == 2 * len(words["missing"][3])
    assert words["warm"][3] == "▏"


def test_what_missing_costs_is_explained_with_the_number_of_packs() -> None:
    text = " ".join(texts_of(page_with(lookup_times=TIMES)))
    assert "812 packs, those of lenders too. Before git calls an object missing" in text
    own = " ".join(texts_of(page_with(lookup_times=LookupTimes(**{**_fields(TIMES), "pack_count": 2}))))
    assert "2 packs. Before" in own
    unknown = " ".join(texts_of(page_with(lookup_times=LookupTimes(**{**_fields(TIMES), "pack_count": None}))))
    assert "packs. Before" not in unknown


def test_timing_says_for_how_long_it_goes_on_and_why_it_failed() -> None:
    texts = texts_of(page_with(waiting_since_s={Need.LOOKUP_TIMES: 1.0}, monotonic_s=4.5))
    assert "Opening a reader and timing it … 3 s" in texts
    assert "Look-ups could not be timed: no object" in texts_of(page_with(lookup_times=Unreadable("no object")))


def test_each_answer_has_a_line() -> None:
    page = page_with(AMBIGUOUS, MISSING, FOUND)
    texts = texts_of(page)
    assert texts[page.items[0]] == "dead  more than one object begins like this"
    assert texts[page.items[1]] == "f" * 40 + "  missing"
    assert texts[page.items[2]].split() == [SHA1, "commit", "2.00", "KiB", "171", "B", "0.01", "ms"]


def test_whole_sha1_fits_on_the_smallest_usual_terminal() -> None:
    page = page_with(FOUND, width=79)
    assert texts_of(page)[page.items[0]].split()[0] == SHA1
    assert longest_line(page) <= 79


def test_answer_under_the_cursor_has_its_exact_figures_and_its_delta_base() -> None:
    page = page_with(AMBIGUOUS, FOUND, chosen=1)
    below = texts_of(page)[page.items[1] + 1 :]
    assert below == [
        f"asked for as 1a2b; the whole id is {SHA1}",
        "2,048 B inflated, 171 B in its pack or file",
        f"stored as a delta of {SHA1[::-1]}",
    ]
    assert "neither here nor in a lender; git took 2 ms to say so" in texts_of(page_with(MISSING))


def test_answer_keeps_its_name_when_another_comes_before_it() -> None:
    before, after = page_with(FOUND), page_with(MISSING, FOUND)
    assert before.names[0] == after.names[1]


def test_question_that_is_open_says_for_how_long() -> None:
    texts = texts_of(page_with(looking_up=(("abcd\x1b", 1.0),), monotonic_s=3.0))
    assert "· abcd\\x1b  looking up … 2 s" in texts


def test_copied_is_the_whole_id_or_what_was_asked_for() -> None:
    view = view_of(entry(), answers=(FOUND, AMBIGUOUS), answer_count=2)
    assert [object_ids(view, item) for item in range(3)] == [(SHA1,), ("dead",), ()]


def test_repository_that_cannot_be_read_says_so() -> None:
    page = objects_page(view_of(report(b"a.git", Unreadable("permission denied"))), 80)
    assert "permission denied" in texts_of(page)[0]


@pytest.mark.safety
@pytest.mark.parametrize("width", [69, 79, 199])
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_any_text_stays_within_the_width(text: str, width: int) -> None:
    answers = (
        ObjectAnswer(asked=text, object_id=None, elapsed_s=0.0),
        ObjectAnswer(asked="1a2b", object_id=SHA256, type="blob", bytes=2**62, stored_bytes=2**62, elapsed_s=10),
    )
    page = page_with(*answers, width=width, lookup_times=TIMES, looking_up=((text, 0.0),))
    assert longest_line(page) <= width


def _fields(times: LookupTimes) -> dict[str, object]:
    return {name: getattr(times, name) for name in times.__struct_fields__}
