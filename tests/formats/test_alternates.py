"""The alternates file."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.alternates import read_alternates
from gitdash.formats.reading import FormatError
from tests.formats.hostile import HOSTILE, is_refused, lengths_where_a_cut_goes_unseen, mutations
from tests.support.repositories import GitRepository

ALTERNATES = b'# pool\n../../pool.git/objects\n"/srv/a\\tb"\n'


@pytest.fixture(scope="module")
def member(tmp_path_factory):
    """A repository below a folder that holds nothing else."""
    return GitRepository.init(tmp_path_factory.mktemp("alternates") / "member.git")


def entries_of_git(member: GitRepository) -> list[bytes]:
    listing = member.git_bytes("count-objects", "-v").splitlines(keepends=True)
    quoted = [line.removeprefix(b"alternate: ") for line in listing if line.startswith(b"alternate: ")]
    return list(read_alternates(b"".join(quoted)).paths)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("data", "folders"),
    [
        pytest.param(b"a\nb\n", [b"a", b"b"], id="two lines"),
        pytest.param(b"a\nb", [b"a", b"b"], id="no last newline"),
        pytest.param(b"\n\n# b\na\n#\n", [b"a"], id="comments and blank lines"),
        pytest.param(b" a \n", [b" a "], id="blanks stay"),
        pytest.param(b"a\r\nb\n", [b"a\r", b"b"], id="carriage returns stay"),
        pytest.param(b" # a\n", [b" # a"], id="a comment starts the line"),
        pytest.param(b"a # b\n", [b"a # b"], id="no comments after a path"),
        pytest.param(b'"a\\nb"\n', [b"a\nb"], id="quoted newline"),
        pytest.param(b'"\\303\\251\\a\\b\\f\\r\\t\\v\\\\\\""\n', [b'\xc3\xa9\a\b\f\r\t\v\\"'], id="all escapes"),
        pytest.param(b'"a\nb"\n', [b"a\nb"], id="raw newline inside quotes"),
        pytest.param(b'"a\nb\n', [b'"a', b"b"], id="open quote is literal"),
        pytest.param(b'"\\q"\nb\n', [b'"\\q"', b"b"], id="unknown escape is literal"),
        pytest.param(b'"\\400"\n', [b'"\\400"'], id="octal above 377 is literal"),
        pytest.param(b'"\\12"\n', [b'"\\12"'], id="octal of two digits is literal"),
        pytest.param(b'"a"b\nc\n', [b"a", b"c"], id="one character after the quote is the separator"),
        pytest.param(b'"a"#c\n', [b"a", b"c"], id="the separator may be a hash"),
        pytest.param(b'"a""b"\n', [b"a", b'b"'], id="the separator may be a quote"),
        pytest.param(b'"a"', [b"a"], id="quoted, no last newline"),
        pytest.param(b'""\na\n', [b"a"], id="quoted nothing"),
    ],
)
def test_the_stores_are_those_of_count_objects(member, data, folders):
    objects = os.fsencode(member.git_dir / "objects")
    for folder in folders:
        os.makedirs(os.path.join(objects, folder, b"pack"), exist_ok=True)
    with open(os.path.join(objects, b"info/alternates"), "wb") as file:
        file.write(data)
    expected = entries_of_git(member)
    assert [os.path.join(objects, folder) for folder in folders] == expected
    assert list(read_alternates(data).paths) == folders


def test_comments_are_counted():
    entries = read_alternates(b"# one\n\n#\n a\n## three")
    assert (entries.paths, entries.comment_count) == ((b" a",), 3)


def test_an_empty_file_lists_nothing():
    assert read_alternates(b"").paths == ()


@pytest.mark.safety
def test_a_nul_is_refused_at_its_offset():
    with pytest.raises(FormatError) as caught:
        read_alternates(b"a\nb\0c\n")
    assert caught.value.offset == 3


@pytest.mark.safety
def test_a_quoted_nul_is_refused():
    assert is_refused(read_alternates, b'"a\\000b"\n')


@pytest.mark.safety
def test_a_cut_goes_unseen():
    # a list of paths has neither count nor checksum; a cut path is a lender that is missing on disk
    assert lengths_where_a_cut_goes_unseen(read_alternates, ALTERNATES) == list(range(len(ALTERNATES)))


@pytest.mark.safety
def test_many_open_quotes_take_linear_time():
    assert len(read_alternates(b'"\n' * 1000).paths) <= 1000
    assert len(read_alternates(b'"' + b"\\a" * 500_000).paths) == 1


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=60), mutations(ALTERNATES), st.text('"\\# a07\n', max_size=30).map(str.encode)))
def test_any_bytes_give_a_value_or_a_format_error(data):
    is_refused(read_alternates, data)
