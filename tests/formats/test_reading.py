"""What all readers of binary formats share."""

from functools import partial

import pytest

from gitdash.formats.bitmap import read_bitmap
from gitdash.formats.commit_graph import read_commit_graph
from gitdash.formats.multi_pack_index import read_multi_pack_index
from gitdash.formats.pack_index import read_pack_index_header
from gitdash.formats.reading import FormatError
from gitdash.model.inspection import ObjectFormat
from tests.formats.handmade import bitmap, commit_graph, multi_pack_index, pack_index_version_2
from tests.formats.hostile import is_refused

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
