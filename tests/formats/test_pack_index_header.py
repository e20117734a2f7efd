"""The header of a pack's index."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.pack_index import PackIndexHeader, read_first_object_id, read_pack_index_header
from gitdash.formats.reading import FormatError
from gitdash.model.inspection import ObjectFormat
from tests.formats.handmade import ID_BYTES, pack_index_version_1, pack_index_version_2
from tests.formats.hostile import (
    HOSTILE,
    RecordingBuffer,
    corrupt,
    is_refused,
    lengths_where_a_cut_goes_unseen,
    mutations,
)

read_sha1 = partial(read_pack_index_header, object_format=ObjectFormat.SHA1)
VERSION_2 = pack_index_version_2(5, 0, ObjectFormat.SHA1)
SMALL_OFFSET_LIMIT = 0x80


def index_written_by_git(built, tmp_path, version):
    index = tmp_path / "written.idx"
    pack = built.one("pack/*.pack")
    built.git("index-pack", f"--index-version={version}", "-o", index, pack)
    rows = built.git("show-index", f"--object-format={built.object_format}", stdin=index.read_bytes()).splitlines()
    return index.read_bytes(), [int(row.split()[0]) for row in rows]


@pytest.mark.oracle
@pytest.mark.parametrize("version", [1, 2])
def test_object_count_is_the_number_of_rows_of_show_index(built, tmp_path, version):
    data, offsets = index_written_by_git(built, tmp_path, str(version))
    header = read_pack_index_header(data, built.object_format)
    assert header == PackIndexHeader(version=version, object_count=len(offsets), large_offset_count=0)


@pytest.mark.oracle
@pytest.mark.parametrize("version", [1, 2])
def test_the_first_id_is_the_first_that_git_lists(built, tmp_path, version):
    data, _ = index_written_by_git(built, tmp_path, str(version))
    rows = built.git("show-index", f"--object-format={built.object_format}", stdin=data).splitlines()
    assert read_first_object_id(data, built.object_format) == rows[0].split()[1]


@pytest.mark.parametrize("object_format", ObjectFormat)
def test_an_empty_index_has_no_first_id(object_format):
    assert read_first_object_id(pack_index_version_1(0, object_format), object_format) is None
    assert read_first_object_id(pack_index_version_2(0, 0, object_format), object_format) is None


@pytest.mark.oracle
def test_large_offset_count_is_the_number_of_offsets_above_gits_limit(built, tmp_path):
    data, offsets = index_written_by_git(built, tmp_path, f"2,{SMALL_OFFSET_LIMIT:#x}")
    header = read_pack_index_header(data, built.object_format)
    assert header.large_offset_count == sum(offset > SMALL_OFFSET_LIMIT for offset in offsets) > 0
    assert header.object_count == len(offsets)


@pytest.mark.parametrize("object_format", ObjectFormat)
def test_an_empty_index_has_no_objects(object_format):
    assert read_pack_index_header(pack_index_version_1(0, object_format), object_format).object_count == 0
    assert read_pack_index_header(pack_index_version_2(0, 0, object_format), object_format).object_count == 0


@pytest.mark.parametrize("object_format", ObjectFormat)
@pytest.mark.parametrize("large_count", [0, 1, 4])
def test_large_offsets_are_counted_from_the_size(object_format, large_count):
    header = read_pack_index_header(pack_index_version_2(5, large_count, object_format), object_format)
    assert header == PackIndexHeader(version=2, object_count=5, large_offset_count=large_count)


def test_only_header_and_fan_out_are_read():
    count = 10_000_000
    length = len(pack_index_version_2(0, 0, ObjectFormat.SHA1)) + count * 28
    head = pack_index_version_2(0, 0, ObjectFormat.SHA1)[:1028] + count.to_bytes(4, "big")
    buffer = RecordingBuffer(length, {0: head})
    assert read_sha1(buffer).object_count == count
    assert buffer.read_bytes <= 2048


@pytest.mark.safety
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_every_cut_is_seen(object_format):
    read = partial(read_pack_index_header, object_format=object_format)
    assert lengths_where_a_cut_goes_unseen(read, pack_index_version_1(5, object_format)) == []
    assert lengths_where_a_cut_goes_unseen(read, pack_index_version_2(5, 0, object_format)) == []


@pytest.mark.safety
def test_a_cut_by_whole_large_offsets_goes_unseen():
    data = pack_index_version_2(5, 3, ObjectFormat.SHA1)
    # the number of large offsets follows from the size alone: fewer of them make a shorter valid file
    assert lengths_where_a_cut_goes_unseen(read_sha1, data) == [len(data) - 24, len(data) - 16, len(data) - 8]


@pytest.mark.safety
def test_more_large_offsets_than_offsets_that_can_be_large_are_refused():
    assert is_refused(read_sha1, VERSION_2[:-40] + bytes(5 * 8) + VERSION_2[-40:])
    assert not is_refused(read_sha1, VERSION_2[:-40] + bytes(4 * 8) + VERSION_2[-40:])


@pytest.mark.safety
@pytest.mark.parametrize(
    ("offset", "replacement", "error_offset"),
    [
        pytest.param(4, b"\0\0\0\1", 4, id="version 1 with the signature of version 2"),
        pytest.param(4, b"\0\0\0\x63", 4, id="version 99"),
        pytest.param(8 + 4 * 7, b"\0\0\0\1", 8 + 4 * 7, id="fan-out decreases"),
        pytest.param(8 + 4 * 255, b"\xff\xff\xff\xff", 1032 + 5 * 28 + 40, id="count of 2^32-1"),
        pytest.param(8 + 4 * 255, b"\0\0\0\6", 1032 + 5 * 28 + 40, id="one object more"),
    ],
)
def test_a_broken_field_is_refused_at_its_offset(offset, replacement, error_offset):
    with pytest.raises(FormatError) as caught:
        read_sha1(corrupt(VERSION_2, offset, replacement))
    assert caught.value.offset == error_offset


@pytest.mark.safety
def test_a_wrong_signature_is_read_as_version_1_and_refused():
    with pytest.raises(FormatError, match="fan-out decreases"):
        read_sha1(corrupt(VERSION_2, 0, b"\xffTOC"))


@pytest.mark.safety
def test_the_index_of_another_hash_function_is_refused():
    assert is_refused(read_sha1, pack_index_version_2(5, 0, ObjectFormat.SHA256))
    assert is_refused(partial(read_pack_index_header, object_format=ObjectFormat.SHA256), VERSION_2)


@pytest.mark.safety
def test_the_size_does_not_wrap_at_32_bits():
    count = 153_391_690
    assert count * 28 > 1 << 32
    wrapped = (1032 + count * 28 + 2 * ID_BYTES[ObjectFormat.SHA1]) % (1 << 32)
    head = VERSION_2[:1028] + count.to_bytes(4, "big")
    assert is_refused(read_sha1, head + bytes(max(wrapped - len(head), 0)))


@pytest.mark.safety
@HOSTILE
@given(
    st.one_of(
        st.binary(max_size=1200),
        mutations(VERSION_2),
        mutations(pack_index_version_1(5, ObjectFormat.SHA1)),
        mutations(pack_index_version_2(5, 3, ObjectFormat.SHA256)),
    ),
    st.sampled_from(ObjectFormat),
)
def test_any_bytes_give_a_value_or_a_format_error(data, object_format):
    is_refused(partial(read_pack_index_header, object_format=object_format), data)
