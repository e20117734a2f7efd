"""The Refs of a repository: sums, a line for each namespace, and what is said of the one under the cursor."""

from typing import Any

import pytest

from gitdash.model.inspection import ReferenceBackend, ReferenceFacts
from gitdash.model.namespaces import ReferenceNamespace, ReferenceNamespaces
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.items import Page
from gitdash.tui.repository.references import references_page
from gitdash.tui.repository.view import Need
from tests.tui.fixture_fleet import report
from tests.tui.repository_pages import HOSTILE_TEXTS, entry, longest_line, texts_of, view_of


def namespace(name: str, loose: int | None, packed: int | None, *, both: int = 0, **more: Any) -> ReferenceNamespace:
    return ReferenceNamespace(
        name=name, loose_count=loose, packed_count=packed, count=(loose or 0) + (packed or 0) - both, **more
    )


def counted(*namespaces: ReferenceNamespace, **more: Any) -> ReferenceNamespaces:
    return ReferenceNamespaces(namespaces=namespaces, **{"head": "refs/heads/main", "elapsed_s": 0.31, **more})


HEADS = namespace("refs/heads", 3, 5, both=2, examples=("refs/heads/a", "refs/heads/main"))
TAGS = namespace("refs/tags", 0, 94, broken_count=1)
ROOT = namespace("(root)", 1, 0, examples=("HEAD",))


def page_of(found: ReferenceNamespaces | Unreadable | None, width: int = 120, **known: Any) -> Page:
    return references_page(view_of(entry(), namespaces=found, **known), width)


def row(page: Page, name: str) -> list[str]:
    [line] = [texts_of(page)[number] for number in page.items if texts_of(page)[number].split()[0] == name]
    return line.split()


def test_sums_count_what_is_loose_and_packed_once_and_leave_out_what_is_no_reference() -> None:
    text = texts_of(page_of(counted(TAGS, HEADS, ROOT)))[0]
    assert text == "references   100: 3 loose, 99 packed (2 are both, and the loose one counts), 1 broken"


def test_each_namespace_has_its_counts_and_its_share_of_all() -> None:
    page = page_of(counted(TAGS, HEADS, ROOT))
    assert row(page, "refs/tags")[1:6] == ["94", "0", "94", "1", "94.0%"]
    assert row(page, "refs/heads")[1:6] == ["6", "3", "5", "0", "6.0%"]
    assert row(page, "(root)")[1:] == ["1", "1", "0", "0"]


def test_bar_has_a_stroke_for_what_is_too_small_and_nothing_for_none() -> None:
    page = page_of(counted(namespace("refs/heads", 0, 100_000), namespace("refs/tags", 1, 0)))
    assert set(row(page, "refs/heads")[-1]) == {"█"}
    assert row(page, "refs/tags")[-2:] == ["<0.1%", "▏"]
    mixed = row(page_of(counted(namespace("refs/heads", 30, 30))), "refs/heads")[-1]
    assert abs(mixed.count("█") - mixed.count("▒")) <= 1


def test_column_of_broken_ones_is_there_only_if_some_are() -> None:
    assert "broken" not in "".join(texts_of(page_of(counted(HEADS))))
    assert "broken" in "".join(texts_of(page_of(counted(TAGS))))


def test_namespace_under_the_cursor_tells_what_it_is_for_and_names_some() -> None:
    keep = namespace("refs/keep-around", 0, 7, examples=("refs/keep-around/1", "refs/keep-around/2"))
    page = page_of(counted(HEADS, keep), chosen="refs/keep-around")
    texts = texts_of(page)
    below = texts[page.items[1] + 1 :]
    assert below[0].startswith("GitLab: commits that must not go")
    assert below[1:] == ["refs/keep-around/1", "refs/keep-around/2", "and 5 more"]
    assert page.items[1] == page.items[0] + 1
    first = texts_of(page_of(counted(HEADS, keep)))
    assert "refs/heads/main" in first
    assert "refs/keep-around/1" not in first


def test_broken_ones_are_told_with_what_that_means() -> None:
    assert any(text.startswith("1 broken: git passes over") for text in texts_of(page_of(counted(TAGS))))


def test_each_remote_is_told_as_one() -> None:
    page = page_of(counted(namespace("refs/remotes/origin", 0, 2)))
    assert any("fetched from a remote" in text for text in texts_of(page))


def test_counting_says_for_how_long_and_what_is_known_meanwhile() -> None:
    page = page_of(None, monotonic_s=107.9, waiting_since_s={Need.NAMESPACES: 100.0})
    assert "references   12: 2 loose, 10 packed" in texts_of(page)
    assert "counted      counting … 7 s" in texts_of(page)


def test_count_says_how_old_it_is_and_which_key_counts_again() -> None:
    page = page_of(counted(HEADS), monotonic_s=200.0, answered_at_s={Need.NAMESPACES: 80.0})
    assert "counted      in 310 ms, 2m ago · r counts again" in texts_of(page)


def test_count_that_failed_or_lacks_something_says_why() -> None:
    assert "They could not be counted: timed out" in texts_of(page_of(Unreadable("timed out")))
    page = page_of(counted(HEADS, incomplete="packed-refs: permission denied"))
    assert "Some may be missing: packed-refs: permission denied" in texts_of(page)


def test_packed_references_that_cannot_be_read_are_not_none() -> None:
    page = page_of(counted(namespace("refs/heads", 3, None)))
    assert row(page, "refs/heads")[1:4] == ["3", "3", "?"]
    assert texts_of(page)[0] == "references   3 read: 3 loose"


def test_reftable_shows_its_tables_and_no_loose_or_packed_ones() -> None:
    facts = ReferenceFacts(
        loose_count=0,
        packed_count=None,
        packed_bytes=0,
        reftable_bytes=(1_048_576, 2_048),
        reftable_missing_count=1,
        reftable_unlisted_count=3,
    )
    made = entry(reference_backend=ReferenceBackend.REFTABLE, references=facts, head=None)
    assert "references   in a reftable" in texts_of(references_page(view_of(made), 120))
    found = counted(namespace("refs/heads", None, None), head="refs/heads/main")
    texts = texts_of(references_page(view_of(made, namespaces=found), 120))
    assert (
        "reftable     2 tables, 1.00 MiB (1.00 MiB, 2.00 KiB), 1 listed and not there, 3 there and not listed" in texts
    )
    assert not any("▒" in text for text in texts)


def test_files_that_a_power_loss_emptied_are_named() -> None:
    facts = ReferenceFacts(
        loose_count=9, packed_count=0, packed_bytes=0, empty_loose_names=("refs/heads/x",), empty_loose_count=8
    )
    texts = texts_of(references_page(view_of(entry(references=facts)), 120))
    assert "empty files  refs/heads/x and 7 more: what a power loss leaves" in texts
    assert "packed-refs  none" in texts


def test_repository_that_is_not_read_says_so() -> None:
    assert texts_of(references_page(view_of(None), 80)) == ["This repository is being read."]
    unreadable = references_page(view_of(report(b"a.git", Unreadable("permission denied"))), 80)
    assert "permission denied" in texts_of(unreadable)[0]


@pytest.mark.safety
@pytest.mark.parametrize("width", [59, 79, 119, 199])
@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_any_name_leaves_the_table_within_its_width(name: str, width: int) -> None:
    found = counted(namespace(name, 1, 1, examples=(name, name)), TAGS, head=name, incomplete=name)
    page = page_of(found, width)
    assert longest_line(page) <= width
    assert len(page.items) == len(page.names) == 2
