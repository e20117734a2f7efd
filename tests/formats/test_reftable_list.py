"""The list of tables of the reftable backend."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.reading import FormatError
from gitdash.formats.reftable_list import read_tables_list
from gitdash.model.inspection import ObjectFormat
from tests.formats.hostile import HOSTILE, is_refused, lengths_where_a_cut_goes_unseen, mutations
from tests.support.repositories import GitRepository, git_version

LIST = b"0x000000000001-0x000000000002-aabbccdd.ref\n0x000000000003-0x000000000003-11223344.ref\n"


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 45), reason="reftable exists since git 2.45")
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_tables_are_the_files_that_git_wrote(tmp_path, object_format):
    repository = GitRepository.init(tmp_path / "t.git", object_format=object_format, reference_backend="reftable")
    repository.environment["GIT_TEST_REFTABLE_AUTOCOMPACTION"] = "false"
    for number in range(3):
        repository.commit({"a": str(number)}, reference=f"refs/heads/{number}")
    folder = repository.git_dir / "reftable"
    names = read_tables_list((folder / "tables.list").read_bytes())
    assert sorted(names) == sorted(path.name.encode() for path in folder.glob("*.ref"))
    assert len(names) > 1


def test_names_are_read_in_order_with_and_without_the_last_newline():
    expected = tuple(LIST.split())
    assert read_tables_list(LIST) == read_tables_list(LIST[:-1]) == read_tables_list(b"\n" + LIST + b"\n") == expected
    assert read_tables_list(b"") == ()


@pytest.mark.safety
@pytest.mark.parametrize("name", [b"../../etc/passwd", b"/etc/passwd", b"a/b", b".", b"..", b"a\0b", b"x" * 256])
def test_a_name_that_could_lead_elsewhere_is_refused_at_its_offset(name):
    with pytest.raises(FormatError) as caught:
        read_tables_list(LIST + name + b"\n")
    assert caught.value.offset == len(LIST)


@pytest.mark.safety
def test_a_cut_goes_unseen():
    # a list of names has neither count nor checksum; a cut name is a table that is missing on disk
    assert lengths_where_a_cut_goes_unseen(read_tables_list, LIST) == list(range(len(LIST)))


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=100), mutations(LIST)))
def test_any_bytes_give_a_value_or_a_format_error(data):
    is_refused(read_tables_list, data)
