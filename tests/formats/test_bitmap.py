"""The header of a bitmap."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.bitmap import read_bitmap
from gitdash.formats.multi_pack_index import read_multi_pack_index
from gitdash.formats.reading import FormatError
from gitdash.model.inspection import ObjectFormat
from tests.formats.handmade import ID_BYTES, bitmap, ewah
from tests.formats.hostile import HOSTILE, corrupt, is_refused, lengths_where_a_cut_goes_unseen, mutations
from tests.support.repositories import git_version

FULL_CLOSURE, HASH_CACHE, LOOKUP_TABLE, PSEUDO_MERGES = 0x1, 0x4, 0x10, 0x20
read_sha1 = partial(read_bitmap, object_format=ObjectFormat.SHA1)
BITMAP = bitmap()
TYPE_BITMAPS_OFFSET = 12 + ID_BYTES[ObjectFormat.SHA1]


def commit_count_of_git(built) -> int:
    talk = built.errors_of("rev-list", "--test-bitmap", "main")
    match = re.search(r"\((\d+) entries", talk)
    assert match, talk
    return int(match[1])


def rewrite(built, *config: str):
    options = [part for pair in config for part in ("-c", pair)]
    built.git(*options, "repack", "-a", "-d", "-f", "-q", "-b")
    return read_bitmap(built.one("pack/*.bitmap").read_bytes(), built.object_format)


@pytest.mark.oracle
def test_commit_count_is_the_number_of_entries_that_git_loads(built):
    path = built.one("pack/*.bitmap")
    header = read_bitmap(path.read_bytes(), built.object_format)
    assert header.commit_count == commit_count_of_git(built) > 0
    assert (header.version, header.hash_cache, header.lookup_table, header.pseudo_merges) == (1, True, False, False)


@pytest.mark.oracle
def test_checksum_is_the_trailer_of_the_pack(built):
    path = built.one("pack/*.bitmap")
    header = read_bitmap(path.read_bytes(), built.object_format)
    assert header.checksum == path.with_suffix(".pack").read_bytes()[-ID_BYTES[built.object_format] :].hex()


@pytest.mark.oracle
def test_checksum_of_a_multi_pack_bitmap_is_that_of_the_multi_pack_index(many_packs):
    header = read_bitmap(many_packs.one("pack/multi-pack-index-*.bitmap").read_bytes(), many_packs.object_format)
    index = read_multi_pack_index(many_packs.one("pack/multi-pack-index").read_bytes())
    assert header.checksum == index.checksum
    assert header.commit_count == commit_count_of_git(many_packs)


@pytest.mark.oracle
def test_hash_cache_follows_the_config(rewritable):
    assert not rewrite(rewritable, "pack.writeBitmapHashCache=false", "pack.writeBitmapLookupTable=false").hash_cache
    assert rewrite(rewritable, "pack.writeBitmapLookupTable=false").hash_cache


@pytest.mark.oracle
def test_lookup_table_follows_the_config(rewritable):
    header = rewrite(rewritable, "pack.writeBitmapLookupTable=true")
    assert header.lookup_table
    assert header.commit_count == commit_count_of_git(rewritable)
    assert not rewrite(rewritable, "pack.writeBitmapLookupTable=false").lookup_table


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 46), reason="pseudo-merge bitmaps exist since git 2.46")
def test_pseudo_merges_follow_the_config(rewritable):
    header = rewrite(
        rewritable,
        "bitmapPseudoMerge.all.pattern=refs/",
        "bitmapPseudoMerge.all.threshold=now",
        "bitmapPseudoMerge.all.stableThreshold=now",
        "pack.writeBitmapLookupTable=false",
    )
    assert header.pseudo_merges
    assert header.commit_count == commit_count_of_git(rewritable)
    assert not rewrite(rewritable, "pack.writeBitmapLookupTable=false").pseudo_merges


@pytest.mark.parametrize("object_format", ObjectFormat)
@pytest.mark.parametrize("flags", [0x1, 0x5, 0x11, 0x21, 0x35])
def test_flags_are_read_one_by_one(flags, object_format):
    header = read_bitmap(bitmap(flags=flags, object_format=object_format, extensions=bytes(64)), object_format)
    assert header.hash_cache == bool(flags & HASH_CACHE)
    assert header.lookup_table == bool(flags & LOOKUP_TABLE)
    assert header.pseudo_merges == bool(flags & PSEUDO_MERGES)
    assert header.checksum == "ef" * ID_BYTES[object_format]
    assert header.commit_count == 2


def test_unknown_flags_are_ignored():
    assert read_sha1(bitmap(flags=0x8000 | FULL_CLOSURE)).commit_count == 2


def test_a_bitmap_without_commits_is_one():
    assert read_sha1(bitmap(commit_count=0)).commit_count == 0


@pytest.mark.safety
def test_a_cut_is_seen_until_the_entries_could_fit():
    head_bytes = TYPE_BITMAPS_OFFSET + 4 * len(ewah(1))
    # entries are not read: a cut shows only where so many, each of 6 bytes and an empty bitmap, cannot fit
    least = head_bytes + 2 * (6 + len(ewah(0))) + ID_BYTES[ObjectFormat.SHA1]
    assert lengths_where_a_cut_goes_unseen(read_sha1, BITMAP) == list(range(least, len(BITMAP)))


@pytest.mark.safety
@pytest.mark.parametrize(
    ("offset", "replacement", "error_offset"),
    [
        pytest.param(0, b"X", 0, id="signature"),
        pytest.param(4, b"\0\2", 4, id="version 2"),
        pytest.param(4, b"\0\x09", 4, id="version 9"),
        pytest.param(6, b"\0\4", 6, id="not of a full closure"),
        pytest.param(8, b"\xff\xff\xff\xff", 8, id="2^32-1 entries"),
        pytest.param(TYPE_BITMAPS_OFFSET + 4, b"\xff\xff\xff\xff", TYPE_BITMAPS_OFFSET + 4, id="2^32-1 words"),
        pytest.param(TYPE_BITMAPS_OFFSET + 4, b"\0\0\0\x20", TYPE_BITMAPS_OFFSET + 4, id="more words than bytes"),
    ],
)
def test_a_broken_field_is_refused_at_its_offset(offset, replacement, error_offset):
    with pytest.raises(FormatError) as caught:
        read_sha1(corrupt(BITMAP, offset, replacement))
    assert caught.value.offset == error_offset


@pytest.mark.safety
def test_a_lookup_table_needs_room_for_its_rows():
    # 20 commits leave 8 spare bytes each, too few for a row of 16 bytes without the table itself
    assert is_refused(read_sha1, bitmap(flags=FULL_CLOSURE | LOOKUP_TABLE, commit_count=20))
    assert not is_refused(
        read_sha1, bitmap(flags=FULL_CLOSURE | LOOKUP_TABLE, commit_count=20, extensions=bytes(20 * 16))
    )


@pytest.mark.safety
@HOSTILE
@given(
    st.one_of(
        st.binary(max_size=200),
        mutations(BITMAP),
        mutations(bitmap(flags=0x35, object_format=ObjectFormat.SHA256, extensions=bytes(99))),
    ),
    st.sampled_from(ObjectFormat),
)
def test_any_bytes_give_a_value_or_a_format_error(data, object_format):
    is_refused(partial(read_bitmap, object_format=object_format), data)
