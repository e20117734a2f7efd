"""The `.rev` and `.mtimes` files of a pack."""

import struct
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.mtimes import read_mtimes_header
from gitdash.formats.pack_index import read_pack_index_header
from gitdash.formats.reading import FormatError
from gitdash.formats.reverse_index import read_reverse_index_header
from gitdash.model.inspection import ObjectFormat
from tests.formats.handmade import HASH_VERSION, ID_BYTES
from tests.formats.hostile import HOSTILE, corrupt, is_refused, lengths_where_a_cut_goes_unseen, mutations
from tests.support.repositories import GitRepository

READERS = {b"RIDX": read_reverse_index_header, b"MTME": read_mtimes_header}
OBJECT_COUNT = 5


def table(signature: bytes, object_format: ObjectFormat) -> bytes:
    head = struct.pack(">4sII", signature, 1, HASH_VERSION[object_format])
    return head + bytes(4 * OBJECT_COUNT) + bytes(2 * ID_BYTES[object_format])


def index_count(path, object_format) -> int:
    return read_pack_index_header(path.with_suffix(".idx").read_bytes(), object_format).object_count


@pytest.mark.oracle
def test_the_reverse_index_of_git_has_a_row_for_each_object_of_the_pack(built):
    path = built.one("pack/*.rev")
    object_count = index_count(path, built.object_format)
    header = read_reverse_index_header(path.read_bytes(), object_count, built.object_format)
    assert (header.version, header.object_count) == (1, object_count)
    assert is_refused(
        lambda data: read_reverse_index_header(data, object_count + 1, built.object_format), path.read_bytes()
    )


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_the_mtimes_of_a_cruft_pack_of_git_have_a_row_for_each_object(tmp_path, object_format):
    repository = GitRepository.init(tmp_path / "cruft.git", object_format=object_format)
    repository.commit({"a": "kept"})
    unreachable = {repository.blob(b"unreachable %d" % number) for number in range(7)}
    repository.git("repack", "--cruft", "-d", "-q")
    (path,) = (repository.git_dir / "objects/pack").glob("*.mtimes")
    header = read_mtimes_header(path.read_bytes(), len(unreachable), object_format)
    assert header.object_count == len(unreachable) == index_count(path, object_format)


@pytest.mark.safety
@pytest.mark.parametrize("object_format", ObjectFormat)
@pytest.mark.parametrize("signature", READERS)
def test_every_cut_is_seen(signature, object_format):
    read = partial(READERS[signature], object_count=OBJECT_COUNT, object_format=object_format)
    data = table(signature, object_format)
    assert not is_refused(read, data)
    assert lengths_where_a_cut_goes_unseen(read, data) == []


@pytest.mark.safety
@pytest.mark.parametrize("signature", READERS)
@pytest.mark.parametrize(
    ("offset", "replacement"),
    [(0, b"X"), (4, b"\0\0\0\2"), (8, b"\0\0\0\2"), (8, b"\0\0\0\3"), (8, b"\xff\xff\xff\xff")],
)
def test_a_broken_field_is_refused_at_its_offset(signature, offset, replacement):
    data = corrupt(table(signature, ObjectFormat.SHA1), offset, replacement)
    with pytest.raises(FormatError) as caught:
        READERS[signature](data, OBJECT_COUNT, ObjectFormat.SHA1)
    assert caught.value.offset == offset


@pytest.mark.safety
@pytest.mark.parametrize("signature", READERS)
def test_a_table_of_another_number_of_objects_is_refused(signature):
    data = table(signature, ObjectFormat.SHA1)
    for object_count in (0, OBJECT_COUNT - 1, OBJECT_COUNT + 1, 0xFFFFFFFF, OBJECT_COUNT + (1 << 30)):
        assert is_refused(partial(READERS[signature], object_count=object_count, object_format=ObjectFormat.SHA1), data)


@pytest.mark.safety
@HOSTILE
@given(
    st.one_of(
        st.binary(max_size=100),
        mutations(table(b"RIDX", ObjectFormat.SHA1)),
        mutations(table(b"MTME", ObjectFormat.SHA256)),
    ),
    st.sampled_from(list(READERS)),
    st.sampled_from(ObjectFormat),
)
def test_any_bytes_give_a_value_or_a_format_error(data, signature, object_format):
    is_refused(partial(READERS[signature], object_count=OBJECT_COUNT, object_format=object_format), data)
