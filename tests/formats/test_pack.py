"""The header of a pack."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.pack import read_pack_header
from gitdash.formats.reading import FormatError
from tests.formats.hostile import HOSTILE, corrupt, is_refused, lengths_where_a_cut_goes_unseen, mutations

PACK = struct.pack(">4sII", b"PACK", 2, 3) + bytes(3 * 9) + bytes(20)
LEAST_ENTRY_BYTES = 9


@pytest.mark.oracle
def test_object_count_is_the_number_of_rows_of_show_index(built):
    pack = built.one("pack/*.pack")
    rows = built.git(
        "show-index", f"--object-format={built.object_format}", stdin=pack.with_suffix(".idx").read_bytes()
    )
    header = read_pack_header(pack.read_bytes())
    assert header.version == 2
    assert header.object_count == len(rows.splitlines())


def test_an_empty_pack_is_a_pack():
    assert read_pack_header(struct.pack(">4sII", b"PACK", 2, 0) + bytes(20)).object_count == 0


def test_version_3_is_read():
    assert read_pack_header(corrupt(PACK, 4, b"\0\0\0\3")).version == 3


@pytest.mark.safety
@pytest.mark.parametrize(
    ("offset", "replacement"),
    [(0, b"K"), (4, b"\0\0\0\1"), (4, b"\0\0\0\4"), (8, b"\xff\xff\xff\xff"), (8, b"\0\0\0\4")],
)
def test_a_broken_field_is_refused_at_its_offset(offset, replacement):
    with pytest.raises(FormatError) as caught:
        read_pack_header(corrupt(PACK, offset, replacement))
    assert caught.value.offset == offset


@pytest.mark.safety
def test_a_cut_is_seen_until_the_objects_could_fit(built):
    pack = built.one("pack/*.pack").read_bytes()
    object_count = read_pack_header(pack).object_count
    # objects and trailer are not read, so a cut shows only where so many objects cannot fit
    assert lengths_where_a_cut_goes_unseen(read_pack_header, pack) == list(
        range(12 + object_count * LEAST_ENTRY_BYTES + 20, len(pack))
    )


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=64), mutations(PACK)))
def test_any_bytes_give_a_value_or_a_format_error(data):
    is_refused(read_pack_header, data)
