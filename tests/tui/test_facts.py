"""What the files of a repository say in sentences: nothing of what is not there, and of one thing in the singular."""

import msgspec

from gitdash.model.inspection import BitmapFacts, BitmapSource, MultiPackIndexFacts, ReferenceFacts
from gitdash.model.sizes import Question, SizeMeasurement, Sizes
from gitdash.survey.summarize import summarize
from gitdash.tui.feed.figures import with_sizes_of_this_run
from gitdash.tui.repository.facts import bitmap_text, fact_lines, multi_pack_index_text, packs_text
from gitdash.tui.repository.packs import packs_page
from gitdash.tui.repository.references import references_page
from tests.tui.fixture_fleet import MIB, NOW_S, measured, pack_facts
from tests.tui.repository_pages import entry, inspected, texts_of, view_of

BITMAP = BitmapFacts(
    name="pack-1.bitmap",
    mtime_s=0.0,
    source=BitmapSource.PACK,
    version=1,
    hash_cache=False,
    lookup_table=True,
    pseudo_merges=False,
    commit_count=1,
    bytes=100,
)
INDEX = MultiPackIndexFacts(version=1, pack_count=1, object_count=1, layer_count=1, missing_pack_count=0)


def test_no_pack_is_outside_a_multi_pack_index_that_is_not_there() -> None:
    packs = msgspec.structs.replace(pack_facts(3, MIB), outside_midx_count=3)
    assert packs_text(packs, None) == "3"
    assert packs_text(packs, INDEX) == "3, 3 outside the multi-pack-index"


def test_multi_pack_index_of_one_pack_is_in_the_singular() -> None:
    assert multi_pack_index_text(INDEX) == "v1, 1 pack, 1 object"
    larger = msgspec.structs.replace(INDEX, pack_count=2, object_count=30, layer_count=2)
    assert multi_pack_index_text(larger) == "v1, 2 packs, 30 objects in 2 layers"


def test_bitmap_of_a_lender_stands_wherever_the_table_has_it() -> None:
    made = msgspec.structs.replace(entry(bitmaps=()), lender_bitmap=BITMAP)
    text = "of a lender's pack, 1 commit, lookup table"
    assert summarize(made).bitmap == "lender"
    assert bitmap_text(inspected(made), made.lender_bitmap) == text
    assert any(line.endswith(text) for line in texts_of(packs_page(view_of(made), 120)))
    assert any(text in "".join(piece.text for piece in line) for line in fact_lines(made, 120, NOW_S))
    own = msgspec.structs.replace(made, inspection=inspected(entry(bitmaps=(BITMAP, BITMAP))))
    assert bitmap_text(inspected(own), BITMAP) == "of the pack, 1 commit, lookup table, and 1 more"
    assert bitmap_text(inspected(entry(bitmaps=())), None) == "none"


def test_reference_that_is_loose_and_packed_is_not_a_riddle() -> None:
    references = ReferenceFacts(loose_count=2, packed_count=1, packed_bytes=112, unlisted_count=1)
    made = entry(references=references)
    text = "2: 2 loose, 1 packed in 112 B; 1 is hidden by a loose one of the same name, or empty"
    assert any(text in "".join(piece.text for piece in line) for line in fact_lines(made, 120, NOW_S))
    tab = texts_of(references_page(view_of(made), 120))
    assert any("2: 2 loose, 1 packed; 1 is hidden" in line for line in tab)
    whole = msgspec.structs.replace(references, unlisted_count=0)
    assert not any("hidden" in line for line in texts_of(references_page(view_of(entry(references=whole)), 120)))


def test_only_sizes_from_before_this_run_are_remembered() -> None:
    started_s = NOW_S - 60
    fresh, old = (
        msgspec.structs.replace(measured(question, 5, age_s=age_s), from_history=True)
        for question, age_s in ((Question.REACHABLE, 60), (Question.REACHABLE_OWN, 61))
    )
    stored = msgspec.structs.replace(entry(), sizes=Sizes(reachable=fresh, reachable_own=old))
    sizes = with_sizes_of_this_run(stored, started_s).sizes
    assert isinstance(sizes.reachable, SizeMeasurement)
    assert isinstance(sizes.reachable_own, SizeMeasurement)
    assert (sizes.reachable.from_history, sizes.reachable_own.from_history) == (False, True)
