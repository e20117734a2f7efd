"""`.git` files."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.git_file import MAXIMUM_BYTES, read_git_file
from gitdash.formats.reading import FormatError
from tests.formats.hostile import HOSTILE, is_refused, lengths_where_a_cut_goes_unseen, mutations
from tests.support.repositories import GitRepository

GIT_FILE = b"gitdir: /srv/main/.git/worktrees/side\n"


@pytest.fixture(scope="module")
def worktree(tmp_path_factory):
    """A work tree whose `.git` a test replaces by a file, and a git directory named `target` beside it."""
    folder = tmp_path_factory.mktemp("git-file")
    GitRepository.init(folder / "target")
    (folder / "worktree").mkdir()
    return folder / "worktree"


@pytest.mark.oracle
def test_the_file_of_a_linked_worktree_names_its_git_directory(built, tmp_path):
    built.git("worktree", "add", "-q", "--detach", tmp_path / "linked", "main")
    side = GitRepository(tmp_path / "linked")
    path = read_git_file((side.path / ".git").read_bytes())
    assert os.fsdecode(os.path.join(os.fsencode(side.path), path)) == side.git("rev-parse", "--absolute-git-dir")
    built.git("worktree", "remove", "--force", side.path)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "data",
    [
        b"gitdir: ../target",
        b"gitdir: ../target\n",
        b"gitdir: ../target\r\n\r\n\n",
        b"",
        b"gitdir: ",
        b"gitdir: \n",
        b"gitdir:../target\n",
        b"gitdir:\t../target\n",
        b"Gitdir: ../target\n",
        b"\xef\xbb\xbfgitdir: ../target\n",
        b"\ngitdir: ../target\n",
    ],
)
def test_a_file_is_refused_if_and_only_if_git_refuses_it(worktree, data):
    (worktree / ".git").write_bytes(data)
    repository = GitRepository(worktree)
    git_dir = repository.git("rev-parse", "--absolute-git-dir", check=False)
    if git_dir:
        assert os.path.realpath(os.path.join(os.fsencode(worktree), read_git_file(data))) == os.fsencode(git_dir)
    else:
        assert is_refused(read_git_file, data)


def test_a_path_may_hold_newlines_blanks_and_bytes_that_are_not_utf_8():
    assert read_git_file(b"gitdir: a\nb \xff\x1b[31m \n") == b"a\nb \xff\x1b[31m "


@pytest.mark.safety
@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"", 0),
        (b"gitdir", 0),
        (b"gitdir: \r\n", 8),
        (b"gitdir: a\0b", 9),
        (b"gitdir: " + b"x" * MAXIMUM_BYTES, MAXIMUM_BYTES),
    ],
)
def test_broken_content_is_refused_at_its_offset(data, offset):
    with pytest.raises(FormatError) as caught:
        read_git_file(data)
    assert caught.value.offset == offset


@pytest.mark.safety
def test_a_cut_is_seen_until_the_path_starts():
    # a path has neither length nor checksum: any rest of it is a path
    assert lengths_where_a_cut_goes_unseen(read_git_file, GIT_FILE) == list(range(9, len(GIT_FILE)))


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=100), mutations(GIT_FILE)))
def test_any_bytes_give_a_value_or_a_format_error(data):
    is_refused(read_git_file, data)
