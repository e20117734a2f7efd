"""The packed-refs file."""

import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.packed_references import count_packed_references, each_packed_reference, packed_among
from gitdash.formats.reading import FormatError
from gitdash.model.inspection import ObjectFormat
from tests.formats.hostile import HOSTILE, is_refused, lengths_where_a_cut_goes_unseen, mutations
from tests.support.speed import cpu_s, slowness

DIGITS = {ObjectFormat.SHA1: 40, ObjectFormat.SHA256: 64}
HEADER = b"# pack-refs with: peeled fully-peeled sorted \n"
ONE, TWO, UPPER = b"1" * 40, b"2" * 40, b"A" * 40
PACKED = HEADER + ONE + b" refs/heads/main\n" + TWO + b" refs/tags/v1\n^" + ONE + b"\n" + TWO + b" refs/tags/v2\n"


def read_packed_references(data: bytes, object_format: ObjectFormat) -> tuple[tuple[bytes, str], ...]:
    return tuple(each_packed_reference(data, object_format))


read_sha1 = partial(read_packed_references, object_format=ObjectFormat.SHA1)
count_sha1 = partial(count_packed_references, object_format=ObjectFormat.SHA1)


@pytest.mark.oracle
def test_references_are_those_of_for_each_ref(rewritable):
    rewritable.git("pack-refs", "--all")
    data = (rewritable.repository.git_dir / "packed-refs").read_bytes()
    listing = rewritable.repository.git_bytes("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    expected = tuple((name, object_id.decode()) for name, object_id in (line.rsplit(b" ", 1) for line in listing))
    assert b"\n^" in data
    assert read_packed_references(data, rewritable.object_format) == expected
    assert count_packed_references(data, rewritable.object_format) == len(expected) > 0


@pytest.mark.oracle
@pytest.mark.parametrize(
    "data",
    [
        ONE + b" refs/heads/no-header\n",
        HEADER + ONE + b"\trefs/heads/after-a-tab\n",
        HEADER + UPPER + b" refs/heads/upper-case\n",
        HEADER,
        b"",
        PACKED,
        HEADER + b"\n" + ONE + b" refs/heads/after-a-blank-line\n",
        HEADER + ONE + b" refs/heads/unterminated",
        HEADER + ONE + b" \n",
        HEADER + ONE + b"refs/heads/no-blank\n",
        HEADER + b"^" + ONE + b"\n" + ONE + b" refs/heads/peeled-first\n",
        HEADER + ONE + b" refs/heads/peeled-twice\n^" + TWO + b"\n^" + TWO + b"\n",
        HEADER + HEADER + ONE + b" refs/heads/two-headers\n",
        b"# something else\n" + ONE + b" refs/heads/other-header\n",
        HEADER + b"<<<<<<< conflict\n" + ONE + b" refs/heads/main\n",
        HEADER + b"1" * 39 + b" refs/heads/short\n",
    ],
)
def test_a_file_is_read_as_git_reads_it_and_refused_if_git_refuses_it(rewritable, data):
    main, other = (rewritable.git("rev-parse", name).encode() for name in ("main", "main~1"))
    data = data.replace(ONE, main).replace(TWO, other).replace(UPPER, main.upper())
    for path in rewritable.repository.git_dir.glob("refs/**/*"):
        if path.is_file():
            path.unlink()
    (rewritable.repository.git_dir / "packed-refs").write_bytes(data)
    errors = rewritable.errors_of("show-ref")
    read = partial(read_packed_references, object_format=rewritable.object_format)
    assert is_refused(read, data) == ("fatal:" in errors), errors
    if not errors:
        rows = [line.split() for line in rewritable.repository.git_bytes("show-ref", check=False).splitlines()]
        assert read(data) == tuple((name, object_id.decode()) for object_id, name in rows)


@pytest.mark.parametrize("object_format", ObjectFormat)
def test_names_keep_every_byte_but_newline_and_nul(object_format):
    object_id = "a" * DIGITS[object_format]
    name = b"refs/heads/\x1b[31m \xff\xe2\x80\xae\r\t"
    data = object_id.encode() + b" " + name + b"\n"
    assert read_packed_references(data, object_format) == ((name, object_id),)


@pytest.mark.parametrize("data", [b"", HEADER])
def test_no_references(data):
    assert read_sha1(data) == ()
    assert count_sha1(data) == 0


@pytest.mark.safety
def test_a_line_longer_than_any_name_is_refused_before_it_is_searched_through() -> None:
    longest = b"refs/heads/" + b"x" * ((1 << 20) - 11)
    assert read_sha1(ONE + b" " + longest + b"\n") == ((longest, ONE.decode()),)
    too_long = ONE + b" " + longest + b"x" * 100_000_000 + b"\n"
    started_s = time.thread_time()
    with pytest.raises(FormatError):
        count_sha1(too_long)
    assert time.thread_time() - started_s < 0.2


def test_200_000_references_are_counted_in_less_than_300_ms():
    data = HEADER + b"".join(b"%040x refs/tags/v%d\n^%040x\n" % (number, number, number) for number in range(200_000))
    assert count_sha1(data) == 200_000
    assert cpu_s(lambda: count_sha1(data)) < 0.3 * slowness()


@pytest.mark.safety
def test_a_cut_is_seen_except_at_line_ends():
    unseen = lengths_where_a_cut_goes_unseen(read_sha1, PACKED)
    # there is neither count nor checksum: whole lines that are gone cannot be missed
    assert unseen == [0, *(offset + 1 for offset in range(len(PACKED) - 1) if PACKED[offset] == ord("\n"))]


@pytest.mark.safety
@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"#\n", 0),
        (b"# pack-refs with: peeled", 0),
        (HEADER + b"garbage\n", len(HEADER)),
        (PACKED + b"\0\0\0\0", len(PACKED)),
        (HEADER + ONE + b" refs/heads/\0\n", len(HEADER)),
        (PACKED[:-1], len(PACKED) - 54),
    ],
)
def test_a_broken_line_is_refused_at_its_offset(data, offset):
    for read in (read_sha1, count_sha1):
        with pytest.raises(FormatError) as caught:
            read(data)
        assert caught.value.offset == offset


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=200), mutations(PACKED)), st.sampled_from(ObjectFormat))
def test_any_bytes_give_a_value_or_a_format_error_and_the_count_agrees(data, object_format):
    if not is_refused(partial(read_packed_references, object_format=object_format), data):
        references = read_packed_references(data, object_format)
        assert count_packed_references(data, object_format) == len(references)


