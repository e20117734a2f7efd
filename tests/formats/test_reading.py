"""What all readers of binary formats share."""

from functools import partial

import pytest

from gitdash.formats.alternates import read_alternates
from gitdash.formats.bitmap import read_bitmap
from gitdash.formats.commit_graph import read_commit_graph, read_commit_graph_chain
from gitdash.formats.git_config import read_config
from gitdash.formats.git_file import read_git_file
from gitdash.formats.multi_pack_index import read_multi_pack_index, read_multi_pack_index_chain
from gitdash.formats.pack import read_pack_header
from gitdash.formats.pack_index import read_pack_index_header
from gitdash.formats.packed_references import count_packed_references, each_packed_reference
from gitdash.formats.reading import FormatError
from gitdash.formats.reference import read_reference
from gitdash.formats.reftable_list import read_tables_list
from gitdash.formats.reverse_index import read_reverse_index_header
from gitdash.model.inspection import ObjectFormat
from tests.formats.handmade import bitmap, commit_graph, multi_pack_index, pack_index_version_2
from tests.formats.hostile import format_error_of, is_refused

READERS = [
    (partial(read_pack_index_header, object_format=ObjectFormat.SHA1), pack_index_version_2(3, 0, ObjectFormat.SHA1)),
    (partial(read_bitmap, object_format=ObjectFormat.SHA1), bitmap()),
    (read_multi_pack_index, multi_pack_index()),
    (read_commit_graph, commit_graph()),
]


class ShrinkingBuffer:
    """A file that is cut after its length was asked for."""

    def __init__(self, data: bytes, length_left: int) -> None:
        self.data = data
        self.length_left = length_left

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, key: slice) -> bytes:
        start, stop, _ = key.indices(len(self.data))
        return self.data[start : min(stop, self.length_left)]


@pytest.mark.safety
@pytest.mark.parametrize(("read", "data"), READERS)
def test_a_file_that_shrinks_while_it_is_read_gives_a_value_or_a_format_error(read, data):
    outcomes = {is_refused(read, ShrinkingBuffer(data, length_left)) for length_left in range(len(data) + 1)}
    assert outcomes == {True, False}


def test_the_error_says_what_and_where():
    error = FormatError("signature is wrong", 7)
    assert (error.message, error.offset, str(error)) == ("signature is wrong", 7, "signature is wrong (at byte 7)")


SHA1_READERS = (
    read_bitmap,
    read_pack_index_header,
    lambda data, object_format: tuple(each_packed_reference(data, object_format)),
    count_packed_references,
    read_reference,
    partial(read_reverse_index_header, object_count=3),
)
ALL_READERS = [
    *(partial(read, object_format=ObjectFormat.SHA1) for read in SHA1_READERS),
    read_alternates,
    read_commit_graph,
    read_commit_graph_chain,
    read_config,
    read_git_file,
    read_multi_pack_index,
    read_multi_pack_index_chain,
    read_pack_header,
    read_tables_list,
]
FILES_OF_OTHERS = {
    "netrc": b"machine host login bob password CANARY\n" * 9,
    "secret first": b"CANARY" * 20,
    "key of a program": b"-----BEGIN KEY-----\nCANARY/CANARY==\n-----END KEY-----\n" * 9,
    "config with a bad section": b"[CANARY\nx = CANARY",
    "config with a bad value": b"[a]\nx = CANARY\\CANARY",
    "config with a bad key": b"[a]\n_CANARY=CANARY",
    "packed references with a header": b"# CANARY\n# CANARY",
    "packed references with traits": b"# pack-refs with: CANARY\nCANARY",
    "path with a NUL": b"gitdir: CANARY\0CANARY",
    "reference with a NUL": b"ref: CANARY\0",
}


@pytest.mark.safety
def test_an_error_never_quotes_the_file():
    errors = [
        error for read in ALL_READERS for data in FILES_OF_OTHERS.values() if (error := format_error_of(read, data))
    ]
    assert len(errors) > len(ALL_READERS) * 5
    assert [str(error) for error in errors if "CANA" in str(error) or "mach" in str(error)] == []


@pytest.mark.safety
@pytest.mark.parametrize(("read", "data"), READERS)
def test_an_error_never_quotes_four_bytes_of_a_broken_file(read, data):
    for offset in range(0, len(data) - 4, 2):
        error = format_error_of(read, data[:offset] + b"CANA" + data[offset + 4 :])
        assert error is None or "CANA" not in str(error)
