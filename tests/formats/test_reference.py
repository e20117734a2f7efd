"""HEAD and loose references."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.reading import FormatError
from gitdash.formats.reference import DirectReference, SymbolicReference, read_reference
from gitdash.model.inspection import ObjectFormat
from tests.formats.hostile import HOSTILE, is_refused, lengths_where_a_cut_goes_unseen, mutations

SYMBOLIC = b"ref: refs/heads/main\n"
DIRECT = b"0123456789abcdef" * 2 + b"01234567" + b"\n"
read_sha1 = partial(read_reference, object_format=ObjectFormat.SHA1)


def head_of(built) -> object:
    return read_reference((built.repository.git_dir / "HEAD").read_bytes(), built.object_format)


@pytest.mark.oracle
def test_head_is_what_symbolic_ref_says(rewritable):
    assert head_of(rewritable) == SymbolicReference(rewritable.git("symbolic-ref", "HEAD").encode())
    rewritable.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    assert head_of(rewritable) == SymbolicReference(b"refs/heads/unborn")


@pytest.mark.oracle
def test_a_detached_head_is_what_rev_parse_says(rewritable):
    rewritable.git("update-ref", "--no-deref", "HEAD", "refs/heads/main~1")
    assert head_of(rewritable) == DirectReference(rewritable.git("rev-parse", "HEAD"))


@pytest.mark.oracle
@pytest.mark.parametrize(
    "text",
    [
        b"ref:refs/heads/main",
        b"ref:  \t refs/heads/main \r\n\n",
        b"ref: refs/heads/main \t\n",
        b"%s\n",
        b"%s",
        b"%s\r\n",
        b"%s and anything\n",
        b"%s\tbranch 'x' of y\n",
        b"",
        b"\n",
        b"ref:\n",
        b"ref: \n",
        b"%sx\n",
        b" %s\n",
        b"reff: refs/heads/main\n",
        b"garbage\n",
    ],
)
def test_a_loose_reference_reads_as_git_reads_it(rewritable, text):
    main = rewritable.git("rev-parse", "refs/heads/main")
    data = text % main.encode() if b"%s" in text else text
    path = rewritable.repository.git_dir / "refs/heads/odd"
    path.write_bytes(data)
    resolved = rewritable.git("rev-parse", "--verify", "--quiet", "refs/heads/odd", check=False)
    if not resolved:
        assert is_refused(partial(read_reference, object_format=rewritable.object_format), data)
        return
    expected = SymbolicReference(b"refs/heads/main") if data.startswith(b"ref:") else DirectReference(main)
    assert read_reference(data, rewritable.object_format) == expected


def test_upper_case_digits_become_lower_case():
    assert read_sha1(DIRECT.upper()) == read_sha1(DIRECT) == DirectReference(DIRECT.decode().strip())


@pytest.mark.safety
@pytest.mark.parametrize(
    ("data", "offset"),
    [(b"", 0), (b"\0" * 41, 0), (b"ref: refs/heads/a\0b", 17), (DIRECT[:-2], 0), (b"ref: \r\n", 4), (b"g" * 40, 0)],
)
def test_broken_content_is_refused_at_its_offset(data, offset):
    with pytest.raises(FormatError) as caught:
        read_sha1(data)
    assert caught.value.offset == offset


@pytest.mark.safety
def test_an_id_of_the_other_hash_function_is_refused():
    assert is_refused(read_sha1, b"a" * 64)
    assert is_refused(partial(read_reference, object_format=ObjectFormat.SHA256), b"a" * 40)


@pytest.mark.safety
def test_a_cut_of_an_id_is_seen_and_a_cut_of_a_target_is_not():
    assert lengths_where_a_cut_goes_unseen(read_sha1, DIRECT) == [40]
    # a target has neither length nor checksum: any rest of it is a target
    assert lengths_where_a_cut_goes_unseen(read_sha1, SYMBOLIC) == list(range(6, len(SYMBOLIC)))


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=100), mutations(DIRECT), mutations(SYMBOLIC)), st.sampled_from(ObjectFormat))
def test_any_bytes_give_a_value_or_a_format_error(data, object_format):
    is_refused(partial(read_reference, object_format=object_format), data)