NAMES = st.binary(min_size=1, max_size=6).filter(lambda name: b"\n" not in name and b"\0" not in name)


@given(st.dictionaries(NAMES, st.booleans(), max_size=30), st.sets(NAMES, max_size=6), st.booleans())
def test_names_are_found_among_the_packed_ones_whether_sorted_or_not(
    packed: dict[bytes, bool], others: set[bytes], is_sorted: bool
) -> None:
    names = sorted(packed, reverse=not is_sorted)
    header = HEADER if is_sorted else b"# pack-refs with: peeled \n"
    data = header + b"".join(ONE + b" " + name + b"\n" + (b"^" + TWO + b"\n") * packed[name] for name in names)
    assert count_sha1(data) == len(packed)
    asked = others | set(names[::2])
    assert packed_among(data, asked, ObjectFormat.SHA1) == len(asked & packed.keys())


def test_a_few_names_cost_next_to_nothing_among_many_and_many_names_one_pass() -> None:
    body = b"".join(ONE + b" refs/heads/%07d\n" % number for number in range(200_000))
    names = {b"refs/heads/%07d" % (number * 30) for number in range(10_000)}
    assert packed_among(HEADER + body, names, ObjectFormat.SHA1) == 6_667
    few = {b"refs/heads/0000001", b"refs/heads/0199999", b"refs/heads/0200000"}
    started_s = time.thread_time()
    assert packed_among(HEADER + body, few, ObjectFormat.SHA1) == 2
    assert time.thread_time() - started_s < 0.01
