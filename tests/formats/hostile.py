"""Hostile bytes for readers: cuts, one broken field, mutations. A reader answers with a value or a FormatError."""

from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from gitdash.formats.reading import FormatError

HOSTILE = settings(
    max_examples=80,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
NUMBERS_THAT_OVERFLOW = (0, 1, 2, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)


def corrupt(data: bytes, offset: int, replacement: bytes) -> bytes:
    """`data` with other bytes at one place, and the same length."""
    assert offset + len(replacement) <= len(data)
    return data[:offset] + replacement + data[offset + len(replacement) :]


def format_error_of(read: Callable[[bytes], object], data: bytes) -> FormatError | None:
    """The reader's FormatError, None if it returns a value; any other error ends the test."""
    try:
        read(data)
    except FormatError as error:
        return error
    return None


def is_refused(read: Callable[[bytes], object], data: bytes) -> bool:
    """Whether the reader raises FormatError, with an offset inside the data and a text that prints."""
    error = format_error_of(read, data)
    if error is None:
        return False
    assert 0 <= error.offset <= len(data)
    assert error.message
    assert str(error).isprintable()
    return True


def lengths_where_a_cut_goes_unseen(read: Callable[[bytes], object], data: bytes) -> list[int]:
    """The lengths to which `data` can be cut without a FormatError."""
    return [length for length in range(len(data)) if not is_refused(read, data[:length])]


def mutations(data: bytes) -> st.SearchStrategy[bytes]:
    """A valid file with some places overwritten, cut out, or filled in."""
    offsets = st.integers(0, max(len(data) - 1, 0))
    numbers = st.sampled_from(NUMBERS_THAT_OVERFLOW)
    patches = st.one_of(
        st.binary(max_size=8),
        st.tuples(numbers, st.sampled_from((1, 2, 4, 8))).map(
            lambda pair: (pair[0] & (256 ** pair[1] - 1)).to_bytes(pair[1], "big")
        ),
    )
    edits = st.lists(st.tuples(offsets, patches, st.sampled_from(("overwrite", "insert", "delete"))), max_size=4)
    return st.builds(lambda edits, length: _apply(data, edits)[:length], edits, st.one_of(st.none(), offsets))


def _apply(data: bytes, edits: list[tuple[int, bytes, str]]) -> bytes:
    for offset, patch, kind in edits:
        after = offset if kind == "insert" else offset + len(patch)
        data = data[:offset] + (b"" if kind == "delete" else patch) + data[after:]
    return data


class RecordingBuffer:
    """A file that is mostly hole: `parts` at their offsets, zeros elsewhere; it counts the bytes that are read."""

    def __init__(self, length: int, parts: dict[int, bytes]) -> None:
        self.length = length
        self.parts = parts
        self.read_bytes = 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, key: slice) -> bytes:
        start, stop, _ = key.indices(self.length)
        assert stop - start < 1 << 24, "a reader may not ask for the whole file"
        self.read_bytes += stop - start
        piece = bytearray(stop - start)
        for offset, part in self.parts.items():
            low, high = max(start, offset), min(stop, offset + len(part))
            if low < high:
                piece[low - start : high - start] = part[low - offset : high - offset]
        return bytes(piece)
